/*
 * The cost volume of correlations. Must equal sx_cost_max() less sx_cost_row(), byte for byte, in the layout of
 * gpu/volume.cuh.
 *
 * Work:    a block does WALKS stretches of a row, D/8 threads each: a thread eight disparities (four and their partners D/2
 *          further on), pixel after pixel to the right. Grey levels lie in columns of four rows a word, so that a column of a
 *          window is one to four DP4A. Zigzag: from pixel to pixel the column that enters is added and the one that
 *          leaves is subtracted; that is the order of Z2-ZNCC (Chang et al.) with one row a thread: what its four corner
 *          products would save of the next row's column is less than the four rows that DP4A takes at once. Windows of 3 keep the
 *          sums of their three columns in registers instead. Plain: every window anew, for comparison.
 * Memory:  columns of the row and what windows bring, staged in shared memory in four classes by column mod 4, so that
 *          threads, whose disparities are 4 apart, find neighbours; right columns stay in registers for the four pixels that
 *          need them. 8 bytes a thread and pixel stored, neighbours side by side.
 * Ranges:  grey levels less 128, which leaves covariance and variance as they are: |n P| and |S1 S1| <= n^2 2^14 < 2^30. With
 *          windows of 3 and 5 below 2^24: exact in binary32, where a fused multiply-add rounds nothing.
 * Shapes:  any width, height, D, minimal disparity and window.
 * Speed:   not measured yet; docs/performance.md, CUDA: ZNCC.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/cuda.cuh"
#include "gpu/zncc_cuda.h"
#include "stages/zncc.h"

#define WALKS 8
#define LANE_CELLS 8 /* of a thread and pixel */
#define DISPARITIES_MAX 256
#define CENTRE 0x80808080u
/* 1.5 2^23: to a float with these bits whole numbers below 2^22 may be added as integers, and rounding is to whole numbers. */
#define MAGIC 12582912.0f
#define MAGIC_BITS 0x4b400000u
/* One more than Cmax / 2, as ties go to even: words of cells 1 .. 2 T + 1 less the sum of MAGIC_BITS << 8 i and of ones. */
#define MIDDLE (SX_ZNCC_SCALE + 1)
#define WORD_BIAS (MAGIC_BITS + (MAGIC_BITS << 8) + 0x01010101u)

namespace /* types and templates of one name in two files would be one for the linker */
{

struct work {
	const uint8_t *grey[2], *words[2];
	size_t grey_pitch[2], words_pitch[2];
	uint8_t *volume;
	int width, height, disparities, min_disparity;
	bool no_view; /* the cost is the largest where the right column is outside the image, else that of no correlation */
};

/* What follows from a window of L x L. */
template <int L> struct shape {
	static constexpr int radius = L / 2, count = L * L;
	static constexpr int quads = (L + 3) / 4;	      /* of rows in a column */
	static constexpr int stride = quads == 3 ? 4 : quads; /* words of a column, for vector loads */
	static constexpr bool exact = L <= 5;		      /* see Ranges */
	static constexpr bool ring = L == 3;		      /* of column sums */
	static constexpr int period = ring ? 12 : 4; /* pixels after which registers have their roles again */
	static constexpr int pixels = ring ? 36 : 32;  /* of a walk */
	static constexpr int columns = WALKS * pixels; /* of a block */
	/* Staged columns of a class. */
	static constexpr int left = (columns + 2 * radius + 3) / 4;
	static constexpr int right = (columns + DISPARITIES_MAX + 2 * radius + 3) / 4;
	/* Of P in a register: P itself, or bits of P + MAGIC; a ring adds three of its share. */
	static constexpr uint32_t bias = exact ? MAGIC_BITS : 0;
	static constexpr uint32_t share = ring ? 0xc3c00000u : 0;
	static_assert(!ring || 3u * share == bias, "three shares are a bias");
};

/* A block's shared memory. stat: S1 and 1 / sqrt(V), of the left image with the sign of S1 turned. */
template <int L> struct shared {
	uint2 left_stat[4 * shape<L>::left], right_stat[4 * shape<L>::right];
	uint32_t left[4 * shape<L>::left * shape<L>::stride], right[4 * shape<L>::right * shape<L>::stride];
};

template <int L> __device__ __forceinline__ uint2 stat_of(uint64_t word, int sign)
{
	const int s1 = sign * ((int)(uint32_t)word - 128 * shape<L>::count);

	return make_uint2(shape<L>::exact ? __float_as_uint((float)s1) : (uint32_t)s1,
			  (uint32_t)(word >> 32));
}

/* Rows of a column, four a word; what is beyond the window is 0. */
template <int L>
__device__ __forceinline__ uint32_t column_word(const struct work &w, int side, int x, int y, int quad)
{
	uint32_t word = 0;

#pragma unroll
	for (int b = 0; b < 4; b++) {
		const int row = min(max(y - shape<L>::radius + 4 * quad + b, 0), w.height - 1);

		if (4 * quad + b < L)
			word |= (uint32_t)(w.grey[side][(size_t)row * w.grey_pitch[side] + (size_t)x] ^ 0x80)
				<< 8 * b;
	}
	return word;
}

/* Columns first .. first + count - 1 of one image; outside it, windows bring nothing. */
template <int L>
__device__ __forceinline__ void stage(uint32_t *columns, uint2 *stats, int of_class, const struct work &w,
				      int side, int first, int count, int y)
{
	const uint64_t *words =
		reinterpret_cast<const uint64_t *>(w.words[side] + (size_t)y * w.words_pitch[side]);

	for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
		const int at = i % 4 * of_class + i / 4, x = first + i;
		const int inside = min(max(x, 0), w.width - 1);

#pragma unroll
		for (int q = 0; q < shape<L>::quads; q++)
			columns[at * shape<L>::stride + q] = column_word<L>(w, side, inside, y, q);
		stats[at] = x == inside ? stat_of<L>(words[x], side ? 1 : -1) : make_uint2(0, 0);
	}
}

