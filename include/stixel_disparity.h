/*
 * stixel_disparity.h - writes the disparity maps of another matcher for stixeld: a network, an accelerator, a
 * camera that measures depth itself.
 *
 * stixeld reads the maps if stereo.matcher = external. The library and the ABI are those of <stixel.h>. See
 * docs/use/external.md.
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
 * The ring of disparity maps has the same layout as the ring of class scores, with this magic. Each slot has
 * a struct stixel_disparity_header. The map lies at data_offset: the disparity of pixel (x, y) of the
 * rectified left image is the uint16 at y * pitch + 2 * x, in 1/256 px, 0 invalid, as in KITTI's files. If
 * confidence_offset is not 0, the confidence lies there: one byte per pixel at y * confidence_pitch + x, from
 * 0 (none) to 255 (full).
 */
#define STIXEL_DISPARITY_RING_MAGIC UINT64_C(0x5053494458495453) /* "STIXDISP" */
#define STIXEL_DISPARITY_MAGIC 0x44585453u			 /* "STXD" */
#define STIXEL_DISPARITY_SLOTS_MAX 64

/* Header of a disparity map. Its first ten fields are the same as in struct stixel_scores_header. */
struct stixel_disparity_header {
	uint32_t magic; /* STIXEL_DISPARITY_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t header_bytes; /* size of the writer's version of this struct */
	uint32_t data_offset;  /* offset of the map from this header, bytes; multiple of 8, >= header_bytes */
	uint64_t frame_bytes;  /* size of header, map and confidence, bytes; a multiple of 8 */
	uint64_t epoch, number; /* epoch of the ring and number of this map; number counts from 1 */
	int64_t capture_ns;	/* capture time of the left image that was matched */
	int64_t committed_ns;	/* when the map was complete */
	/* Frame that the map belongs to, if the writer knows it, else 0. */
	uint64_t frame_epoch, frame_number;
	uint32_t width, height;	    /* size of the rectified left image, px */
	uint32_t pitch;		    /* bytes per row of the map: 2 * width, rounded up to 16 */
	uint32_t confidence_pitch;  /* bytes per row: width, rounded up to 16; 0 without confidence */
	uint32_t confidence_offset; /* data_offset + pitch * height; 0 without confidence */
	uint32_t reserved0;	    /* 0 */
	uint64_t reserved[4];	    /* 0 */
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

/*
 * Writer of disparity maps. One thread at a time uses a writer. It never waits for a reader, and stores
 * nothing about readers.
 */
struct stixel_disparity;

/* Format of the maps. Later versions may add fields: set the rest to 0. */
struct stixel_disparity_format {
	uint32_t width, height; /* size of the rectified left image, px */
	uint32_t confidence;	/* 1: maps have a confidence, 0: they have none */
	uint32_t slots;		/* maps kept in the ring: power of two, 2..64; 0: 8 */
	const char *folder;	/* folder of the ring; NULL: the same as for class scores */
};

/*
 * Place of the next map. It lies in shared memory and keeps its old content until the caller overwrites it.
 * pitch, confidence_pitch: bytes from one row to the next. confidence: NULL if the format has none.
 */
struct stixel_disparity_map {
	uint16_t *data;
	uint8_t *confidence;
	uint32_t width, height, pitch, confidence_pitch;
};

/*
 * Creates the ring of a name. The daemons that read it have this name in external.source. Names, groups and
 * errors are the same as for stixel_scores_create().
 */
STIXEL_API int stixel_disparity_create(struct stixel_disparity **writer, const char *name,
				       const struct stixel_disparity_format *format, size_t bytes);
/*
 * Sets map to the place of the next map, directly in shared memory. The caller may call it again without a
 * commit. -ESTALE: another writer took the name.
 */
STIXEL_API int stixel_disparity_begin(struct stixel_disparity *writer, struct stixel_disparity_map *map);
/*
 * Publishes the map. capture_ns: capture time of the left image that was matched. epoch, number: identify its
 * frame, or 0. -EINVAL: without begin.
 */
STIXEL_API int stixel_disparity_commit(struct stixel_disparity *writer, int64_t capture_ns, uint64_t epoch,
				       uint64_t number);
/* Removes the ring. Accepts NULL. */
STIXEL_API void stixel_disparity_close(struct stixel_disparity *writer);

#undef STIXEL_AT
#undef STIXEL_SIZE
#ifdef __cplusplus
}
#endif
#endif
