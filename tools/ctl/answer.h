/*
 * Formats values of the daemon's /status for printing. A value that the daemon does not know becomes "-".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_ANSWER_H
#define SX_TOOLS_CTL_ANSWER_H

#include <jansson.h>

/* Returns the value at the path "a.b.c", or NULL. */
json_t *sx_answer_find(json_t *j, const char *path);
/* Returns the text at the path. The text lives as long as j. */
const char *sx_answer_text(json_t *j, const char *path);
/* Returns a number times scale, with this number of decimals. The last 16 results stay valid. */
const char *sx_answer_number(json_t *j, const char *path, double scale, int decimals);
/*
 * Returns an estimate: "1.20 +-0.10", with the standard deviation at the path `sigma` if there is one. The
 * last four results stay valid.
 */
const char *sx_answer_estimate(json_t *j, const char *path, const char *sigma, int decimals);
/*
 * Returns the image quality: "density 84 %, row error 0.1 (0.0 0.1 0.3), dark 1 2 %, sharp 12 11". The row
 * errors in parentheses are of the left, middle and right third. The two dark and sharp values are of the
 * left and the right image. The text is valid until the next call.
 */
const char *sx_answer_images(json_t *j);
/*
 * Returns the part of the row error that camera.row_correction removes, valid until the next call. NULL:
 * row_correction is off.
 */
const char *sx_answer_rows(json_t *j);
/* Returns what the motion of the camera says about distances; NULL: the daemon measures no motion. */
const char *sx_answer_range(json_t *j);
/* Returns "01:02:03" or "4 d 01:02:03", valid until the next call. */
const char *sx_answer_span(double seconds);

#endif
