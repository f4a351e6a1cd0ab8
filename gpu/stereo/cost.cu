/*
 * The cost volume. Must equal sx_cost_max() minus sx_cost_row(), byte for byte, in the layout of
 * gpu/stereo/volume.cuh.
 *
 * Work:    for 31-bit descriptors and D = 128: matrix products (below), one block per span of a row. Else a
 *          thread computes 16 disparities (8 and their partners at + D/2) of 4 pixels by POPC of left ^
 *          right. The right descriptors that these share are in registers.
 * Memory:  a block stages the descriptors that it needs in shared memory; for products as bytes of bits (44
 *          KB). A warp stores whole pixels, 16 bytes per lane.
 * Ranges:  costs 0..62 fit a byte. Products: right bytes -2 .. 62, left bytes 0, 1 and 128, sums below 2^14.
 * Shapes:  any width, height, D, minimal disparity.
 * Speed:   tests/lab/lab-performance.md, CUDA: cost volume.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/cuda.cuh"
#include "gpu/stereo/cost_cuda.h"
#include "gpu/stereo/mma.cuh"

#define COUNT_THREADS 128
#define COUNT_PIXELS 4 /* pixels per thread */
#define PRODUCT_THREADS 128
#define SPAN 512 /* columns per block of product_kernel: a multiple of two stretches */
/* Blocks of product_kernel that run at once: as many as do not spill registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define PRODUCT_BLOCKS 2
#else
#define PRODUCT_BLOCKS 3
#endif

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

struct work {
	const uint8_t *left, *right;
	size_t left_pitch, right_pitch;
	uint8_t *volume;
	int width, disparities, min_disparity;
	int largest; /* the largest cost */
	/*
	 * if the right column is outside the image: true: the largest cost; false: the cost of descriptor 0
	 */
	bool no_view;
};

template <typename T> __device__ __forceinline__ T descriptor(const uint8_t *row, int x)
{
	return reinterpret_cast<const T *>(row)[x];
}

__device__ __forceinline__ uint32_t ones(uint32_t v)
{
	return (uint32_t)__popc(v);
}

__device__ __forceinline__ uint32_t ones(uint64_t v)
{
	return (uint32_t)__popcll(v);
}

/*
 * Loads the descriptors of columns first .. first + count - 1 of a right row into shared memory. One place in
 * every PAD is left free, so that threads whose pixels are 4 or 8 apart use different banks.
 */
#define PAD 16
__host__ __device__ inline int padded(int i)
{
	return i + i / PAD;
}

template <typename T>
__device__ __forceinline__ void stage_right(T *to, const uint8_t *row, int first, int count, int width)
{
	for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
		const int x = first + i;

		to[padded(i)] = x >= 0 && x < width ? descriptor<T>(row, x) : 0;
	}
}

/* Return the pixels that the threads of a block count at a time, and the shared memory that they need. */
__host__ __device__ inline int count_pixels(int disparities, int threads)
{
	return threads / (disparities / 16) * COUNT_PIXELS;
}

template <typename T> __host__ inline size_t count_shared(int disparities, int threads)
{
	return (size_t)(padded(count_pixels(disparities, threads) + disparities - 1) + 1) * sizeof(T);
}

/* Counts costs of the pixels from block_x on. */
template <typename T>
__device__ __forceinline__ void count_pixels_at(const struct work &w, T *right, int block_x, int y)
{
	const int lanes = w.disparities / 16, half = w.disparities / 2;
	const int pixels = count_pixels(w.disparities, (int)blockDim.x);
	const int in_right = block_x - w.min_disparity - (w.disparities - 1); /* column of right[0] */
	const int lane = (int)threadIdx.x % lanes, x0 = block_x + (int)threadIdx.x / lanes * COUNT_PIXELS;
	const uint8_t *left_row = w.left + (size_t)y * w.left_pitch;
	const uint32_t largest = (uint32_t)w.largest * 0x01010101u;
	T left[COUNT_PIXELS], window[2][8 + COUNT_PIXELS - 1];

	stage_right<T>(right, w.right + (size_t)y * w.right_pitch, in_right, pixels + w.disparities - 1,
		       w.width);
	__syncthreads();
	if ((int)threadIdx.x / lanes * COUNT_PIXELS >= pixels || x0 >= w.width)
		return;
#pragma unroll
	for (int i = 0; i < COUNT_PIXELS; i++)
		left[i] = x0 + i < w.width ? descriptor<T>(left_row, x0 + i) : 0;
		/* Pixel x0 + i at disparity 8 lane + j (+ D/2) uses window[][j + COUNT_PIXELS - 1 - i]. */
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = 0; k < 8 + COUNT_PIXELS - 1; k++) {
			const int d = 8 * lane + h * half + k; /* disparity for pixel x0 + COUNT_PIXELS - 1 */

			window[h][k] = right[padded(x0 + COUNT_PIXELS - 1 - block_x - d + w.disparities - 1)];
		}
