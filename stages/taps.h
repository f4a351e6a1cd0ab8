/*
 * Format and size of each stage's output, the same in every engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_TAPS_H
#define SX_STAGES_TAPS_H

#include "stages/engine.h"
#include "stages/stixels/unmeasured.h"

#ifdef __cplusplus
extern "C" {
#endif

/* width, height: pixels, as the comments of enum sx_tap say. */
struct sx_tap_shape {
	enum sx_pixel pixel;
	int width, height;
};

/* Of a tap, whatever is on or off. */
struct sx_tap_shape sx_tap_shape(const struct sx_context_config *c, enum sx_tap tap);
/* False: nothing makes it. With a map of another process there are no descriptors, no S, no right map,
 * and no flat areas: what it measured where this method sees nothing is its affair. */
bool sx_tap_exists(const struct sx_context_config *c, enum sx_tap tap);
/*
 * False: an engine that keeps no more than it must keeps no image of its own: S without keep_volume, and the
 * outputs of filters that are off, which are those of the stage before.
 */
bool sx_tap_is_kept(const struct sx_context_config *c, enum sx_tap tap);
/*
 * Gives the taps of filters that are off the image of the stage before.
 * taps: all, those that are kept being set.
 */
void sx_taps_share(const struct sx_context_config *c, struct sx_image taps[SX_TAP_COUNT]);
/* What the monitor looks at: points into taps. */
struct sx_monitor_input sx_taps_monitored(const struct sx_image taps[SX_TAP_COUNT]);
/* What sx_unmeasured_part() asks of column u: points into taps. */
struct sx_unmeasured_column sx_taps_column(const struct sx_image taps[SX_TAP_COUNT],
					   const struct sx_context_config *c, int u);

#ifdef __cplusplus
}
#endif

#endif
