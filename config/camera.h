/*
 * Messages about the camera of the images, and doubts about it, before the first image is matched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CAMERA_H
#define SX_CONFIG_CAMERA_H

#include "config/settings.h"

#define SX_CAMERA_QUESTIONS 4
#define SX_CAMERA_TEXT_BYTES 512

/*
 * Writes a message for the log: fx, baseline, lens, nearest and farthest distance, and the origin of these
 * values. info: of the open source. Thread: any.
 */
void sx_camera_tell(const struct sx_settings *s, const struct sx_source_info *info, char *text, size_t bytes);

/*
 * Finds values that are possible but unlikely: a baseline above 1 m, values made for another image size,
 * KITTI's other pair, a data set without its calibration. Writes one message for each, without a full stop,
 * and returns their number. info: as in sx_camera_tell(); width 0: the size is not known yet. A camera that
 * the source itself provides is not questioned.
 */
int sx_camera_questions(const struct sx_settings *s, const struct sx_source_info *info,
			char ret[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES]);

/* Finds the same before the source is open, with the sizes that the configuration gives. */
int sx_camera_questions_before(const struct sx_settings *s,
			       char ret[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES]);

/*
 * Returns true if the principal point of a rectified camera lies within images of this size, px. Otherwise
 * writes a message with the likely scale factor.
 */
bool sx_camera_fits(const struct sx_camera *c, int width, int height, char *text, size_t bytes);

#endif