#pragma unroll
	for (int i = 0; i < COUNT_PIXELS; i++) {
		uint32_t words[4];
		const int x = x0 + i;

#pragma unroll
		for (int m = 0; m < 4; m++) {
			uint32_t cost[4];

#pragma unroll
			for (int k = 0; k < 4; k++) {
				const int j = 2 * m + (k & 1), h = k >> 1;
				const int column = x - w.min_disparity - (8 * lane + j + h * half);

				cost[k] = ones((T)(left[i] ^ window[h][j + COUNT_PIXELS - 1 - i]));
				if (w.no_view && (column < 0 || column >= w.width))
					cost[k] = (uint32_t)w.largest;
			}
			words[m] = largest - ((cost[3] * 256 + cost[2]) * 65536 + (cost[1] * 256 + cost[0]));
		}
		if (x < w.width)
			*reinterpret_cast<uint4 *>(
				w.volume + ((size_t)y * (size_t)w.width + (size_t)x) * (size_t)w.disparities +
				16 * (size_t)lane) = make_uint4(words[0], words[1], words[2], words[3]);
	}
}

template <typename T> __global__ void __launch_bounds__(COUNT_THREADS) count_kernel(const struct work w)
{
	SX_DYNAMIC_SHARED(T, right);

	count_pixels_at<T>(w, right, (int)blockIdx.x * count_pixels(w.disparities, COUNT_THREADS),
			   (int)blockIdx.y);
}

template <typename T> static void launch_count(const struct work &w, int height, cudaStream_t stream)
{
	const int pixels = count_pixels(w.disparities, COUNT_THREADS);

	SX_LAUNCH((count_kernel<T>), dim3((unsigned)((w.width + pixels - 1) / pixels), (unsigned)height),
		  dim3(COUNT_THREADS), count_shared<T>(w.disparities, COUNT_THREADS), stream, w);
}

/*
 * Costs by matrix products, for 31-bit descriptors and D = 128.
 *
 * A product computes Cmax - C for eight left pixels and eight right pixels. The left pixels are 8 columns
 * apart (n, the columns of the product). The right pixels are also 8 columns apart (g, its rows 0 .. 7), for
 * d even. Rows 8 .. 15 are the right pixels one column before, for d + 1. d is 8 (n - g) plus a constant, so
 * row g and column n are a cell of the 16-byte chunk (n - g) mod 8 of pixel n. If n >= g it is in the stretch
 * of 64 right columns; if n < g, in the next stretch to the left. So a lane takes each word from one of two
 * products, and a warp stores whole pixels.
 *
 *   Cmax - C = Cmax - ones(right) + sum over bits of left * (2 right - 1),
 *
 * where the 32nd bit of left is 1 and the 32nd byte of right is Cmax - ones(right). The values of d + 64 are
 * added 256 times: their right bytes are doubled and their left bytes are 128.
 */
#define STRETCH 64 /* columns */
/*
 * Number of positions of the right operands, 2 columns apart. A pixel needs four of them, one per word.
 * Pixels x and x + 2 share three.
 */
#define SHIFTS 5
#define PRODUCT_DISPARITIES (2 * STRETCH)
/*
 * Columns that a block stages: the span, D more columns, and the shifts. They are ordered by column mod 8, so
 * that the lanes of a product read neighbours.
 */
