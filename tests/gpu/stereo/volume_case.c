/*
 * Cases of the kernels that write and read volumes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/gpu/stereo/volume_case.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/stereo/cost_cuda.h"
#include "gpu/stereo/winner_cuda.h"
#include "stages/stereo/cost.h"
#include "stages/stereo/sgm.h"
#include "stages/stereo/winner.h"
#include "tests/check.h"

#define PITCH 128
#define GUARD 0xa5

/* Returns the byte of a pixel that holds disparity d in the layout of gpu/stereo/volume.cuh. */
static size_t byte_of(int d, int disparities)
{
	int word = d % (disparities / 2) / 2, high = d >= disparities / 2;

	return (size_t)(4 * word + 2 * high + d % 2);
}

static void require(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
	abort();
}

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static void *take(size_t bytes)
{
	void *at = NULL;

	require(cudaMalloc(&at, bytes), "cudaMalloc");
	require(cudaMemset(at, GUARD, bytes), "cudaMemset");
	return at;
}

static struct sx_image device_image(enum sx_pixel pixel, int width, int height)
{
	size_t pitch = round_up((size_t)width * sx_pixel_bytes(pixel), PITCH);

	return (struct sx_image){take(pitch * (size_t)height), width, height, pitch, pixel};
}

/* Creates a host image that may be wider than sx_image_init() allows, for rows of sums. */
static struct sx_image host_image(enum sx_pixel pixel, int width, int height)
{
	size_t pitch = (size_t)width * sx_pixel_bytes(pixel);
	void *data = calloc((size_t)height, pitch);

	if (!data)
		abort();
	return (struct sx_image){data, width, height, pitch, pixel};
}

/* Compares the whole device image with want, and its padding with the guard. Frees the device image. */
static bool same_on_device(const char *what, uint64_t seed, const struct sx_image *want,
			   struct sx_image *device, int disparities)
{
	size_t row = (size_t)want->width * sx_pixel_bytes(want->pixel),
	       bytes = device->pitch * (size_t)device->height;
	struct sx_image got = *device;
	bool same;

	got.data = malloc(bytes);
	if (!got.data)
		abort();
	require(cudaMemcpy(got.data, device->data, bytes, cudaMemcpyDeviceToHost), what);
	same = check_same(what, seed, want, &got, disparities);
	for (int y = 0; same && y < got.height; y++)
		for (size_t i = row; same && i < got.pitch; i++)
			same = ((const uint8_t *)sx_image_row(&got, y))[i] == GUARD;
	if (!same)
		fprintf(stderr, "%s: see above, or bytes behind a row have changed\n", what);
	free(got.data);
	require(cudaFree(device->data), "cudaFree");
	return same;
}

static int filled(enum volume_fill how, int largest, struct check_rng *r, int d, int winner)
{
	switch (how) {
	case VOLUME_TIES:
		return largest - check_below(r, 12) / 11;
	case VOLUME_WINNER:
		return largest - (abs(d - winner) > 1 ? largest / 2 + check_below(r, largest / 2 + 1) * 9 / 10
						      : largest / 2 * abs(d - winner) + check_below(r, 3));
	case VOLUME_EXTREME:
		return winner % 3 == 0 ? 0 : winner % 3 == 1 ? largest : check_below(r, 2) * largest;
	default:
		return check_below(r, largest + 1);
	}
}

/* Fills volumes. volumes: V of each path, path_bytes apart. sum: the matching S. */
static void fill(uint8_t *volumes, size_t path_bytes, const struct sx_image *sum,
		 const struct sx_stereo_params *p, enum volume_fill how, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	int width = sum->width / p->disparities;

	for (int y = 0; y < sum->height; y++) {
		uint16_t *s = sx_image_row(sum, y);

		for (int x = 0; x < width; x++) {
			int winner = check_below(&r, p->disparities);

			for (int d = 0; d < p->disparities; d++) {
				int left = sx_sgm_largest(p);

				for (int i = 0; i < p->paths; i++) {
					/* paths to the right and to the left, then the others */
					int p2 = sx_sgm_penalties(p, i < 2).p2;
					int v = filled(how, p2 + sx_cost_max(p->cost), &r, d, winner);
					size_t at = ((size_t)y * (size_t)width + (size_t)x) *
						    (size_t)p->disparities;

					v = v < 0 ? 0 : v;
					volumes[(size_t)i * path_bytes + at + byte_of(d, p->disparities)] =
						(uint8_t)v;
					left -= v;
				}
				s[x * p->disparities + d] = (uint16_t)left;
			}
		}
	}
}

static void describe(char *text, size_t bytes, const char *what, const struct sx_stereo_params *p, int width,
		     int height)
{
	snprintf(text, bytes,
		 "%s %dx%d D %d paths %d cost %d p2 %d %d uniqueness %d subpixel %d min %d view %d", what,
		 width, height, p->disparities, p->paths, p->cost, p->p2, p->p2_vertical, p->uniqueness,
		 p->subpixel, p->min_disparity, p->out_of_view);
}

