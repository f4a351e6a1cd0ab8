/*
 * Arguments of the kernels of gpu/stereo/sgm.cu, and the place of each group of lanes on its path. One file
 * includes this header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_SGM_PLACE_CUH
#define SX_GPU_STEREO_SGM_PLACE_CUH

#include <stddef.h>
#include <stdint.h>

#include "gpu/cuda.cuh"

#define THREADS 128
#define DIRECTIONS_MAX 8

struct aggregate {
	const uint8_t *match; /* M */
	uint8_t *path;	      /* V of direction i begins at i * path_bytes */
	size_t path_bytes;
	const uint8_t *grey; /* left image, for the differences of grey levels */
	size_t grey_pitch;
	const uint8_t *p2_table; /* cuts of P2, [horizontal][difference of grey levels]; NULL: no cuts */
	int width, height;
	int p1[2], p2[2]; /* [1]: for horizontal paths */
	/* first block of each direction; INT32_MAX for directions that are not used */
	int first_block[DIRECTIONS_MAX];
};

/*
 * Directions in the order of stages/stereo/sgm.h: right, left, down, up and the diagonals. Two bits each hold
 * the component plus 1.
 */
#define DX_BITS (2u | 0u << 2 | 1u << 4 | 1u << 6 | 2u << 8 | 0u << 10 | 0u << 12 | 2u << 14)
#define DY_BITS (1u | 1u << 2 | 2u << 4 | 0u << 6 | 2u << 8 | 0u << 10 | 2u << 12 | 0u << 14)

__host__ __device__ __forceinline__ int dx_of(int direction)
{
	return (int)(DX_BITS >> 2 * direction & 3) - 1;
}

__host__ __device__ __forceinline__ int dy_of(int direction)
{
	return (int)(DY_BITS >> 2 * direction & 3) - 1;
}

/* Returns 1 or 0: the index of penalties. */
__host__ __device__ __forceinline__ int is_horizontal(int direction)
{
	return dy_of(direction) == 0;
}

__host__ __device__ __forceinline__ int paths_of(int dx, int dy, int width, int height)
{
	return dy == 0 ? height : dx == 0 ? width : width + height - 1;
}

/* Path of a group: first pixel, direction and length. */
struct path {
	int direction, x, y, dx, dy, length;
};

/*
 * Finds path k of a direction. In the image mirrored such that the path runs to the right and down, it starts
 * at the left or upper border. Neighbouring k have nearly the same length, so that a warp's paths end
 * together.
 */
__device__ __forceinline__ void place_path(struct path *p, int k, int width, int height)
{
	p->dx = dx_of(p->direction);
	p->dy = dy_of(p->direction);
	p->x = p->dy == 0 ? 0 : p->dx == 0 ? k : max(width - 1 - k, 0);
	p->y = p->dy == 0 ? k : p->dx == 0 ? 0 : max(k - width + 1, 0);
	p->length = p->dy == 0 ? width : p->dx == 0 ? height : min(width - p->x, height - p->y);
	if (p->dx < 0)
		p->x = width - 1 - p->x;
	if (p->dy < 0)
		p->y = height - 1 - p->y;
}

/* Finds the block's direction. */
__device__ __forceinline__ int find_direction(const struct aggregate *a, int *first_block)
{
	int direction = 0;

	*first_block = 0;
#pragma unroll
	for (int i = 1; i < DIRECTIONS_MAX; i++) {
		if ((int)blockIdx.x >= a->first_block[i]) {
			direction = i;
			*first_block = a->first_block[i];
		}
	}
	return direction;
}

/* Finds the group's path. A group without a path walks the last path too and stores the same values. */
template <int G>
__device__ __forceinline__ struct path find_path(const struct aggregate *a, int direction, int first_block)
{
	const int k = (((int)blockIdx.x - first_block) * THREADS + (int)threadIdx.x) / G;
	const int paths = paths_of(dx_of(direction), dy_of(direction), a->width, a->height);
	struct path p;

	p.direction = direction;
	place_path(&p, min(k, paths - 1), a->width, a->height);
	return p;
}

/*
 * Shortest and longest length of a block's paths. The longest may be too large. Both are the same for all
 * threads, which the compiler can see.
 */
struct extent {
	int shortest, longest;
};

/* Over k, lengths rise by one per path, stay constant, and fall by one per path. */
template <int G>
__device__ __forceinline__ struct extent extent_of(const struct aggregate *a, int direction, int first_block)
{
	const int paths = paths_of(dx_of(direction), dy_of(direction), a->width, a->height);
	const int k = ((int)blockIdx.x - first_block) * (THREADS / G);
	struct path first, last;
	struct extent e;

	first.direction = last.direction = direction;
	place_path(&first, k, a->width, a->height);
	place_path(&last, min(k + THREADS / G, paths) - 1, a->width, a->height);
	e.shortest = min(first.length, last.length);
	e.longest = min(e.shortest + THREADS / G,
			dy_of(direction) == 0 ? a->width : max(first.length, a->height));
	return e;
}

#endif