/* A column's words. */
template <int L> struct column {
	uint32_t word[shape<L>::stride];
};

template <int L> __device__ __forceinline__ struct column<L> load(const uint32_t *columns, int at) {
	struct column<L> c;

	if (shape<L>::stride == 4) {
		const uint4 v = reinterpret_cast<const uint4 *>(columns)[at];

		c.word[0] = v.x, c.word[1 % shape<L>::stride] = v.y;
		c.word[2 % shape<L>::stride] = v.z, c.word[3 % shape<L>::stride] = v.w;
	} else if (shape<L>::stride == 2) {
		const uint2 v = reinterpret_cast<const uint2 *>(columns)[at];

		c.word[0] = v.x, c.word[1 % shape<L>::stride] = v.y;
	} else {
		c.word[0] = columns[at];
	}
	return c;
}

/* Sum of products of two columns. */
template <int L>
__device__ __forceinline__ uint32_t dot(const struct column<L> &a, const struct column<L> &b, uint32_t sum)
{
#pragma unroll
	for (int q = 0; q < shape<L>::quads; q++)
		sum = (uint32_t)__dp4a((int)a.word[q], (int)b.word[q], (int)sum);
	return sum;
}

/* A cell as bits of MAGIC + MIDDLE + round(z T). */
template <int L>
__device__ __forceinline__ uint32_t cell_of(uint32_t p, const uint2 &left, const uint2 &right)
{
	float covariance;

	if (shape<L>::exact) {
		const float scaled =
			fmaf((float)shape<L>::count, __uint_as_float(p), -shape<L>::count * MAGIC);

		covariance = fmaf(__uint_as_float(left.x), __uint_as_float(right.x), scaled);
	} else {
		covariance = (float)(int)(p * (uint32_t)shape<L>::count + left.x * right.x);
	}
	return __float_as_uint(covariance * __uint_as_float(left.y) * __uint_as_float(right.y) *
				       (float)SX_ZNCC_SCALE +
			       (MAGIC + MIDDLE));
}

__device__ __forceinline__ uint32_t word_of(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	return ((d * 256 + c) * 256 + b) * 256 + a - WORD_BIAS;
}

/*
 * Where a thread is. Of column c, counted from the first of the walk's first window, the left words are at left + at(c), the right
 * ones that meet it at disparity 4 lane + k are those of column c + 3 - k at right[0] (right[1]: D/2 further on).
 */
struct place {
	int left, right[2];
	int x, count; /* first pixel, pixels in the image */
	int partner;  /* right column of the first pixel at disparity 4 lane */
	uint8_t *to;
};

template <int L> __device__ __forceinline__ int left_at(const struct place &p, int c)
{
	return (c & 3) * shape<L>::left + p.left + (c >> 2);
}

template <int L> __device__ __forceinline__ int right_at(const struct place &p, int half, int c)
{
	return (c & 3) * shape<L>::right + p.right[half] + (c >> 2);
}

/* The last four right columns of each half, by column mod 4, and of those in the middle of windows what they bring. */
template <int L> struct window {
	struct column<L> enter[2][4], leave[2][4];
	uint2 stat[2][4];
	uint32_t p[2][4];	/* of the disparities k and their partners */
	uint32_t ring[3][2][4]; /* sums of columns, by column mod 3 */
};

