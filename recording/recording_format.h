/*
 * A recording: the frames of an instance in a file, as they were published (docs/recording.md).
 *
 * A file is a header and records, all a multiple of 8 bytes, little endian. Every record carries the
 * checksums of its head and of its content, so a file that was cut anywhere, or damaged, is read as far as
 * there is a whole record. Minor versions append fields and add kinds of records; readers take sizes from the
 * file and pass over the unknown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_RECORDING_FORMAT_H
#define SX_RECORDING_RECORDING_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "include/stixel.h"

#define SX_RECORDING_MAGIC UINT64_C(0x0a43455258495453) /* "STIXREC\n" */
#define SX_RECORDING_MAJOR 1
#define SX_RECORDING_MINOR 0

struct sx_recording_header {
	uint64_t magic; /* SX_RECORDING_MAGIC */
	uint16_t major, minor;
	uint32_t header_bytes;				 /* the first record begins here; a multiple of 8 */
	uint32_t endian;				 /* STIXEL_ENDIAN */
	uint32_t checksum;				 /* CRC-32C of the header, with this field as 0 */
	int64_t anchor_monotonic_ns, anchor_realtime_ns; /* the same moment on both clocks: the beginning */
	char instance[STIXEL_INSTANCE_BYTES];		 /* whose frames these are */
	char recorder[32]; /* version of the program that wrote the file, "0.1.0" */
	uint64_t reserved[14];
};
_Static_assert(offsetof(struct sx_recording_header, anchor_monotonic_ns) == 24, "layout is the format");
_Static_assert(offsetof(struct sx_recording_header, instance) == 40, "layout is the format");
_Static_assert(offsetof(struct sx_recording_header, recorder) == 112, "layout is the format");
_Static_assert(sizeof(struct sx_recording_header) == 256, "layout is the format");

#define SX_RECORD_MAGIC 0x52585453u /* "STXR" */

enum sx_record_kind {
	SX_RECORD_FRAME = 1,	 /* bytes of a frame: include/stixel.h */
	SX_RECORD_PUBLISHER = 2, /* struct sx_record_publisher: the frames that follow are of this life */
	SX_RECORD_GAP = 3,	 /* struct sx_record_gap: frames are missing here */
	SX_RECORD_INDEX = 4,	 /* struct sx_record_index */
	SX_RECORD_END = 5	 /* struct sx_record_end: the last one of a file that was finished */
};
enum sx_record_encoding { SX_RECORD_PLAIN = 0, SX_RECORD_ZSTD = 1 };

/* Stands before the content of each record; zeros up to a multiple of 8 follow the content. */
struct sx_record_head {
	uint32_t magic; /* SX_RECORD_MAGIC */
	uint16_t kind, encoding;
	uint32_t bytes;	      /* of the content, as it lies here, without the zeros */
	uint32_t plain_bytes; /* of the content, decoded */
	int64_t time_ns;      /* CLOCK_MONOTONIC; of a frame: its published_ns */
	uint32_t content_crc; /* CRC-32C of the content as it lies here */
	uint32_t head_crc;    /* CRC-32C of the 28 bytes before this field */
};
_Static_assert(sizeof(struct sx_record_head) == 32, "layout is the format");

struct sx_record_publisher {
	uint64_t epoch;
	uint64_t pid;
	char version[32];
};
_Static_assert(sizeof(struct sx_record_publisher) == 48, "layout is the format");

enum sx_gap_reason {
	SX_GAP_OVERRUN = 0, /* the recorder was too slow: they were overwritten in the ring */
	SX_GAP_DAMAGED = 1, /* the publisher's frame failed its check */
};
struct sx_record_gap {
	uint64_t epoch;
	uint64_t number; /* of the first frame that is missing; 0 unknown */
	uint64_t lost;	 /* frames */
	uint32_t reason; /* enum sx_gap_reason */
	uint32_t reserved;
};
_Static_assert(sizeof(struct sx_record_gap) == 32, "layout is the format");

/* Every SX_INDEX_ENTRIES frames, and before the end: where they lie. Chained backwards. */
#define SX_INDEX_ENTRIES 512
struct sx_index_entry {
	uint64_t offset; /* of the record's head, from the start of the file */
	int64_t time_ns; /* of the record */
};
struct sx_record_index {
	uint64_t previous; /* offset of the index record before, 0 none */
	uint64_t count;
	struct sx_index_entry entry[SX_INDEX_ENTRIES]; /* count of them */
};
_Static_assert(sizeof(struct sx_record_index) == 16 + 16 * SX_INDEX_ENTRIES, "layout is the format");

/* The last 144 bytes of a file: head and this. */
struct sx_record_end {
	uint64_t index_offset; /* of the last index record, 0 none */
	uint64_t file_bytes;   /* with this record */
	uint64_t frames;
	uint64_t lost; /* frames, sum of all gaps */
	uint64_t publishers;
	uint64_t frame_bytes_max;      /* of the largest frame, decoded */
	uint64_t frame_bytes_max_bare; /* the same without images */
	int64_t first_ns, last_ns;     /* time_ns of the first and last frame */
	uint64_t planes;	       /* bits 1 << enum stixel_plane: images that occur */
	uint64_t reserved[4];
};
_Static_assert(sizeof(struct sx_record_end) == 112, "layout is the format");

#endif
