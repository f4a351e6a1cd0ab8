/*
 * What every backend checks before it makes a context, or takes a pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_CONTEXT_H
#define SX_STAGES_CONTEXT_H

#include "stages/engine.h"
#include "stages/rectify/rectify.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Scores of a pair that the configuration has a use for, or NULL: only the slanted methods read them, and
 * only where classes are configured.
 */
const struct sx_scores *sx_context_scores(const struct sx_context_config *c, const struct sx_pair *pair);

/* Likewise the map of another process: read by an external matcher only. */
const struct sx_disparity *sx_context_disparity(const struct sx_context_config *c,
						const struct sx_pair *pair);

/*
 * Choices that not every backend computes: FastDT in float and int32 (int16 and int8 all do), slanted-exact.
 */
enum sx_ability { SX_CAN_FASTDT_WIDE = 1, SX_CAN_SLANTED_EXACT = 2 };

/*
 * sx_stereo_resolve(); and no left-right check where the map is another's, which comes without that of the
 * right image. What engines do with the parameters of a context.
 */
void sx_context_resolve(struct sx_params *p);

/* Size of the images of a pair. */
static inline int sx_context_pair_width(const struct sx_context_config *c)
{
	return c->rectify ? c->rig.raw_width : c->width;
}
static inline int sx_context_pair_height(const struct sx_context_config *c)
{
	return c->rectify ? c->rig.raw_height : c->height;
}

/*
 * Maps of both raw images; zeroed ones where pairs come rectified. c: parameters resolved. -ENOMEM: none.
 * sx_rectify_map_finish() each.
 */
int sx_context_maps_init(struct sx_rectify_map map[2], const struct sx_context_config *c);

/*
 * Checks sizes, pixel format, parameters, and that the backend named engine can do what they ask for.
 * abilities: SX_CAN_* bits. 0; -EINVAL wrong value, -ENOTSUP not computed by this engine; both with one
 * sentence in why, the latter's names the key, its value and the engines that compute it.
 */
int sx_context_check(const struct sx_context_config *c, const char *engine, unsigned abilities, char *why,
		     size_t why_bytes);

/*
 * 0, or -EINVAL when the pair's images, scores or disparities differ from each other or from the
 * configuration in size or format.
 */
int sx_context_check_pair(const struct sx_context_config *c, const struct sx_pair *pair);

#ifdef __cplusplus
}
#endif

#endif