#define STAGED_BEFORE (PRODUCT_DISPARITIES + 8)
#define STAGED_CLASS ((SPAN + STAGED_BEFORE) / 8)
#define STAGED (8 * STAGED_CLASS)

/* A right operand: the rows g and g + 8, low and high bytes of each. */
struct operand {
	uint32_t word[4];
};

/* Shared memory of a block. right: descriptors from one column before the first staged operand. */
struct product_shared {
	uint4 operands[STAGED * 4];
	uint32_t left[SPAN], right[STAGED + 1];
};

#if SX_HAS_MMA || defined(SX_EMULATE)
/*
 * Stages count descriptors of a row from column `first` on; 0 outside the image. All loads are issued before
 * the first store.
 */
template <int count>
__device__ __forceinline__ void stage_descriptors(uint32_t *staged, const uint8_t *row, int first, int width)
{
	constexpr int rounds = (count + PRODUCT_THREADS - 1) / PRODUCT_THREADS;
	uint32_t v[rounds];

#pragma unroll
	for (int k = 0; k < rounds; k++) {
		const int x = first + k * PRODUCT_THREADS + (int)threadIdx.x;

		v[k] = x >= 0 && x < width ? descriptor<uint32_t>(row, x) : 0;
	}
#pragma unroll
	for (int k = 0; k < rounds; k++) {
		const int i = k * PRODUCT_THREADS + (int)threadIdx.x;

		if (i < count)
			staged[i] = v[k];
	}
}

/*
 * Returns the bytes of right pixel v at column x. t selects the bits t, t + 4, t + 8 ... of the descriptor;
 * with t = 3 the last byte is the 32nd.
 */
__device__ __forceinline__ uint2 right_bytes(const struct work *w, uint32_t v, int x, int t)
{
	const uint32_t count = t == 3 ? 1u << 24 : 0;
	const uint32_t low = 0xffffffffu - (v >> t & 0x01010101u) * 254;
	const uint32_t high = 0xffffffffu - (v >> (t + 4) & 0x01010101u) * 254 +
			      ((uint32_t)w->largest - 255 - ones(v)) * count;

	return w->no_view && (x < 0 || x >= w->width) ? make_uint2(0, 0) : make_uint2(low, high);
}

/* Stages the operands of columns first .. first + STAGED - 1. */
__device__ __forceinline__ void stage_operands(struct product_shared *s, const struct work *w, int first)
{
	const int t = (int)threadIdx.x % 4, run = (STAGED * 4 + PRODUCT_THREADS - 1) / PRODUCT_THREADS;
	const int begin = (int)threadIdx.x / 4 * run;
	uint2 before = right_bytes(w, s->right[min(begin, STAGED)], first + begin - 1, t);

#pragma unroll 3
	for (int i = begin; i < min(begin + run, STAGED); i++) {
		const uint2 here = right_bytes(w, s->right[i + 1], first + i, t);

		s->operands[(i % 8 * STAGED_CLASS + i / 8) * 4 + t] =
			make_uint4(here.x, before.x, here.y, before.y);
		before = here;
	}
}

/*
 * Loads the operands of all shifts. of: the lane's operand for the first shift. The shifts are 2 columns
 * apart. The last two shifts are in the next eight columns. With wrap, the two before them are as well,
 * because the first shift is in the upper half of its eight columns.
 */
__device__ __forceinline__ void load_operands(struct operand (&a)[SHIFTS], const uint4 *of, int wrap)
{
#pragma unroll
	for (int i = 0; i < SHIFTS; i++) {
		const int at = i < 3 ? 2 * i * STAGED_CLASS : (2 * i - 8) * STAGED_CLASS + 1;
		const uint4 v = of[at * 4 + (i == 1 || i == 2 ? wrap : 0)];

		a[i].word[0] = v.x, a[i].word[1] = v.y, a[i].word[2] = v.z, a[i].word[3] = v.w;
	}
}

__device__ __forceinline__ void double_operands(struct operand (&a)[SHIFTS],
						const struct operand (&b)[SHIFTS])
{
#pragma unroll
	for (int i = 0; i < SHIFTS; i++)
#pragma unroll
		for (int k = 0; k < 4; k++)
			a[i].word[k] = b[i].word[k] * 2 & 0xfefefefeu;
}