/* Column c of the walk's windows, c from 0: takes in its right column and adds its products. */
template <int L>
__device__ __forceinline__ void enter(struct window<L> &w, const struct shared<L> *s, const struct place &p,
				      int c)
{
	const struct column<L> left = load<L>(s->left, left_at<L>(p, c));

#pragma unroll
	for (int h = 0; h < 2; h++) {
		w.enter[h][(c + 3) & 3] = load<L>(s->right, right_at<L>(p, h, c + 3));
#pragma unroll
		for (int k = 0; k < 4; k++) {
			if (shape<L>::ring)
				w.ring[c % 3][h][k] =
					dot<L>(left, w.enter[h][(c + 3 - k) & 3], shape<L>::share);
			else
				w.p[h][k] = dot<L>(left, w.enter[h][(c + 3 - k) & 3], w.p[h][k]);
		}
	}
}

template <int L>
__device__ __forceinline__ void leave(struct window<L> &w, const struct shared<L> *s, const struct place &p,
				      int c)
{
	const struct column<L> left = load<L>(s->left, left_at<L>(p, c));

#pragma unroll
	for (int h = 0; h < 2; h++) {
		w.leave[h][(c + 3) & 3] = load<L>(s->right, right_at<L>(p, h, c + 3));
#pragma unroll
		for (int k = 0; k < 4; k++)
			w.p[h][k] -= dot<L>(left, w.leave[h][(c + 3 - k) & 3], 0);
	}
}

/* The products of all columns of the window that begins at c. */
template <int L>
__device__ __forceinline__ void add_window(struct window<L> &w, const struct shared<L> *s,
					   const struct place &p, int c)
{
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = 0; k < 4; k++) {
			w.p[h][k] = shape<L>::bias;
#pragma unroll
			for (int j = 0; j < L; j++)
				w.p[h][k] = dot<L>(load<L>(s->left, left_at<L>(p, c + j)),
						   load<L>(s->right, right_at<L>(p, h, c + j + 3 - k)),
						   w.p[h][k]);
		}
}

/* Zeros where a right column is outside the image: costs are the largest there. pixel: of the walk. */
__device__ __forceinline__ uint32_t visible(const struct work &w, int partner, int shift)
{
	const int half = w.disparities / 2;
	uint32_t mask = 0;

#pragma unroll
	for (int b = 0; b < 4; b++) {
		const int column = partner - shift - (b & 1) - (b >> 1) * half;

		mask |= column >= 0 && column < w.width ? 0xffu << 8 * b : 0;
	}
	return mask;
}

/* The window of pixel i is complete: stores its cells. */
template <int L, bool PLAIN>
__device__ __forceinline__ void finish(struct window<L> &w, const struct shared<L> *s, const struct place &p,
				       const struct work &work, bool check, int i, int i0)
{
	const int c = i + shape<L>::radius;
	const uint2 left = s->left_stat[left_at<L>(p, c)];
	uint32_t cells[2][4];
	uint2 words;

#pragma unroll
	for (int h = 0; h < 2; h++) {
		w.stat[h][(c + 3) & 3] = s->right_stat[right_at<L>(p, h, c + 3)];
#pragma unroll
		for (int k = 0; k < 4; k++)
			cells[h][k] = cell_of<L>(shape<L>::ring && !PLAIN
							 ? w.ring[0][h][k] + w.ring[1][h][k] + w.ring[2][h][k]
							 : w.p[h][k],
						 left, w.stat[h][(c + 3 - k) & 3]);
	}
	words = make_uint2(word_of(cells[0][0], cells[0][1], cells[1][0], cells[1][1]),
			   word_of(cells[0][2], cells[0][3], cells[1][2], cells[1][3]));
	if (check) {
		words.x &= visible(work, p.partner + i0 + i, 0);
		words.y &= visible(work, p.partner + i0 + i, 2);
	}
	if (i0 + i < p.count)
		*reinterpret_cast<uint2 *>(p.to + (size_t)i * (size_t)work.disparities) = words;
}

/* Before the first pixel: right columns that were there before the first ones enter, and all columns but the last. */
template <int L, bool PLAIN>
__device__ __forceinline__ void start(struct window<L> &w, const struct shared<L> *s, const struct place &p)
{
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = 0; k < 3; k++) {
			const int middle = k + shape<L>::radius;

			w.stat[h][middle & 3] = s->right_stat[right_at<L>(p, h, middle)];
			if (!PLAIN)
				w.enter[h][k] = w.leave[h][k] = load<L>(s->right, right_at<L>(p, h, k));
		}
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = 0; k < 4; k++)
			w.p[h][k] = shape<L>::bias;
	if (!PLAIN)
#pragma unroll
		for (int c = 0; c < L - 1; c++)
			enter<L>(w, s, p, c);
}

