/*
 * FastDT's last pass, up, and the winner. Must equal sx_fastdt() and sx_winner(), byte for byte
 * (stages/stereo/fastdt.h, stages/stereo/winner.h). Cells and recurrence: gpu/fastdt/fastdt.cuh.
 *
 * Work:    a block walks eight columns upwards, one per warp. A lane owns four of every 128 disparities, so
 *          the warp has all of a pixel. It finds the winner while S is in registers, in batches of four or
 *          eight rows. Then, after a barrier, threads finish pixels of the left image, and find minima along
 *          the diagonals of the block's S for the right image.
 * Memory:  reads U once, a batch ahead into registers. Keys S << 16 | d of a batch are in shared memory, at
 *          most 36 KB, with empty keys around each column, so that diagonals have no ends. Atomics
 *          combine the minima of the right image in one word per pixel: D / 8 + 1 minima per pixel.
 * Ranges:  S 16 bits; V(d) - V(O) >= 0 by monotony, its product with R has 48 bits.
 * Shapes:  any width and height, D any multiple of 32 up to 256; below 128 some lanes are idle.
 * Speed:   bound by issued instructions; tests/lab/lab-performance.md, "CUDA: FastDT".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/fastdt/fastdt_climb.cuh"

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

/* Returns the lane that owns a disparity. */
__device__ __forceinline__ int lane_of(int d, int disparities)
{
	const int half = disparities / 2;

	return (d < half ? d : d - half) / 2 % 32;
}

/*
 * Returns true if a rival makes the winner ambiguous. The sums of the winner and its neighbours are no
 * rivals. rivals: lanes that have a rival sum. In the lanes of the winner and its neighbours (at most two
 * lanes) all sums are tested again.
 */
template <int W>
__device__ __forceinline__ bool is_ambiguous(const uint32_t *keys, const struct found &f, int disparities,
					     int uniqueness)
{
	const int d0 = (int)(f.key & 0xffff);
	const int lanes[2] = {lane_of(max(d0 - 1, 0), disparities),
			      lane_of(min(d0 + 1, disparities - 1), disparities)};
	const uint32_t near = 1u << lanes[0] | 1u << lanes[1];
	bool ambiguous = (f.rivals & ~near) != 0;

	/* d0 shares a lane with one of its neighbours, or with its only neighbour */
	for (int i = 0; i < 8 * W; i++) {
		const int word = lanes[i / 4 % 2] + 32 * (i / 8);
		const int d = 2 * word + i % 2 + i / 2 % 2 * (disparities / 2);

		if (word < disparities / 4 && abs(d - d0) > 1)
			ambiguous |= 100 * (f.key >> 16) >= (uint32_t)uniqueness * (keys[d] >> 16);
	}
	return ambiguous;
}

/* Returns the sub-pixel offset. before, after: S of the neighbours minus the winner's. */
__device__ __forceinline__ int refined(int before, int after, enum sx_subpixel how)
{
	const int den = before + after, a = 16 * (before - after) + den, b = 2 * den;
	const int q = a / b;

	return how == SX_SUBPIXEL_FLOOR && a < 0 && q * b != a ? q - 1 : q;
}

/* Writes disparity and confidence of a left pixel. keys: keys of the pixel. */
template <int W>
__device__ __forceinline__ void finish_pixel(const struct work &w, const uint32_t *keys,
					     const struct found &f, int x, int y)
{
	const int d0 = (int)(f.key & 0xffff), s0 = (int)(f.key >> 16), end = w.disparities - 1;
	const bool at_end = d0 == 0 || d0 == end;
	const int before = (int)(keys[max(d0 - 1, 0)] >> 16) - s0,
		  after = (int)(keys[min(d0 + 1, end)] >> 16) - s0;
	int q4 = 16 * d0, confidence = max(before, after) * 255 / SX_WINNER_RISE_FASTDT;

	if (at_end)
		confidence = d0 == 0 && after == 0 ? 0 : SX_WINNER_CONFIDENCE_END;
	else if (w.subpixel != SX_SUBPIXEL_OFF)
		q4 += refined(before, after, w.subpixel);
	if (is_ambiguous<W>(keys, f, w.disparities, w.uniqueness))
		q4 = SX_DISPARITY_INVALID;
	reinterpret_cast<uint16_t *>(w.left + (size_t)y * w.left_pitch)[x] = (uint16_t)q4;
	w.confidence[(size_t)y * w.confidence_pitch + (size_t)x] = (uint8_t)min(confidence, 255);
}

