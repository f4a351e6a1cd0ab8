/*
 * Functions shared by the tests of source "v4l2": two fake cameras, and a source on them that must leave
 * nothing behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CAPTURE_V4L2_V4L2_CASE_H
#define SX_TESTS_CAPTURE_V4L2_V4L2_CASE_H

#include "base/why.h"
#include "capture/v4l2/v4l2_priv.h"
#include "tests/kit/fake_v4l2.h"

#define CASE_W 48
#define CASE_H 34
#define CASE_LEFT "/dev/fake-left"
#define CASE_RIGHT "/dev/fake-right"
#define CASE_EXPORTER "/dev/fake-exporter"
#define CASE_MS 1000000LL
#define CASE_TIMEOUT_S 20
#define CASE_PERIOD_NS (1000 * CASE_MS / 30)
#define CASE_SLOTS 3
/*
 * Time of the nth picture, counted from a time in the past. The source compares times only with each other.
 */
#define CASE_TIME(n) (100000 * CASE_MS + (n)*CASE_PERIOD_NS)

/* The last message. */
extern struct sx_why case_why;

/*
 * Returns the parameters of two cameras with 48x34 at 30 fps. They may be silent for CASE_TIMEOUT_S, longer
 * than any machine is busy.
 */
struct sx_source_params case_params(void);
/* Adds the cameras of case_params() and one that exports buffers. All get these modes. */
void case_cameras(struct fake_camera *cameras[2], const struct fake_mode *modes);
/* Adds cameras with GREY of that size at 30 fps. */
void case_grey(struct fake_camera *cameras[2]);

/* Opens the source. Fails the test with the source's message if that fails. */
struct sx_source *case_open(const struct sx_source_params *p, int slots);
/* Opens the source and lets both cameras deliver picture 0, which is dropped. */
struct sx_source *case_begin(struct fake_camera *cameras[2], const struct sx_source_params *p);
/* Combines case_grey(), case_params() and case_begin(). */
struct sx_source *case_begin_grey(struct fake_camera *cameras[2]);
/* Checks that opening fails with this error and message and leaves no descriptor open. */
void case_refused(const struct sx_source_params *p, int error, const char *words);
/* Returns true if the whole image lies in a block of the source. */
bool case_in_blocks(const struct sx_source *s, const struct sx_image *img);
const struct sx_v4l2 *case_inside(const struct sx_source *s);
/* Closes the source and removes the cameras. Fails if descriptors opened since case_open() are left. */
void case_close(struct sx_source *s);

/* Fills one picture of each camera with the same pattern and time. */
void case_fill(struct fake_camera *cameras[2], int pattern, int64_t ns);
/* Calls sx_source_next() until it returns something other than 0 or the seconds have passed. */
int case_next(struct sx_source *s, struct sx_pair *pair, double seconds);
/* Checks that sx_source_next() returns this result and message. */
void case_expect(struct sx_source *s, int result, const char *words);
/* Advances the time by `seconds` without events. */
void case_wait(struct sx_source *s, int seconds);
/*
 * Checks captured = dropped + delivered on both sides. `on_way` is the number of images of each side that
 * wait or are being decoded.
 */
void case_balanced(const struct sx_source *s, int on_way_left, int on_way_right);
/* Checks the number of images of each side that were dropped for this reason. */
void case_dropped(const struct sx_source *s, enum sx_image_drop why_dropped, int left, int right);

#endif
