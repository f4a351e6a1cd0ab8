/*
 * One frame of an instance for browsers: its record and its images. An image is coded when the first viewer
 * sends it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_PACKET_H
#define SX_TOOLS_WEB_PACKET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "recording/messages/scale.h"
#include "stixel.h"

/* Pictures of a frame. WEB_DRAWN: stixels over the left image. */
enum web_picture { WEB_LEFT, WEB_DISPARITY, WEB_DRAWN, WEB_PICTURES };

/*
 * Bits for the parts of a frame that a viewer wants: 1u << enum web_picture for pictures, 1u << (enum
 * stixel_plane + WEB_PLANES_AT) for planes as published, WEB_WANTS_FREE for the free space of its columns,
 * WEB_WANTS_SCALE for the colour scale of distances.
 */
#define WEB_PLANES_AT 8
#define WEB_WANTS_FREE 128u
#define WEB_WANTS_SCALE 64u

/*
 * Image without gaps between the rows. pixels NULL: the frame has no such image, or it is drawn. coded: made
 * once; NULL before, and if coding failed.
 */
struct web_image {
	int width, height;
	void *pixels;
	unsigned char *coded;
	size_t coded_bytes;
	int tried;
};

/* Frame shared by all viewers. Only web_packet_code() changes it. */
struct web_packet {
	atomic_uint users;
	uint64_t epoch, number;
	int64_t captured_ns;
	struct sx_scale scale; /* colours of distances, from the scene */
	pthread_mutex_t lock;  /* protects coded */
	struct web_image image[WEB_PICTURES];
	void *whole; /* the frame with all its planes; NULL: not wanted, or the frame has none */
	size_t whole_bytes;
	void *space; /* payload of WEB_MESSAGE_FREE; NULL: not wanted */
	size_t space_bytes, record_bytes;
	uint64_t record[]; /* the frame without planes */
};

/* Returns the planes needed for these wants: bits 1u << enum stixel_plane. */
unsigned web_packet_planes(unsigned wants);
/*
 * Copies the wanted parts of a frame, and its scale. The packet begins with one user. NULL: out of memory.
 */
struct web_packet *web_packet_create(const struct stixel_frame *frame, unsigned wants,
				     const struct sx_scale *scale);
struct web_packet *web_packet_ref(struct web_packet *p);
/* Releases one use; the last one frees the packet. Accepts NULL. */
void web_packet_unref(struct web_packet *p);

/*
 * Returns the image as JPEG (left, drawn) or as PNG (disparity, in the colours of
 * recording/messages/palette.c). The first call codes it, which takes a few milliseconds. The image lives as
 * long as the packet. bytes 0: there is no image. Any thread.
 */
const void *web_packet_code(struct web_packet *p, enum web_picture which, int quality, size_t *bytes);
/*
 * The same with another scale. This codes the image at each call and returns bytes for free(), NULL: there
 * is no image.
 */
void *web_packet_code_scaled(struct web_packet *p, enum web_picture which, int quality,
			     const struct sx_scale *scale, size_t *bytes);
/* Draws the frame as web_draw(), over the left image if the packet has it. */
int web_packet_draw(const struct web_packet *p, const struct sx_scale *scale, struct sx_image *rgb);

#endif
