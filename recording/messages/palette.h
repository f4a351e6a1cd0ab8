/*
 * Colours of distances and classes, for images and for messages to viewers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_PALETTE_H
#define SX_RECORDING_MESSAGES_PALETTE_H

#include <stdint.h>

struct sx_rgb {
	uint8_t r, g, b;
};

/*
 * Ends of a logarithmic scale of disparities, near_px > far_px > 0. recording/messages/scale.h chooses them.
 */
struct sx_palette_range {
	double near_px, far_px;
};
/*
 * Returns the place of a disparity on the scale, 0 far .. 1 near. The scale is logarithmic because distances
 * are perceived so.
 */
double sx_palette_place(const struct sx_palette_range *r, double disparity_px);

/*
 * Returns the colour of a distance, from far blue through magenta and orange to near yellow. Lightness rises
 * evenly from far to near, so near objects stand out, and people with any kind of colour blindness, or a
 * print in grey, show the same order.
 */
struct sx_rgb sx_palette_distance(const struct sx_palette_range *r, double disparity_px);
/* Returns the same colour for a place on the scale; places outside 0..1 and NaN are clamped. */
struct sx_rgb sx_palette_distance_at(double place);

/*
 * Returns the colour of a class (enum stixel_kind; other values count as unknown): green for ground, orange,
 * light blue, and grey. No distance has a colour near those of ground and sky, also for people with any kind
 * of colour blindness.
 */
struct sx_rgb sx_palette_class(unsigned kind);

/* Returns the colour of a semantic class: stixel_class_colour(). name: NULL if it is not known. */
struct sx_rgb sx_palette_label(const char *name, unsigned label);

static inline uint8_t sx_palette_mix_byte(unsigned under, unsigned over, unsigned alpha)
{
	return (uint8_t)((under * (256 - alpha) + over * alpha + 128) / 256);
}

/* Returns under + (over - under) * alpha/256, alpha 0..256. */
static inline struct sx_rgb sx_palette_mix(struct sx_rgb under, struct sx_rgb over, int alpha)
{
	const unsigned a = (unsigned)alpha;

	return (struct sx_rgb){sx_palette_mix_byte(under.r, over.r, a),
			       sx_palette_mix_byte(under.g, over.g, a),
			       sx_palette_mix_byte(under.b, over.b, a)};
}

#endif
