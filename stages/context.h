/*
 * Checks that every backend makes before it creates a context or accepts a pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_CONTEXT_H
#define SX_STAGES_CONTEXT_H

#include "base/why.h"
#include "stages/engine.h"
#include "stages/rectify/rectify.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns the scores of a pair if the configuration uses them, else NULL. Only the slanted methods read
 * scores, and only if classes are configured.
 */
const struct sx_scores *sx_context_scores(const struct sx_context_config *c, const struct sx_pair *pair);

/* Returns the disparity map of another process in a pair, else NULL. Only an external matcher reads it. */
const struct sx_disparity *sx_context_disparity(const struct sx_context_config *c,
						const struct sx_pair *pair);

/*
 * Choices that only some backends compute: FastDT in float and int32 (every backend computes int16 and int8),
 * slanted-exact, and pyramid search with zncc.
 */
enum sx_ability { SX_CAN_FASTDT_WIDE = 1, SX_CAN_SLANTED_EXACT = 2, SX_CAN_PYRAMID_ZNCC = 4 };

/*
 * Resolves the parameters of a context, as every engine does: calls sx_stereo_resolve(), and turns the
 * left-right check off if the disparity map comes from another process, because that process sends no right
 * map.
 */
void sx_context_resolve(struct sx_params *p);

/* Returns 0, or -EINVAL with why if the camera is not known well enough for motion. */
int sx_chain_check(const struct sx_context_config *c, struct sx_why *why);
/*
 * Returns true if the disparities of both configurations have the same offset: same size, camera and rectification.
 */
bool sx_has_same_range(const struct sx_context_config *a, const struct sx_context_config *b);
/*
 * Returns true if the frames of both configurations may join one chain: same range, mode of motion, and number of
 * stixels.
 */
bool sx_chain_fits(const struct sx_context_config *a, const struct sx_context_config *b);
/* Returns -ENOTSUP with why: the engine does not compute this mode of motion. */
int sx_chain_refuse(const struct sx_context_config *c, struct sx_why *why);
/*
 * Creates the chain of motion for contexts of this configuration, or sets *ret to NULL if motion.mode is off. Errors
 * with why: -ENOTSUP: the backend computes no motion; -EINVAL: the camera is not known; -ENOMEM.
 */
int sx_chain_create(struct sx_chain **ret, const struct sx_backend *backend, struct sx_device *d,
		    const struct sx_context_config *c, struct sx_why *why);

/* Returns the number of stixels of a frame, at most. */
size_t sx_context_stixels(const struct sx_context_config *c);

/* Return the size of the images of a pair, px. */
static inline int sx_context_pair_width(const struct sx_context_config *c)
{
	return c->rectify ? c->rig.raw_width : c->width;
}
static inline int sx_context_pair_height(const struct sx_context_config *c)
{
	return c->rectify ? c->rig.raw_height : c->height;
}

/*
 * Creates the rectification maps of both raw images; zeroed maps if pairs come rectified. c: parameters
 * resolved. Returns 0 or -ENOMEM. Call sx_rectify_map_finish() on each map.
 */
int sx_context_maps_init(struct sx_rectify_map map[2], const struct sx_context_config *c);

/*
 * Checks sizes, pixel format and parameters, and that the backend named `engine` computes what the parameters
 * select. abilities: SX_CAN_* bits. Returns 0, -EINVAL for a wrong value, or -ENOTSUP for a choice that this
 * engine does not compute. Errors come with one sentence in `why`. For -ENOTSUP it names the key, its value
 * and the engines that compute it.
 */
int sx_context_check(const struct sx_context_config *c, const char *engine, unsigned abilities,
		     struct sx_why *why);

/*
 * Returns 0, or -EINVAL if the images, scores or disparities of the pair differ in size or format from each
 * other or from the configuration.
 */
int sx_context_check_pair(const struct sx_context_config *c, const struct sx_pair *pair);

#ifdef __cplusplus
}
#endif

#endif