__device__ __forceinline__ int4 multiply(const struct operand &a, uint32_t low, uint32_t high, int4 sum)
{
	return sx_mma_s8u8(a.word[0], a.word[1], a.word[2], a.word[3], low, high, sum);
}

/*
 * Multiplies: the operand of d, and the doubled operand of d + 64. Returns halves of words of the lane's
 * columns n = 2t (x, z) and 2t + 1 (y, w).
 */
__device__ __forceinline__ int4 product(const struct operand &near, const struct operand &far, uint2 left)
{
	return multiply(far, left.x * 128, left.y * 128,
			multiply(near, left.x, left.y, make_int4(0, 0, 0, 0)));
}

__device__ __forceinline__ uint32_t cost_word(int even, int odd)
{
	return __byte_perm((uint32_t)even, (uint32_t)odd, 0x5140);
}

/* Right operands of a stretch: at d, and doubled for d + 64, of the stretch before. */
struct pair_of_stretches {
	struct operand near[SHIFTS], far[SHIFTS];
};

/*
 * Destination of a lane: the chunks of its columns n = 2t and 2t + 1, and the number of columns from the
 * first of them to the row's end.
 */
struct product_store {
	uint8_t *at;
	int next; /* bytes from n = 2t to 2t + 1 */
	int room;
};

/*
 * Stores the pixels that are 8n columns after the pixel of n = 0. first: the first shift. p: columns to add.
 */
__device__ __forceinline__ void store_pixels(const struct product_store *to,
					     const struct pair_of_stretches *within,
					     const struct pair_of_stretches *beyond, int first, uint2 left,
					     int p)
{
	const int g = (int)threadIdx.x % 32 / 4, t = (int)threadIdx.x % 4;
	uint32_t words[2][4];

#pragma unroll
	for (int j = 0; j < 4; j++) {
		const int4 in = product(within->near[first - j], within->far[first - j], left);
		const int4 out = product(beyond->near[first - j], beyond->far[first - j], left);

		words[0][j] = cost_word(in.x, in.z);
		words[1][j] = cost_word(in.y, in.w);
		if (g > 2 * t)
			words[0][j] = cost_word(out.x, out.z);
		if (g > 2 * t + 1)
			words[1][j] = cost_word(out.y, out.w);
	}
#pragma unroll
	for (int c = 0; c < 2; c++)
		if (p + 8 * c < to->room)
			*reinterpret_cast<uint4 *>(to->at + c * to->next + p * PRODUCT_DISPARITIES) =
				make_uint4(words[c][0], words[c][1], words[c][2], words[c][3]);
}

/*
 * Stores eight pixels, 8 columns apart, and the eight pixels 2 columns further on. Then moves on to the next
 * stretch. left: the lane's left bytes.
 */
__device__ __forceinline__ void store_stretch(struct product_store *to,
					      const struct pair_of_stretches *within,
					      const struct pair_of_stretches *beyond, const uint32_t *left)
{
	const int t = (int)threadIdx.x % 4;

#pragma unroll
	for (int p = 0; p < 2; p++) {
		const uint32_t v = (left[2 * p] | 0x80000000u) >> t;

		store_pixels(to, within, beyond, p + 3, make_uint2(v & 0x01010101u, v >> 4 & 0x01010101u),
			     2 * p);
	}
	to->at += STRETCH * PRODUCT_DISPARITIES;
	to->room -= STRETCH;
}

/* Returns the first destination. x: first column of the warp. */
__device__ __forceinline__ struct product_store first_store(const struct work *w, int x, int y)
{
	const int g = (int)threadIdx.x % 32 / 4, t = (int)threadIdx.x % 4;
	const int even = ((2 * t - g) & 7) * 16, odd = ((2 * t + 1 - g) & 7) * 16;
	const struct product_store to = {
		w->volume + ((ptrdiff_t)y * w->width + x + 16 * t) * PRODUCT_DISPARITIES + even,
		8 * PRODUCT_DISPARITIES + odd - even,
		w->width - x - 16 * t,
	};

	return to;
}
#endif