bool volume_case_winner(const struct sx_stereo_params *p, int width, int height, enum volume_fill how,
			uint64_t seed)
{
	const size_t path_bytes = round_up((size_t)width * (size_t)height * (size_t)p->disparities, 256);
	const size_t bytes = path_bytes * (size_t)p->paths;
	struct sx_image want[4] = {
		host_image(SX_PIXEL_U16, width, height),
		host_image(SX_PIXEL_U16, width, height),
		host_image(SX_PIXEL_U8, width, height),
		host_image(SX_PIXEL_U16, width * p->disparities, height),
	};
	static const char *const names[] = {"left", "right", "confidence", "sum"};
	struct sx_image got[4];
	uint8_t *volumes = calloc(1, bytes), *device = take(bytes);
	struct sx_cuda_volumes v = {device, path_bytes, p->paths};
	bool same = true;

	if (!volumes)
		abort();
	fill(volumes, path_bytes, &want[3], p, how, seed);
	sx_winner(&want[3], &want[0], &want[1], &want[2], p);
	require(cudaMemcpy(device, volumes, bytes, cudaMemcpyHostToDevice), "volumes");
	for (int i = 0; i < 4; i++)
		got[i] = device_image(want[i].pixel, want[i].width, height);
	require(sx_winner_cuda_run(&v, p, &got[0], &got[1], &got[2], NULL), "sx_winner_cuda_run");
	require(sx_winner_cuda_sum(&v, p, &got[3], NULL), "sx_winner_cuda_sum");
	require(cudaDeviceSynchronize(), "winner");
	for (int i = 0; i < 4; i++) {
		char what[160];

		describe(what, sizeof(what), names[i], p, width, height);
		same &= same_on_device(what, seed, &want[i], &got[i], i == 3 ? p->disparities : 0);
		free(want[i].data);
	}
	free(volumes);
	require(cudaFree(device), "cudaFree");
	return same;
}

/* Fills host descriptors with noise. Bits that sx_census() leaves empty stay empty. */
static void fill_descriptors(const struct sx_image *img, enum sx_cost cost, struct check_rng *r)
{
	static const uint64_t used[] = {
		[SX_COST_CSCT] = 0x7fffffff,
		[SX_COST_CENSUS] = 0x3fffffffffffffff,
		[SX_COST_CENSUS48] = 0xffffffffffff,
		[SX_COST_CENSUS63] = 0x3fffffffffffffff,
	};

	for (int y = 0; y < img->height; y++) {
		for (int x = 0; x < img->width; x++) {
			uint64_t v = ((uint64_t)check_random(r) << 32 | check_random(r)) & used[cost];

			if (img->pixel == SX_PIXEL_U32)
				((uint32_t *)sx_image_row(img, y))[x] = (uint32_t)v;
			else
				((uint64_t *)sx_image_row(img, y))[x] = v;
		}
	}
}

static bool same_costs(const char *what, uint64_t seed, const uint8_t *got, const struct sx_image census[2],
		       const struct sx_stereo_params *p)
{
	int width = census[0].width, height = census[0].height, different = 0;
	size_t row = (size_t)width * (size_t)p->disparities;
	const struct sx_cost_input in = {.descriptor = {census[0], census[1]}};
	uint8_t *want = malloc(row);

	if (!want)
		abort();
	for (int y = 0; y < height; y++) {
		sx_cost_row(&in, y, p, want);
		for (int x = 0; x < width; x++) {
			for (int d = 0; d < p->disparities; d++) {
				size_t at = (size_t)x * (size_t)p->disparities;
				int g = sx_cost_max(p->cost) -
					got[(size_t)y * row + at + byte_of(d, p->disparities)];

				if (g != want[at + (size_t)d] && different++ == 0)
					fprintf(stderr,
						"seed %llu / %s: first at (%d,%d,%d): want %d, got %d\n",
						(unsigned long long)seed, what, x, y, d, want[at + (size_t)d],
						g);
			}
		}
	}
	free(want);
	if (different)
		fprintf(stderr, "%s: %d costs differ\n", what, different);
	return different == 0;
}

bool volume_case_cost(const struct sx_stereo_params *p, int width, int height, uint64_t seed)
{
	const enum sx_pixel pixel = p->cost == SX_COST_CSCT ? SX_PIXEL_U32 : SX_PIXEL_U64;
	const size_t bytes = (size_t)width * (size_t)height * (size_t)p->disparities, guarded = bytes + 256;
	struct check_rng r = check_rng_seed(seed);
	struct sx_image census[2], device[2];
	uint8_t *got = malloc(guarded), *volume = take(guarded);
	char what[160];
	bool same;

	if (!got)
		abort();
	for (int i = 0; i < 2; i++) {
		census[i] = host_image(pixel, width, height);
		device[i] = device_image(pixel, width, height);
		fill_descriptors(&census[i], p->cost, &r);
		for (int y = 0; y < height; y++)
			require(cudaMemcpy(sx_image_row(&device[i], y), sx_image_row(&census[i], y),
					   (size_t)width * sx_pixel_bytes(pixel), cudaMemcpyHostToDevice),
				"descriptors");
	}
	require(sx_cost_cuda_run(device, p, volume, NULL), "sx_cost_cuda_run");
	require(cudaDeviceSynchronize(), "cost");
	require(cudaMemcpy(got, volume, guarded, cudaMemcpyDeviceToHost), "costs");
	describe(what, sizeof(what), "cost", p, width, height);
	same = same_costs(what, seed, got, census, p);
	for (size_t i = bytes; i < guarded; i++)
		if (got[i] != GUARD)
			same = false;
	for (int i = 0; i < 2; i++) {
		free(census[i].data);
		require(cudaFree(device[i].data), "cudaFree");
	}
	require(cudaFree(volume), "cudaFree");
	free(got);
	return same;
}
