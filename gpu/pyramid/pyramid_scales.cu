/*
 * Halves images. Must equal sx_pyramid_halve(), byte for byte.
 *
 * Work:    a thread makes four pixels of a row of one side.
 * Memory:  reads 16 bytes of the finer image and writes 4, in words: rows of device images begin at multiples
 *          of 128 bytes, so words beyond the last column may be read and written. Pixels there count as the
 *          last column.
 * Shapes:  any size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/pyramid/pyramid.cuh"

#define THREADS_X 32
#define THREADS_Y 8
#define PIXELS 4

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

struct halve_work {
	const uint8_t *from[2];
	uint8_t *to[2];
	size_t from_pitch[2], to_pitch[2];
	int from_width, from_height, width, height;
};

/* Returns pixels x .. x + 7 of a row as two words. */
__device__ __forceinline__ uint2 load_row(const struct halve_work &w, int side, int x, int y)
{
	const uint8_t *from = side ? w.from[1] : w.from[0];
	const uint8_t *row =
		from + (size_t)min(y, w.from_height - 1) * (side ? w.from_pitch[1] : w.from_pitch[0]) + x;
	const int last = w.from_width - 1 - x;
	uint2 v = {*reinterpret_cast<const uint32_t *>(row), 0};

	if (last >= 4)
		v.y = *reinterpret_cast<const uint32_t *>(row + 4);
	return v;
}

/*
 * Returns sums of two neighbours, as pairs of 16 bits. last: index of the last column; only a neighbour
 * behind it is replaced.
 */
__device__ __forceinline__ uint32_t add_neighbours(uint32_t word, int last)
{
	const uint32_t even = sx_pair_even(word);
	uint32_t odd = sx_pair_odd(word);

	if (last == 0)
		odd = (odd & 0xffff0000u) | (even & 0xffffu);
	if (last == 2)
		odd = (odd & 0xffffu) | (even & 0xffff0000u);
	return even + odd;
}

/* Returns two bytes: the mean of four pixels each. */
__device__ __forceinline__ uint32_t mean_of(uint32_t sums)
{
	return ((sums + sx_pair(2)) >> 2 & 0xff) | ((sums + sx_pair(2)) >> 10 & 0xff00);
}

__global__ void __launch_bounds__(THREADS_X *THREADS_Y) halve_kernel(const struct halve_work w)
{
	const int x = ((int)blockIdx.x * THREADS_X + (int)threadIdx.x % THREADS_X) * PIXELS,
		  y = (int)blockIdx.y * THREADS_Y + (int)threadIdx.x / THREADS_X, side = (int)blockIdx.z;
	const int last = w.from_width - 1 - 2 * x; /* last column, from the first that is read */

	if (x >= w.width || y >= w.height)
		return;
	const uint2 upper = load_row(w, side, 2 * x, 2 * y), lower = load_row(w, side, 2 * x, 2 * y + 1);
	const uint32_t first = add_neighbours(upper.x, last) + add_neighbours(lower.x, last);
	const uint32_t second = add_neighbours(upper.y, last - 4) + add_neighbours(lower.y, last - 4);

	uint8_t *to = (side ? w.to[1] : w.to[0]) + (size_t)y * (side ? w.to_pitch[1] : w.to_pitch[0]);

	*reinterpret_cast<uint32_t *>(to + x) = mean_of(first) | mean_of(second) << 16;
}

} // namespace

extern "C" cudaError_t sx_pyramid_halve_launch(const struct sx_pyramid_view *v,
					       const struct sx_pyramid_view *half, cudaStream_t stream)
{
	struct halve_work w = {};
	const int columns = THREADS_X * PIXELS;
	const dim3 grid((unsigned)((half->width + columns - 1) / columns),
			(unsigned)((half->height + THREADS_Y - 1) / THREADS_Y), 2);

	for (int side = 0; side < 2; side++) {
		w.from[side] = v->grey[side];
		w.from_pitch[side] = v->grey_pitch[side];
		w.to[side] = const_cast<uint8_t *>(half->grey[side]);
		w.to_pitch[side] = half->grey_pitch[side];
	}
	w.from_width = v->width;
	w.from_height = v->height;
	w.width = half->width;
	w.height = half->height;
	SX_LAUNCH(halve_kernel, grid, THREADS_X * THREADS_Y, 0, stream, w);
	return SX_LAUNCHED();
}
