/*
 * Selects the call that fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/fuzz/fails.h"

#include <errno.h>
#include <string.h>

static const char mark[] = {'F', 'A', 'I', 'L'};
enum { BYTES = sizeof(mark) + 3 };

static __thread struct {
	bool counting, done, done_before;
	unsigned kind, which, left;
	int error;
} fails;

struct fuzz_input fails_input(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = {data, bytes};
	static const int errors[] = {EMFILE,  ENOMEM, EIO,    EINTR,  EACCES, ENOSYS, EAGAIN, ECONNRESET,
				     ENOBUFS, ESRCH,  EINVAL, ENOTTY, EBUSY,  ENODEV, EPERM,  ELOOP};
	const uint8_t *at;

	memset(&fails, 0, sizeof(fails));
	fails.kind = FAILS_KINDS;
	if (in.left < BYTES)
		return in;
	at = in.at + in.left - BYTES;
	if (memcmp(at, mark, sizeof(mark)) != 0)
		return in;
	in.left -= BYTES;
	fails.kind = at[4] % FAILS_KINDS;
	fails.which = fails.left = at[5];
	fails.error =
		fails.kind == FAILS_MEMORY ? ENOMEM : errors[at[6] % (sizeof(errors) / sizeof(errors[0]))];
	return in;
}

size_t fails_mutate(uint8_t *data, size_t bytes, size_t most, unsigned seed, unsigned kinds)
{
	const bool there = bytes >= BYTES && memcmp(data + bytes - BYTES, mark, sizeof(mark)) == 0;
	const size_t plain = there ? bytes - BYTES : bytes;

	if ((there && seed % 4 == 0) || plain + BYTES > most)
		return plain ? plain : LLVMFuzzerMutate(data, bytes, most);
	memcpy(data + plain, mark, sizeof(mark));
	data[plain + 4] = (uint8_t)((seed >> 2) % FAILS_KINDS);
	while (!(kinds >> data[plain + 4] & 1))
		data[plain + 4] = (uint8_t)((data[plain + 4] + 1) % FAILS_KINDS);
	data[plain + 5] = (uint8_t)(seed >> 8);
	if (data[plain + 4] <= FAILS_SYSTEM && seed >> 26 & 3) /* most inputs make few calls */
		data[plain + 5] %= 32;
	data[plain + 6] = (uint8_t)(seed >> 16);
	return plain + BYTES;
}

bool fails_is(enum fails_kind kind, unsigned *which, int *error)
{
	*which = fails.which;
	if (error)
		*error = fails.error;
	return fails.kind == (unsigned)kind;
}

void fails_begin(void)
{
	fails.counting = true;
	fails.done_before = fails.done;
}

bool fails_end(void)
{
	fails.counting = false;
	return fails.done && !fails.done_before;
}

bool fails_done(void)
{
	return fails.done;
}

bool fails_now(enum fails_kind kind)
{
	if (!fails.counting || fails.kind != (unsigned)kind || fails.left-- > 0)
		return false;
	fails.kind = FAILS_KINDS;
	fails.done = true;
	errno = fails.error;
	return true;
}
