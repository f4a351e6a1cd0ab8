/*
 * stixel_disparity.h - gives stixeld the disparity maps of another matcher: a network, an accelerator, a
 * camera that measures depth itself.
 *
 * stixeld reads them where stereo.matcher = external. Same library and ABI as <stixel.h>; docs/external.md.
 *
 *	struct stixel_disparity_format format = {.width = 1280, .height = 720};
 *	struct stixel_disparity_map map;
 *	struct stixel_disparity *writer;
 *
 *	if (stixel_disparity_create(&writer, "front", &format, sizeof(format)) < 0) ...
 *	while (match(...))
 *		if (stixel_disparity_begin(writer, &map) == 0) {
 *			... map.data[y * map.pitch / 2 + x] = 256 * disparity_px ...
 *			stixel_disparity_commit(writer, capture_ns, 0, 0);
 *		}
 *	stixel_disparity_close(writer);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STIXEL_DISPARITY_H
#define STIXEL_DISPARITY_H

#include <stixel.h>

#ifdef __cplusplus
extern "C" {
#endif
#define STIXEL_AT(type, field, bytes) STIXEL_ASSERT(offsetof(struct type, field) == (bytes), #type "." #field)
#define STIXEL_SIZE(type, bytes) STIXEL_ASSERT(sizeof(struct type) == (bytes), #type)

/* ---- since 1.4: stixel-disparity.NAME in /run/stixel-feed --------------------------------------------- */

/*
 * A ring as that of class scores, with this magic. In each slot struct stixel_disparity_header; at
 * data_offset the map: the disparity of pixel (x, y) of the rectified left image is the uint16 at
 * y * pitch + 2 * x, in 1/256 px, 0 invalid, as KITTI's files have it; at confidence_offset, unless that is
 * 0, a byte a pixel, at y * confidence_pitch + x: 0 none .. 255 full.
 */
#define STIXEL_DISPARITY_RING_MAGIC UINT64_C(0x5053494458495453) /* "STIXDISP" */
#define STIXEL_DISPARITY_MAGIC 0x44585453u			 /* "STXD" */
#define STIXEL_DISPARITY_SLOTS_MAX 64

/* The first ten fields are those of struct stixel_scores_header. */
struct stixel_disparity_header {
	uint32_t magic; /* STIXEL_DISPARITY_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t header_bytes;	/* of the writer's version of this struct */
	uint32_t data_offset;	/* from the start of this header; a multiple of 8, >= header_bytes */
	uint64_t frame_bytes;	/* all of it; a multiple of 8 */
	uint64_t epoch, number; /* of this map: epoch of the ring, number from 1 */
	int64_t capture_ns;	/* of the left image that it is of */
	int64_t committed_ns;	/* when it was complete */
	uint64_t frame_epoch, frame_number; /* the frame that it is of, where it is known; 0 */
	uint32_t width, height;		    /* px, of the rectified left image */
	uint32_t pitch;			    /* 2 * width, rounded up to 16 */
	uint32_t confidence_pitch;	    /* width, rounded up to 16; 0 without */
	uint32_t confidence_offset;	    /* data_offset + pitch * height; 0 without */
	uint32_t reserved0;		    /* 0 */
	uint64_t reserved[4];		    /* 0 */
};
STIXEL_AT(stixel_disparity_header, abi_major, 4);
STIXEL_AT(stixel_disparity_header, header_bytes, 8);
STIXEL_AT(stixel_disparity_header, data_offset, 12);
STIXEL_AT(stixel_disparity_header, frame_bytes, 16);
STIXEL_AT(stixel_disparity_header, epoch, 24);
STIXEL_AT(stixel_disparity_header, capture_ns, 40);
STIXEL_AT(stixel_disparity_header, frame_epoch, 56);
STIXEL_AT(stixel_disparity_header, width, 72);
STIXEL_AT(stixel_disparity_header, pitch, 80);
STIXEL_AT(stixel_disparity_header, confidence_offset, 88);
STIXEL_AT(stixel_disparity_header, reserved, 96);
STIXEL_SIZE(stixel_disparity_header, 128);

/* ---- the writer ---- */

/* A writer belongs to one thread at a time. It waits for nobody, and keeps nothing about who reads. */
struct stixel_disparity;

/* What maps will be of. Fields may be added: zero the rest. */
struct stixel_disparity_format {
	uint32_t width, height; /* px, of the rectified left image */
	uint32_t confidence;	/* 1: maps come with their confidence, 0: without */
	uint32_t slots;		/* maps kept: power of two, 2..64; 0: 8 */
	const char *folder;	/* where the ring lies; NULL: as that of scores */
};

/*
 * Where the next map goes. It lies in shared memory and holds what it held. pitch, confidence_pitch: bytes
 * from row to row; confidence: NULL without.
 */
struct stixel_disparity_map {
	uint16_t *data;
	uint8_t *confidence;
	uint32_t width, height, pitch, confidence_pitch;
};

/*
 * Makes the ring of this name (external.source of the daemons that are to read it), as stixel_scores_create()
 * makes that of scores: the same names, groups and errors.
 */
STIXEL_API int stixel_disparity_create(struct stixel_disparity **writer, const char *name,
				       const struct stixel_disparity_format *format, size_t bytes);
/*
 * Where the next map is to be put, directly into shared memory. Without a commit it may be called again.
 * -ESTALE: another writer took the name.
 */
STIXEL_API int stixel_disparity_begin(struct stixel_disparity *writer, struct stixel_disparity_map *map);
/*
 * It is complete, and of the left image that was captured at capture_ns. epoch, number: of its frame, or 0.
 * -EINVAL without begin.
 */
STIXEL_API int stixel_disparity_commit(struct stixel_disparity *writer, int64_t capture_ns, uint64_t epoch,
				       uint64_t number);
/* Takes the ring away. Accepts NULL. */
STIXEL_API void stixel_disparity_close(struct stixel_disparity *writer);

#undef STIXEL_AT
#undef STIXEL_SIZE
#ifdef __cplusplus
}
#endif
#endif