template <int L, bool PLAIN>
__device__ __forceinline__ void walk(const struct shared<L> *s, struct place &p, const struct work &work,
				     bool check)
{
	struct window<L> w;

	start<L, PLAIN>(w, s, p);
#pragma unroll 1
	for (int i0 = 0; i0 < p.count; i0 += shape<L>::period) {
#pragma unroll
		for (int i = 0; i < shape<L>::period; i++) {
			if (PLAIN)
				add_window<L>(w, s, p, i);
			else
				enter<L>(w, s, p, i + L - 1);
			finish<L, PLAIN>(w, s, p, work, check, i, i0);
			if (!PLAIN && !shape<L>::ring)
				leave<L>(w, s, p, i);
		}
		p.left += shape<L>::period / 4;
		p.right[0] += shape<L>::period / 4;
		p.right[1] += shape<L>::period / 4;
		p.to += (size_t)shape<L>::period * (size_t)work.disparities;
	}
}

template <int L> __device__ __forceinline__ struct place find_place(const struct work &w, int block_x, int y)
{
	const int lanes = w.disparities / LANE_CELLS, lane = (int)threadIdx.x % lanes,
		  first = (int)threadIdx.x / lanes * shape<L>::pixels;
	struct place p;

	p.left = first / 4;
	p.right[0] = first / 4 + w.disparities / 4 - 1 - lane;
	p.right[1] = p.right[0] - w.disparities / 8;
	p.x = block_x + first;
	p.count = min(shape<L>::pixels, w.width - p.x);
	p.partner = p.x - w.min_disparity - 4 * lane;
	p.to = w.volume + ((ptrdiff_t)y * w.width + p.x) * (ptrdiff_t)w.disparities +
	       LANE_CELLS * (ptrdiff_t)lane;
	return p;
}

template <int L, bool PLAIN>
__global__ void __launch_bounds__(DISPARITIES_MAX) scan_kernel(const struct work w)
{
	SX_DYNAMIC_SHARED(struct shared<L>, s);
	const int y = (int)blockIdx.y, x = (int)blockIdx.x * shape<L>::columns;
	const int most = x - w.min_disparity + shape<L>::columns - 1;
	const int least = x - w.min_disparity - (w.disparities - 1); /* right columns that are met */
	struct place p = find_place<L>(w, x, y);

	stage<L>(s->left, s->left_stat, shape<L>::left, w, 0, x - shape<L>::radius,
		 shape<L>::columns + 2 * shape<L>::radius, y);
	stage<L>(s->right, s->right_stat, shape<L>::right, w, 1, least - shape<L>::radius,
		 shape<L>::columns + w.disparities - 1 + 2 * shape<L>::radius, y);
	__syncthreads();
	walk<L, PLAIN>(s, p, w, w.no_view && (least < 0 || most >= w.width));
}

template <int L, bool PLAIN> void launch(const struct work &w, cudaStream_t stream)
{
	SX_LAUNCH((scan_kernel<L, PLAIN>),
		  dim3((unsigned)((w.width + shape<L>::columns - 1) / shape<L>::columns), (unsigned)w.height),
		  dim3((unsigned)(WALKS * w.disparities / LANE_CELLS)), sizeof(struct shared<L>), stream, w);
}

template <int L> void launch_scan(const struct work &w, enum sx_zncc_scan how, cudaStream_t stream)
{
	if (how == SX_ZNCC_SCAN_PLAIN)
		launch<L, true>(w, stream);
	else
		launch<L, false>(w, stream);
}

} // namespace

extern "C" cudaError_t sx_zncc_cost_cuda_run(const struct sx_image grey[2], const struct sx_image words[2],
					     const struct sx_stereo_params *p, uint8_t *volume,
					     enum sx_zncc_scan how, cudaStream_t stream)
{
	const struct work w = {
		{(const uint8_t *)grey[0].data, (const uint8_t *)grey[1].data},
		{(const uint8_t *)words[0].data, (const uint8_t *)words[1].data},
		{grey[0].pitch, grey[1].pitch},
		{words[0].pitch, words[1].pitch},
		volume,
		grey[0].width,
		grey[0].height,
		p->disparities,
		p->min_disparity,
		p->out_of_view == SX_OUT_OF_VIEW_MAX,
	};

	switch (p->zncc_window) {
	case 3:
		launch_scan<3>(w, how, stream);
		break;
	case 5:
		launch_scan<5>(w, how, stream);
		break;
	case 7:
		launch_scan<7>(w, how, stream);
		break;
	case 9:
		launch_scan<9>(w, how, stream);
		break;
	case 11:
		launch_scan<11>(w, how, stream);
		break;
	case 13:
		launch_scan<13>(w, how, stream);
		break;
	case 15:
		launch_scan<15>(w, how, stream);
		break;
	default:
		return cudaErrorInvalidValue;
	}
	return SX_LAUNCHED();
}