/*
 * Finds minima of the right image in rows first_row .. first_row + ROWS - 1 of the batch. Left pixel first_x
 * + c meets right pixel first_x - (D - 1) + j at d = c + D - 1 - j. keys: keys of the batch. y: lowest row of
 * the batch, which is its first.
 */
template <typename S, int ROWS>
__device__ __forceinline__ void find_right(const struct work &w, const uint32_t *keys, int first_x, int y,
					   int j, int first_row)
{
	const int disparities = S::disparities(w), x = first_x - (disparities - 1) + j;
	const uint32_t *key = keys + first_row * S::row(disparities) + PAD + (disparities - 1) - j;
	uint32_t *to = w.planes.keys + (ptrdiff_t)(y - first_row) * (ptrdiff_t)w.planes.pitch + x;

	if (x < 0)
		return;
#pragma unroll
	for (int i = 0; i < ROWS; i++) {
		uint32_t best = NONE;

#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			best = min(best, key[i * S::row(disparities) + c * (S::stride(disparities) + 1)]);
		if (y - first_row - i < w.planes.height)
			atomicMin(to - (ptrdiff_t)i * (ptrdiff_t)w.planes.pitch, best);
	}
}

/*
 * Finds all minima of the right image. Half of the block takes the lower rows of the batch, the other half
 * the upper rows.
 */
template <typename S>
__device__ __forceinline__ void find_all_right(const struct work &w, const uint32_t *keys, int first_x, int y)
{
	const int span = COLUMNS + S::disparities(w) - 1, half = THREADS / 2;
	const int j = (int)threadIdx.x % half, rows = S::rows / 2, first_row = (int)threadIdx.x / half * rows;

	for (int i = j; i < span / half * half; i += half)
		find_right<S, rows>(w, keys, first_x, y, i, first_row);
	/* if the disparities are a multiple of half, few pixels are left: spread them over the rows */
	for (int i = THREADS - 1 - (int)threadIdx.x; i < span % half * S::rows; i += THREADS)
		find_right<S, 1>(w, keys, first_x, y, span / half * half + i % (span % half),
				 i / (span % half));
}

template <typename S, bool HELD, bool CAREFUL>
__global__ void __launch_bounds__(THREADS, S::D ? 3 : 1) winner_kernel(const struct work w)
{
	SX_DYNAMIC_SHARED(uint32_t, keys);
	__shared__ struct found founds[S::rows * COLUMNS];
	const int disparities = S::disparities(w), column = (int)threadIdx.x / 32,
		  lane = (int)threadIdx.x % 32;
	const int first_x = (int)blockIdx.x * COLUMNS, x = min(first_x + column, w.planes.width - 1);
	const bool lives =
		first_x + column == x; /* other warps only take part in the barriers; their keys stay empty */
	const int batches = (w.planes.height + S::rows - 1) / S::rows;
	uint32_t *own = keys + PAD + column * S::stride(disparities);
	struct climb<S> c;

	for (int i = (int)threadIdx.x; i < S::rows * S::row(disparities); i += THREADS)
		keys[i] = NONE;
	__syncthreads();
	start_climb(c, w, x, lane);
	load_batch(c, w, batches * S::rows - 1, lane);
	for (int b = batches - 1; b >= 0; b--) {
		const int y = (b + 1) * S::rows - 1;
		const int row = (int)threadIdx.x / COLUMNS, pixel = (int)threadIdx.x % COLUMNS;

		if (lives)
			climb_any<S, HELD, CAREFUL>(c, w, y, lane, own, founds + column);
		__syncthreads(); /* the keys are complete */
		if (row < S::rows && y - row < w.planes.height && first_x + pixel < w.planes.width)
			finish_pixel<S::W>(
				w, keys + row * S::row(disparities) + PAD + pixel * S::stride(disparities),
				founds[threadIdx.x], first_x + pixel, y - row);
		find_all_right<S>(w, keys, first_x, y);
		__syncthreads(); /* the keys are no longer needed */
	}
}

