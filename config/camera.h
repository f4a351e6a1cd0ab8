/*
 * What there is to say and to ask about the camera of the images that come, before the first of them is
 * matched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CAMERA_H
#define SX_CONFIG_CAMERA_H

#include "config/settings.h"

#define SX_CAMERA_QUESTIONS 4
#define SX_CAMERA_TEXT_BYTES 512

/*
 * One sentence for the log: fx, baseline, lens, nearest and farthest distance, and what said so. info: of
 * the open source. Thread: any.
 */
void sx_camera_tell(const struct sx_settings *s, const struct sx_source_info *info, char *text, size_t bytes);

/*
 * What is possible and unlikely: a baseline above 1 m, numbers of images of another size, KITTI's other
 * pair. One sentence each, without its end; returns how many. info: as above; width 0: the size is not
 * known yet. Nothing is asked about a camera that the source itself has.
 */
int sx_camera_questions(const struct sx_settings *s, const struct sx_source_info *info,
			char ret[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES]);

/* Asks the same before the source is open, by what the configuration says of it. */
int sx_camera_questions_before(const struct sx_settings *s,
			       char ret[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES]);

/*
 * Does the principal point of a rectified camera lie within images of this size, px? False: text is one
 * sentence on it with the likely factor.
 */
bool sx_camera_fits(const struct sx_camera *c, int width, int height, char *text, size_t bytes);

#endif