/* Computes one span of a row per block. Each warp takes every fourth pair of columns, x and x + 2. */
__global__ void __launch_bounds__(PRODUCT_THREADS, PRODUCT_BLOCKS) product_kernel(const struct work w)
{
	const int y = (int)blockIdx.y, first = (int)blockIdx.x * SPAN;
#if SX_HAS_MMA || defined(SX_EMULATE)
	SX_DYNAMIC_SHARED(struct product_shared, shared);
	const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	const int place = (warp & 1) + (warp >> 1) * 4; /* place of the warp's columns among eight */
	const int staged_first = first - w.min_disparity - STAGED_BEFORE;
	const int wrap = place < 4 ? 0 : (1 - 8 * STAGED_CLASS) * 4;
	const uint32_t *left = shared->left + place + 8 * (lane / 4);
	struct product_store to = first_store(&w, first + place, y);
	const uint4 *of; /* the lane's right operand at the first shift */
	struct pair_of_stretches s[2];

	stage_descriptors<SPAN>(shared->left, w.left + (size_t)y * w.left_pitch, first, w.width);
	stage_descriptors<STAGED + 1>(shared->right, w.right + (size_t)y * w.right_pitch, staged_first - 1,
				      w.width);
	__syncthreads();
	stage_operands(shared, &w, staged_first);
	__syncthreads();
	/* Right column x0 + place - 6 + 2 i + 8 g. */
	of = shared->operands + ((place + 2) * STAGED_CLASS + lane / 4) * 4 + lane % 4;
	load_operands(s[0].near, of, wrap);
	double_operands(s[1].far, s[0].near);
	load_operands(s[1].near, of + STRETCH / 8 * 4, wrap);
	for (int left_over = min(SPAN, w.width - first); left_over > 0; left_over -= 2 * STRETCH) {
#pragma unroll
		for (int i = 0; i < 2; i++) {
			load_operands(s[i].near, of + (i + 2) * (STRETCH / 8 * 4), wrap);
			double_operands(s[i].far, s[1 - i].near);
			store_stretch(&to, &s[i], &s[1 - i], left + i * STRETCH);
		}
		of += 2 * STRETCH / 8 * 4;
		left += 2 * STRETCH;
	}
#else
	SX_DYNAMIC_SHARED(uint32_t, right);

	for (int x = 0; x < SPAN; x += count_pixels(PRODUCT_DISPARITIES, PRODUCT_THREADS)) {
		count_pixels_at<uint32_t>(w, right, first + x, y);
		__syncthreads();
	}
#endif
}

static cudaError_t launch_product(const struct work &w, int height, cudaStream_t stream)
{
	const dim3 blocks((unsigned)((w.width + SPAN - 1) / SPAN), (unsigned)height);

	SX_LAUNCH(product_kernel, blocks, dim3(PRODUCT_THREADS), sizeof(struct product_shared), stream, w);
	return SX_LAUNCHED();
}

} // namespace

extern "C" cudaError_t sx_cost_cuda_run(const struct sx_image census[2], const struct sx_stereo_params *p,
					uint8_t *volume, cudaStream_t stream)
{
	struct work w = {};

	w.left = (const uint8_t *)census[0].data;
	w.left_pitch = census[0].pitch;
	w.right = (const uint8_t *)census[1].data;
	w.right_pitch = census[1].pitch;
	w.volume = volume;
	w.width = census[0].width;
	w.disparities = p->disparities;
	w.min_disparity = p->min_disparity;
	w.largest = sx_cost_max(p->cost);
	w.no_view = p->out_of_view == SX_OUT_OF_VIEW_MAX;
	if (census[0].pixel == SX_PIXEL_U32 && w.disparities == PRODUCT_DISPARITIES)
		launch_product(w, census[0].height, stream);
	else if (census[0].pixel == SX_PIXEL_U32)
		launch_count<uint32_t>(w, census[0].height, stream);
	else
		launch_count<uint64_t>(w, census[0].height, stream);
	return SX_LAUNCHED();
}
