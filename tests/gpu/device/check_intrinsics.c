/*
 * Compares the functions of intrinsics.h on a device with those of the emulator, over the same operands: all
 * combinations of special values, then random values.
 *
 *	check_intrinsics
 *
 * If built without a device (SX_EMULATE), the program compares the emulator with itself, in other orders of
 * lanes and blocks.
 * Prints "N checks, N failed". A check is one function. Exit: 0; 1 a check failed; 77 no usable device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/gpu/device/intrinsics.h"

#define OPERANDS (256 * INTRINSICS_THREADS)
#define SKIPPED 77

static struct intrinsic_operands operands[OPERANDS];
static uint64_t want[OPERANDS], got[OPERANDS];

static uint64_t random64(struct check_rng *r)
{
	const uint64_t high = check_random(r);

	return high << 32 | check_random(r);
}

/*
 * Returns an operand: any bits, a small number, a float with a small exponent (so that sums and integers
 * round), or a special value.
 */
static uint32_t word(struct check_rng *r)
{
	static const uint32_t special[] = {
		0,	    1,		2,	    0x7f,	0x80,	    0xff,	0x100,
		0x7fff,	    0x8000,	0xffff,	    0x10000,	0x7fffffff, 0x80000000, 0x80000001,
		0xffffffff, 0x3f800000, 0xbf800000, 0x3f000000, 0x40200000, 0x4b000000, 0x4effffff,
		0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x7f800000, 0xff800000, 0x7fc00000,
		0x00000001, 0x007fffff, 0x00800000, 0x7f7fffff};

	switch (check_below(r, 4)) {
	case 0:
		return special[check_below(r, (int)(sizeof(special) / sizeof(special[0])))];
	case 1:
		return check_random(r) % 70;
	case 2:
		return (check_random(r) & 0x807fffff) | (uint32_t)(127 + check_below(r, 40)) << 23;
	default:
		return check_random(r);
	}
}

static uint64_t wide(struct check_rng *r)
{
	static const uint64_t special[] = {0,
					   1,
					   0xffffffff,
					   0x100000000,
					   0x7fffffffffffffff,
					   0x8000000000000000,
					   0xffffffffffffffff,
					   0x3ff0000000000000,
					   0xbfe0000000000000,
					   0x4004000000000000,
					   0x41dfffffffc00000,
					   0x41e0000000000000,
					   0xc1e0000000000000,
					   0x43e0000000000000,
					   0x7ff0000000000000,
					   0xfff0000000000000,
					   0x7ff8000000000000,
					   0x36a0000000000000,
					   0x47efffffe0000000};

	switch (check_below(r, 4)) {
	case 0:
		return special[check_below(r, (int)(sizeof(special) / sizeof(special[0])))];
	case 1:
		return check_random(r) % 70;
	case 2:
		return (random64(r) & 0x800fffffffffffff) | (uint64_t)(1023 + check_below(r, 70)) << 52;
	default:
		return random64(r);
	}
}

static void make_operands(void)
{
	struct check_rng r = check_rng_seed(20261129);

	for (int i = 0; i < OPERANDS; i++)
		operands[i] = (struct intrinsic_operands){word(&r), word(&r), word(&r), wide(&r), wide(&r)};
}

static bool same(int which)
{
	const struct intrinsic_operands *o = operands;
	int differ = 0, first = 0;

	for (int i = OPERANDS - 1; i >= 0; i--)
		if (got[i] != want[i] && got[i] != INTRINSIC_ABSENT) {
			differ++;
			first = i;
		}
	if (!differ)
		return true;
	o += first;
	fprintf(stderr,
		"%s: %d of %d results differ, first of %08x %08x %08x %016" PRIx64 " %016" PRIx64
		": emulated %016" PRIx64 ", not %016" PRIx64 "\n",
		intrinsic_names[which], differ, OPERANDS, o->a, o->b, o->c, o->la, o->lb, want[first],
		got[first]);
	return false;
}

#ifdef SX_EMULATE
static bool compute(int which)
{
	setenv("SX_EMULATE_ORDER", which % 2 ? "1" : "77", 1);
	intrinsic_emulated(which, operands, OPERANDS, got);
	unsetenv("SX_EMULATE_ORDER");
	return true;
}

static bool open_device(void)
{
	return true;
}
#else
#include <cuda_runtime_api.h>

static struct intrinsic_operands *in;
static uint64_t *out;

static bool compute(int which)
{
	const cudaError_t e = (cudaError_t)intrinsic_on_device(which, in, OPERANDS, out);

	return e == cudaSuccess && cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost) == cudaSuccess;
}

static bool open_device(void)
{
	int count = 0;

	return cudaGetDeviceCount(&count) == cudaSuccess && count > 0 &&
	       cudaMalloc((void **)&in, sizeof(operands)) == cudaSuccess &&
	       cudaMalloc((void **)&out, sizeof(got)) == cudaSuccess &&
	       cudaMemcpy(in, operands, sizeof(operands), cudaMemcpyHostToDevice) == cudaSuccess;
}
#endif

int main(void)
{
	int checks = 0, failed = 0;

	make_operands();
	if (!open_device()) {
		fprintf(stderr, "no CUDA device, or no memory on it\n");
		return SKIPPED;
	}
	for (; intrinsic_names[checks]; checks++) {
		intrinsic_emulated(checks, operands, OPERANDS, want);
		if (!compute(checks)) {
			fprintf(stderr, "%s: the device fails\n", intrinsic_names[checks]);
			failed++;
		} else {
			failed += !same(checks);
		}
	}
	printf("# %d functions of the emulator, %d operands each\n", checks, OPERANDS);
	printf("%d checks, %d failed\n", checks, failed);
	return failed > 0;
}
