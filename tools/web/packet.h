/*
 * One frame of an instance on its way to browsers: its record, and its images, coded when the
 * first viewer sends them.
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
#include "recording/messages/palette.h"
#include "stixel.h"

/* DRAWN: stixels over the left image. */
enum web_picture { WEB_LEFT, WEB_DISPARITY, WEB_DRAWN, WEB_PICTURES };

/*
 * What may be wanted of a frame: bits 1u << enum web_picture, and 1u << (enum stixel_plane + WEB_PLANES_AT)
 * for the planes as they were published; WEB_WANTS_FREE: how far its columns are free.
 */
#define WEB_PLANES_AT 8
#define WEB_WANTS_FREE 128u

/*
 * Pixels without gaps between rows; NULL: the frame has none, or it is drawn.
 * coded: made once, NULL until then and if that failed.
 */
struct web_image {
	int width, height;
	void *pixels;
	unsigned char *coded;
	size_t coded_bytes;
	int tried;
};

/* Shared by all viewers, changed by none but web_packet_code(). */
struct web_packet {
	atomic_uint users;
	uint64_t epoch, number;
	int64_t captured_ns;
	struct sx_palette_range range; /* ends of the distance scale, px of disparity */
	pthread_mutex_t lock;	       /* over coded */
	struct web_image image[WEB_PICTURES];
	void *whole; /* the frame with all its planes; NULL: nobody wants them, or it has none */
	size_t whole_bytes;
	void *space; /* as of WEB_MESSAGE_FREE; NULL: nobody wants it */
	size_t space_bytes, record_bytes;
	uint64_t record[]; /* the frame without planes */
};

/* The planes that this takes: bits 1u << enum stixel_plane. */
unsigned web_packet_planes(unsigned wants);
/* Copies of a frame what is wanted. One user. NULL: out of memory. */
struct web_packet *web_packet_create(const struct stixel_frame *frame, unsigned wants);
struct web_packet *web_packet_ref(struct web_packet *p);
/* The last one frees it; accepts NULL. */
void web_packet_unref(struct web_packet *p);

/*
 * The image as JPEG (left, drawn) or PNG (disparity, in the colours of recording/messages/palette.c), coded at the
 * first call. It lives as long as the packet; bytes 0: there is none. Any thread; takes a few milliseconds.
 */
const void *web_packet_code(struct web_packet *p, enum web_picture which, int quality, size_t *bytes);
/* Draws it, over the left image if it has that, as web_draw(). */
int web_packet_draw(const struct web_packet *p, struct sx_image *rgb);

#endif
