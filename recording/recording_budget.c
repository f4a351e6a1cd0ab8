/*
 * Limits the work for a recording: linear in its size, whatever its content.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "recording/recording_priv.h"

/*
 * Bytes that the reader may scan again for each byte of the file, in addition to one chunk. Only a file made
 * for that purpose needs more.
 */
#define VAIN 64u
/*
 * Chunks may expand to 1024 times the bytes read, plus one chunk. 16 MB of equal bytes compress to a few
 * hundred bytes.
 */
#define EXPANDED 1024u
#define ASK_AFTER (UINT64_C(4) << 20) /* bytes of work between two calls of r->wait */

/*
 * Returns the bytes from the present offset to `end` that were scanned before and would now be scanned again.
 */
static uint64_t again(const struct sx_recording *r, uint64_t end)
{
	const uint64_t known = end < r->checked_to ? end : r->checked_to;

	sx_must(r->looked_at, <=, r->checked_to);
	return known > r->state.offset ? known - r->state.offset : 0;
}

/*
 * Returns the limit of the work once `bytes` after the present offset have been read. It is `times` bytes of
 * work for each byte read, plus one chunk, plus the bytes of the frames that the caller got.
 */
static uint64_t most(const struct sx_recording *r, uint64_t bytes, uint64_t times)
{
	return times * (r->state.offset + bytes) + CHUNK_MAX + r->given;
}

bool sx_recording_can_afford(const struct sx_recording *r, uint64_t end, uint64_t bytes)
{
	return r->vain + again(r, end) + bytes <= most(r, 0, VAIN);
}

bool sx_affords_expansion(const struct sx_recording *r, uint64_t plain_bytes)
{
	return r->expanded + plain_bytes <= most(r, 0, EXPANDED);
}

bool sx_affords_record(const struct sx_recording *r, uint64_t bytes)
{
	return r->vain + VAIN_RECORD <= most(r, bytes, VAIN);
}

void sx_recording_spend(struct sx_recording *r, uint64_t end, uint64_t plain_bytes)
{
	sx_must(end, >=, r->state.offset);
	r->vain += again(r, end);
	r->expanded += plain_bytes;
	r->unasked += end - r->state.offset + plain_bytes;
	if (end > r->checked_to)
		r->checked_to = end;
}

int sx_recording_request(struct sx_recording *r, uint64_t work_bytes)
{
	r->unasked += work_bytes;
	if (!r->wait || r->unasked < ASK_AFTER)
		return 0;
	r->unasked = 0;
	return r->wait(r->user, -1);
}
