/*
 * Reads the Huffman codes of a JPEG scan, only for their lengths.
 *
 * Source:  ITU-T T.81, F.2.2: the decoding procedures of sequential DCT
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/image/jpeg_scan.h"

#ifdef SX_HAVE_JPEG

#include <string.h>

#include "base/contract.h"

/*
 * Least length of a run of one value, other than 0 and 0xff, that counts as padding. A shorter run may be
 * data.
 */
#define FILL_LEAST 4

struct bits {
	const uint8_t *at, *end;
	uint64_t word;
	int count; /* number of lowest bits of word that are not used yet */
};

#define QUICK_BITS 9

/*
 * Huffman codes. For each length: the largest code, and values[code + first[length]]. quick: indexed by the
 * next QUICK_BITS bits; length << 8 | value for codes that are not longer; 0: a longer code.
 */
struct codes {
	int largest[17], first[17];
	const UINT8 *values;
	uint16_t quick[1 << QUICK_BITS];
};

/* Returns the next byte of data; -1: a marker or the end. */
static int take_byte(struct bits *b)
{
	int value;

	if (b->at == b->end || (*b->at == 0xff && (b->end - b->at < 2 || b->at[1] != 0)))
		return -1;
	value = *b->at;
	b->at += value == 0xff ? 2 : 1;
	return value;
}

static void refill(struct bits *b)
{
	while (b->count <= 48) {
		int value = take_byte(b);

		if (value < 0)
			return;
		b->word = b->word << 8 | (unsigned)value;
		b->count += 8;
	}
}

/* Returns the next n bits, n up to 16; -1: fewer bits are left. */
static int take_bits(struct bits *b, int n)
{
	if (b->count < n)
		refill(b);
	if (b->count < n)
		return -1;
	b->count -= n;
	return (int)(b->word >> b->count & ((1u << n) - 1));
}

static int take_code(struct bits *b, const struct codes *codes)
{
	int code = 0;

	if (b->count < QUICK_BITS)
		refill(b);
	if (b->count >= QUICK_BITS) {
		const unsigned quick =
			codes->quick[b->word >> (b->count - QUICK_BITS) & ((1 << QUICK_BITS) - 1)];

		b->count -= (int)(quick >> 8);
		if (quick)
			return (int)(quick & 255);
	}
	for (int length = 1; length <= 16; length++) {
		int bit = take_bits(b, 1);

		if (bit < 0)
			return -1;
		code = code << 1 | bit;
		if (code <= codes->largest[length])
			return codes->values[code + codes->first[length]];
	}
	return -1;
}

static void make_codes(struct codes *codes, const JHUFF_TBL *table)
{
	int code = 0, index = 0;

	codes->values = table->huffval;
	memset(codes->quick, 0, sizeof(codes->quick));
	for (int length = 1; length <= 16; length++) {
		const int shift = QUICK_BITS - length;

		codes->first[length] = index - code;
		for (int i = 0; i < table->bits[length]; i++, code++, index++)
			for (int k = 0; shift >= 0 && k < 1 << shift && code << shift < 1 << QUICK_BITS; k++)
				codes->quick[code << shift | k] =
					(uint16_t)(length << 8 | table->huffval[index]);
		codes->largest[length] = table->bits[length] ? code - 1 : -1;
		code <<= 1;
	}
	sx_must(index, <=, 256); /* libjpeg has checked the table */
}

static bool skip_block(struct bits *b, const struct codes *dc, const struct codes *ac)
{
	int size = take_code(b, dc);

	if (size < 0 || size > 16 || take_bits(b, size) < 0)
		return false;
	for (int k = 1; k < DCTSIZE2; k++) {
		int code = take_code(b, ac);

		if (code < 0)
			return false;
		k += code >> 4;
		if ((code & 15) == 0 && code >> 4 != 15)
			return true; /* end of block */
		if (take_bits(b, code & 15) < 0)
			return false;
	}
	return true;
}

bool sx_jpeg_is_fill(const uint8_t *begin, const uint8_t *end)
{
	struct bits b = {.at = begin, .end = end};
	const int fill = take_byte(&b);
	size_t count = 1;
	int value;

	while ((value = take_byte(&b)) >= 0 && value == fill)
		count++;
	return b.at == b.end && (fill <= 0 || fill == 0xff || count >= FILL_LEAST);
}

/* Checks the bytes before the next marker, and moves to the marker. */
static bool end_part(struct bits *b, struct sx_image_notes *notes, enum sx_odd_jpeg odd)
{
	const uint8_t *rest = b->at;

	/* step back over bytes that were read ahead */
	for (int ahead = b->count / 8; ahead > 0; ahead--)
		rest -= rest[-1] == 0 && rest[-2] == 0xff ? 2 : 1;
	while (take_byte(b) >= 0)
		;
	if (!sx_jpeg_is_fill(rest, b->at))
		return false;
	if (b->at > rest)
		notes->odd_jpeg |= 1u << odd;
	while (b->end - b->at >= 2 && b->at[1] == 0xff) /* a marker may begin with any number of 0xff bytes */
		b->at++;
	b->count = 0;
	return b->end - b->at >= 2;
}

bool sx_jpeg_scan_is_plain(const struct jpeg_decompress_struct *c)
{
	return !c->progressive_mode && !c->arith_code && c->comps_in_scan == c->num_components;
}

bool sx_jpeg_scan_is_whole(const struct jpeg_decompress_struct *c, const uint8_t *begin, const uint8_t *end,
			   struct sx_image_notes *notes)
{
	const unsigned parts = c->restart_interval, units = c->MCUs_per_row * c->MCU_rows_in_scan;
	struct codes dc[MAX_COMPS_IN_SCAN], ac[MAX_COMPS_IN_SCAN];
	struct bits b = {.at = begin, .end = end};

	sx_must_be(sx_jpeg_scan_is_plain(c));
	for (int i = 0; i < c->comps_in_scan; i++) {
		make_codes(&dc[i], c->dc_huff_tbl_ptrs[c->cur_comp_info[i]->dc_tbl_no]);
		make_codes(&ac[i], c->ac_huff_tbl_ptrs[c->cur_comp_info[i]->ac_tbl_no]);
	}
	for (unsigned unit = 0; unit < units; unit++) {
		if (parts && unit && unit % parts == 0) {
			if (!end_part(&b, notes, SX_ODD_RESTART_PADDING))
				return false;
			b.at += 2; /* libjpeg has checked the marker, or will check it */
		}
		for (int i = 0; i < c->blocks_in_MCU; i++)
			if (!skip_block(&b, &dc[c->MCU_membership[i]], &ac[c->MCU_membership[i]]))
				return false;
	}
	return end_part(&b, notes, SX_ODD_PADDING);
}

#endif
