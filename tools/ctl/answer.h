/*
 * Values of the daemon's /status as they are printed: "-" for what it does not know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_ANSWER_H
#define SX_TOOLS_CTL_ANSWER_H

#include <jansson.h>

/* The value at "a.b.c", or NULL. */
json_t *sx_answer_find(json_t *j, const char *path);
/* Text that lives as long as j. */
const char *sx_answer_text(json_t *j, const char *path);
/* A number in so many decimals, times scale. Sixteen may be in use at once. */
const char *sx_answer_number(json_t *j, const char *path, double scale, int decimals);
/* "1.20 +-0.10", with its standard deviation at `sigma` where there is one. Four may be in use at once. */
const char *sx_answer_estimate(json_t *j, const char *path, const char *sigma, int decimals);
/*
 * What the pictures say: "density 84 %, row error 0.1 (0.0 0.1 0.3), dark 1 2 %, sharp 12 11". Row
 * errors also of the left, middle and right third, the last two of the left and the right image. Until the
 * next call.
 */
const char *sx_answer_pictures(json_t *j);
/* What of its row error is taken out by camera.row_correction, likewise; NULL: that is off. */
const char *sx_answer_rows(json_t *j);
/* "01:02:03", "4 d 01:02:03"; until the next call. */
const char *sx_answer_span(double seconds);

#endif
