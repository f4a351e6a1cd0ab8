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

struct sx_motion_found;
struct sx_motion_input;

/* Shape of a tap. width, height: in pixels; comments of enum sx_tap describe them. */
struct sx_tap_shape {
	enum sx_pixel pixel;
	int width, height;
};

/* Returns the shape of a tap, even if its filter is off. */
struct sx_tap_shape sx_tap_shape(const struct sx_context_config *c, enum sx_tap tap);
/*
 * Returns true if some stage produces the tap, and its memory is the context's. Those of motion (sx_tap_is_motion())
 * are not among them. With the map of another process there are no descriptors, no
 * S, no right map and no flat areas. The other process decides about areas where this method sees nothing.
 */
bool sx_tap_exists(const struct sx_context_config *c, enum sx_tap tap);
/*
 * Returns true if an engine that saves memory keeps a separate image for the tap. It keeps no S without
 * keep_volume, and no output of a filter that is off, because this output equals that of the stage before.
 */
bool sx_tap_is_kept(const struct sx_context_config *c, enum sx_tap tap);
/*
 * Points the taps of filters that are off to the image of the stage before. taps: all taps; those that are
 * kept are already set.
 */
void sx_taps_share(const struct sx_context_config *c, struct sx_image taps[SX_TAP_COUNT]);
/* Returns true for the taps whose memory belongs to struct sx_motion_pair: features and flows. */
static inline bool sx_tap_is_motion(enum sx_tap tap)
{
	return tap == SX_TAP_FEATURES || tap == SX_TAP_FLOWS;
}
/* Returns a view of records of `bytes` bytes, one for each cell of an image of this size, as words. */
struct sx_image sx_taps_records(int width, int height, void *records, size_t bytes);
/*
 * Takes the memory for the results of motion of a context with a chain, and points the taps of motion and result to it.
 * Adds its size to *bytes. Does nothing for a context without a chain. Fails with -ENOMEM or -EINVAL.
 */
int sx_taps_take_motion(struct sx_motion_found *found, const struct sx_context_config *c,
			struct sx_image taps[SX_TAP_COUNT], struct sx_result *result, size_t *bytes);
/* Sets the input of motion for a frame with this result. It points into taps, result and its stixels. */
void sx_taps_moved(const struct sx_image taps[SX_TAP_COUNT], const struct sx_context_config *c,
		   const struct sx_result *result, const struct sx_pair *pair, struct sx_motion_input *ret);
/* Returns the input of the image diagnostics. It points into taps. */
struct sx_diagnostics_input sx_taps_diagnosed(const struct sx_image taps[SX_TAP_COUNT]);
/*
 * Returns the input of sx_unmeasured_part() for column u. It points into taps and to the road. reach_q7:
 * sx_reach_of().
 */
struct sx_unmeasured_column sx_taps_column(const struct sx_image taps[SX_TAP_COUNT],
					   const struct sx_context_config *c, const struct sx_road *road,
					   int u, int32_t reach_q7);

#ifdef __cplusplus
}
#endif

#endif