__global__ void __launch_bounds__(256) right_kernel(const struct work w)
{
	const int x = (int)(blockIdx.x * 256 + threadIdx.x), y = (int)blockIdx.y;

	if (x < w.planes.width)
		reinterpret_cast<uint16_t *>(w.right + (size_t)y * w.right_pitch)[x] =
			(uint16_t)w.planes.keys[(size_t)y * w.planes.pitch + (size_t)x];
}

template <typename S, bool HELD, bool CAREFUL> void launch_shape(const struct work &w, cudaStream_t stream)
{
	const size_t shared = (size_t)(S::rows * S::row(w.disparities)) * 4;

	SX_LAUNCH((winner_kernel<S, HELD, CAREFUL>),
		  dim3((unsigned)((w.planes.width + COLUMNS - 1) / COLUMNS)), dim3(THREADS), shared, stream,
		  w);
}

template <bool HELD, bool CAREFUL> void launch_climb(const struct work &w, cudaStream_t stream)
{
	if (w.disparities == 128)
		launch_shape<struct shape<128, 1>, HELD, CAREFUL>(w, stream);
	else if (w.disparities < 128)
		launch_shape<struct shape<0, 1>, HELD, CAREFUL>(w, stream);
	else
		launch_shape<struct shape<0, 2>, HELD, CAREFUL>(w, stream);
}

/* Converts S from the layout of the volume: words of gpu/stereo/volume.cuh, two bytes per cell. */
__global__ void __launch_bounds__(256)
	sum_kernel(const uint8_t *volume, int width, int disparities, uint8_t *sum, size_t pitch)
{
	const int lanes = disparities / 4, i = (int)(blockIdx.x * 256 + threadIdx.x), x = i / lanes,
		  lane = i % lanes;

	if (x >= width)
		return;

	const size_t at = ((size_t)blockIdx.y * (size_t)width + (size_t)x) * (size_t)lanes + (size_t)lane;
	const uint2 s = *reinterpret_cast<const uint2 *>(volume + at * 8);
	uint32_t *out = reinterpret_cast<uint32_t *>(sum + blockIdx.y * pitch) +
			(size_t)x * (size_t)(disparities / 2);

	out[lane] = s.x;
	out[lane + disparities / 4] = s.y;
}

} // namespace

extern "C" cudaError_t sx_dt_winner_run(const struct sx_dt_planes *p, const struct sx_stereo_params *s,
					uint8_t *volume, bool keep, bool held, const struct sx_image *winner,
					const struct sx_image *winner_right,
					const struct sx_image *confidence, cudaStream_t stream)
{
	struct work w = {};

	w.planes = *p;
	w.volume = volume;
	w.left = (uint8_t *)winner->data;
	w.left_pitch = winner->pitch;
	w.right = (uint8_t *)winner_right->data;
	w.right_pitch = winner_right->pitch;
	w.confidence = (uint8_t *)confidence->data;
	w.confidence_pitch = confidence->pitch;
	w.disparities = s->disparities;
	w.uniqueness = s->uniqueness;
	w.subpixel = s->subpixel;
	w.keep = keep;
	if (s->fastdt == SX_FASTDT_INT8) /* an unneeded clamp changes nothing */
		launch_climb<true, true>(w, stream);
	else if (held)
		launch_climb<true, false>(w, stream);
	else
		launch_climb<false, false>(w, stream);
	SX_LAUNCH(right_kernel, dim3((unsigned)(p->width + 255) / 256, (unsigned)p->height), dim3(256), 0,
		  stream, w);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_dt_sum_run(const struct sx_dt_planes *p, const struct sx_stereo_params *s,
				     const uint8_t *volume, const struct sx_image *sum, cudaStream_t stream)
{
	const int lanes = s->disparities / 4;

	SX_LAUNCH(sum_kernel, dim3((unsigned)(p->width * lanes + 255) / 256, (unsigned)p->height), dim3(256),
		  0, stream, volume, p->width, s->disparities, (uint8_t *)sum->data, sum->pitch);
	return SX_LAUNCHED();
}
