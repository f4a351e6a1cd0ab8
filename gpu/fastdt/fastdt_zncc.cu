/*
 * FastDT's pass to the right from costs of ZNCC that are made on the way, so that no volume of costs exists. Must equal
 * sx_cost_row() (float: sx_cost_row_float()) and that pass, byte for byte. Meaning: stages/stereo/fastdt.h, stages/stereo/zncc.h; products:
 * gpu/zncc/zncc_row.cuh.
 *
 * Work:    D/8 threads walk a row from its first pixel to the last, eight disparities each; a block has some rows side by
 *          side, so there are H D / 8 threads and no more: for few multiprocessors.
 * Memory:  columns of both images and what their windows bring, in rings of shared memory, a segment of 16 pixels (windows
 *          of 3: 24) ahead of those that are walked; one barrier a segment. Classes by column mod 4 as in gpu/zncc/zncc_cost.cu; the
 *          first entries of a class lie behind its last once more, so that loads of four pixels need no wrap.
 *          Writes A: a byte a cell; float: 4.
 * Ranges:  A is carried as A + BIAS, what the rounding of ZNCC leaves above a cost: t = (A + BIAS) w + (16384 - BIAS w), modulo
 *          2^32, is A w + 16384 < 2^31, and t >> 15 is added to a cost with its bias. A <= 255 by the caller's choice.
 * Shapes:  any width, height, D, minimal disparity and window.
 * Speed:   docs/performance.md, "CUDA: FastDT".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/fastdt/fastdt.cuh"

#include "gpu/fastdt/fastdt_priv.h"
#include "gpu/zncc/zncc_row.cuh"

#define THREADS 128
#define SHARED_MAX (48 * 1024)
#define BIAS (SX_ZNCC_MAGIC_BITS + SX_ZNCC_MIDDLE - SX_ZNCC_SCALE)

namespace /* types and templates of one name in two files would be one for the linker */
{

struct work {
	struct sx_zncc_work zncc; /* volume: A */
	const void *weights;	  /* planes: [y][x] */
	int16_t *lowest;	  /* NULL: nobody asks */
	size_t pitch;		  /* of both */
	int rows;		  /* of a block, even */
};

/* D: disparities, or 0 where only the work knows; 128 is what the compiler should know. */
template <int D> __device__ __forceinline__ int disparities_of(const struct sx_zncc_work &w)
{
	return D ? D : w.disparities;
}

template <int L, int D> struct shape : sx_zncc_shape<L> {
	static constexpr int most = D ? D : SX_ZNCC_DISPARITIES_MAX;
	static constexpr int segment = L == 3 ? 24 : 16;    /* pixels: a multiple of the period */
	static constexpr int ahead = segment + 2 * (L / 2); /* left columns that a segment's windows have */
	/* Entries of a class: of two segments, one walked and one filled; those that are there twice. */
	static constexpr int left = (segment + ahead - 1) / 4 + 1;
	static constexpr int right = (segment + ahead + most - 2) / 4 + 1;
	static constexpr int guard = (sx_zncc_shape<L>::period + L + 1) / 4;
	static_assert(segment % sx_zncc_shape<L>::period == 0, "segments are whole periods");
};

/* Blocks at once: as many as do not spill. bytes: of a cell. */
template <int L, int D> __host__ __device__ constexpr int blocks_of(int bytes)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
	return bytes > 1 || L > 7 ? 3 : L == 3 || !D ? 4 : 5;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
	return bytes > 1 || L > 11 ? 3 : L > 5 || !D ? 4 : 5;
#else
	return bytes > 1 || L > 11 ? 3 : L > 7 || !D ? 4 : 5;
#endif
}

/* Of a row. left_stat: S1, 1 / sqrt(V), weight to the pixel before, and what is added to BIAS w. */
template <int L, int D> struct shared {
	static constexpr int left_class = shape<L, D>::left + shape<L, D>::guard;
	static constexpr int right_class = shape<L, D>::right + shape<L, D>::guard;

	uint4 left_stat[4 * left_class];
	uint2 right_stat[4 * right_class];
	uint32_t left[4 * left_class * shape<L, D>::stride], right[4 * right_class * shape<L, D>::stride];
};

/* What a row's cells are, and how they go on from pixel to pixel. */
struct whole {
	typedef uint16_t weight;
	typedef uint32_t value;
	static const int bytes = 1;
	static const value unseen = SX_ZNCC_SCALE; /* what the largest cost is above that of no correlation */

	uint32_t a[2][4]; /* A + BIAS */

	static __device__ __forceinline__ uint32_t addend(weight v)
	{
		return (1u << (SX_FASTDT_WEIGHT_BITS - 1)) - BIAS * v;
	}
	static __device__ __forceinline__ uint32_t word(weight v)
	{
		return v;
	}
	/* C and BIAS. */
	template <int L>
	static __device__ __forceinline__ uint32_t cost(uint32_t products, uint2 left, uint2 right)
	{
		return sx_zncc_rounded<L, true>(products, left, right);
	}
	__device__ __forceinline__ void step(int h, int k, uint32_t cost, const uint4 &left)
	{
		a[h][k] = cost + ((a[h][k] * left.z + left.w) >> SX_FASTDT_WEIGHT_BITS);
	}
	__device__ __forceinline__ uint32_t packed(int k) const
	{
		return ((a[1][k + 1] * 256 + a[1][k]) * 256 + a[0][k + 1]) * 256 + a[0][k] -
		       BIAS * 0x01010101u;
	}
	__device__ __forceinline__ void store(uint8_t *to) const
	{
		const uint32_t words[2] = {packed(0), packed(2)};

		sx_words_store<2>(to, words);
	}
	/* A of the first disparity, as that of pixel i of four, whose cells these are. */
	__device__ __forceinline__ void put_first(uint32_t (&four)[2], int i) const
	{
		sx_dt_put(four, i, (int16_t)(a[0][0] - BIAS));
	}
};

struct real {
	typedef float weight;
	typedef float value;
	static const int bytes = 4;
	static const int unseen = 1;

	float a[2][4];

	static __device__ __forceinline__ uint32_t addend(weight)
	{
		return 0;
	}
	static __device__ __forceinline__ uint32_t word(weight v)
	{
		return __float_as_uint(v);
	}
	template <int L>
	static __device__ __forceinline__ float cost(uint32_t products, uint2 left, uint2 right)
	{
		return 1.0f + sx_zncc_correlation<L, true>(products, left, right);
	}
	__device__ __forceinline__ void step(int h, int k, float cost, const uint4 &left)
	{
		a[h][k] = sx_dt_step(cost, a[h][k], __uint_as_float(left.z));
	}
	__device__ __forceinline__ void store(uint8_t *to) const
	{
		uint32_t words[8];

#pragma unroll
		for (int i = 0; i < 8; i++)
			words[i] = __float_as_uint(a[i >> 1 & 1][(i & 1) + i / 4 * 2]);
		sx_words_store<8>(to, words);
	}
	__device__ __forceinline__ void put_first(uint32_t (&)[2], int) const
	{
	}
};

/* To a place of a class, and behind the last one of the class where it is one of the first. */
template <int GUARD, int ENTRIES, typename T>
__device__ __forceinline__ void put(T *ring, int at, int entry, const T &v)
{
	ring[at] = v;
	if (entry < GUARD)
		ring[at + ENTRIES] = v;
}

template <int GUARD, int ENTRIES, int L>
__device__ __forceinline__ void put_words(uint32_t *ring, int at, int entry,
					  const uint32_t (&words)[sx_zncc_shape<L>::quads])
{
#pragma unroll
	for (int q = 0; q < sx_zncc_shape<L>::quads; q++) {
		ring[at * sx_zncc_shape<L>::stride + q] = words[q];
		if (entry < GUARD)
			ring[(at + ENTRIES) * sx_zncc_shape<L>::stride + q] = words[q];
	}
}

/* Column x of the rows y and y + 1, four grey levels a word; what is beyond the windows is 0. */
template <int L>
__device__ __forceinline__ void two_columns(uint32_t (&words)[2][sx_zncc_shape<L>::quads],
					    const struct sx_zncc_work &w, int side, int x, int y)
{
	typedef struct sx_zncc_shape<L> shape;
	uint32_t levels[shape::quads + 1] = {};

#pragma unroll
	for (int b = 0; b < L + 1; b++)
		levels[b / 4] |= sx_zncc_grey(w, side, x, y - shape::radius + b) << b % 4 * 8;
#pragma unroll
	for (int q = 0; q < shape::quads; q++) {
		const uint32_t inside = q < L / 4 ? UINT32_MAX : (1u << L % 4 * 8) - 1;

		words[0][q] = (levels[q] ^ 0x80808080u) & inside;
		words[1][q] = (__funnelshift_r(levels[q], levels[q + 1], 8) ^ 0x80808080u) & inside;
	}
}

/*
 * Columns first .. first + count - 1 of the block's rows into their rings, from row y on. A thread takes a column of two rows;
 * threads from the last one down take right columns, as some are left over. Left column c is that of pixel c - radius, the
 * first right one that of pixel 0 at the last disparity less radius.
 */
template <int L, int D, typename CELLS>
__device__ __forceinline__ void stage_left(struct shared<L, D> *rows, const struct work &w, int y, int first,
					   int count)
{
	typedef struct shape<L, D> S;
	const typename CELLS::weight *weights = (const typename CELLS::weight *)w.weights;

	for (int i = (int)threadIdx.x; i < count * (w.rows / 2); i += (int)blockDim.x) {
		const int c = first + i % count, row = i / count * 2, x = c - S::radius;
		const int inside = min(max(x, 0), w.zncc.width - 1), entry = c / 4 % S::left;
		const int at = c % 4 * shared<L, D>::left_class + entry;
		uint32_t words[2][S::quads];

		two_columns<L>(words, w.zncc, 0, inside, y + row);
#pragma unroll
		for (int j = 0; j < 2; j++) {
			const uint2 stat = sx_zncc_stat<L>(w.zncc, 0, x, y + row + j, 1);
			const uint32_t last = (uint32_t)min(y + row + j, w.zncc.height - 1);
			const typename CELLS::weight weight =
				weights[last * (uint32_t)w.pitch + (uint32_t)inside];
			const uint4 brought =
				make_uint4(stat.x, stat.y, CELLS::word(weight), CELLS::addend(weight));

			put<S::guard, S::left>(rows[row + j].left_stat, at, entry, brought);
			put_words<S::guard, S::left, L>(rows[row + j].left, at, entry, words[j]);
		}
	}
}

template <int L, int D>
__device__ __forceinline__ void stage_right(struct shared<L, D> *rows, const struct work &w, int y, int first,
					    int count)
{
	typedef struct shape<L, D> S;
	const int origin = -w.zncc.min_disparity - (disparities_of<D>(w.zncc) - 1) - S::radius;

	for (int i = (int)(blockDim.x - 1 - threadIdx.x); i < count * (w.rows / 2); i += (int)blockDim.x) {
		const int c = first + i % count, row = i / count * 2, x = origin + c;
		const int inside = min(max(x, 0), w.zncc.width - 1), entry = c / 4 % S::right;
		const int at = c % 4 * shared<L, D>::right_class + entry;
		uint32_t words[2][S::quads];

		two_columns<L>(words, w.zncc, 1, inside, y + row);
#pragma unroll
		for (int j = 0; j < 2; j++) {
			put<S::guard, S::right>(rows[row + j].right_stat, at, entry,
						sx_zncc_stat<L>(w.zncc, 1, x, y + row + j, 1));
			put_words<S::guard, S::right, L>(rows[row + j].right, at, entry, words[j]);
		}
	}
}

/* A lane on its row; columns as in gpu/zncc/zncc_row.cuh, counted from the first of the period's first window. */
template <int L, int D> struct place {
	const struct shared<L, D> *s;
	int left_base, right_base[2]; /* entries of rings */
	int partner;		      /* right column of pixel 0 at disparity 4 lane */
	uint8_t *to;
	int16_t *lowest; /* NULL: not this lane */

	__device__ __forceinline__ struct sx_zncc_column<L> left(int c) const {
		return sx_zncc_column_load<L>(s->left,
					      (c & 3) * shared<L, D>::left_class + left_base + (c >> 2));
	} __device__ __forceinline__ uint4 left_stat(int c) const
	{
		return s->left_stat[(c & 3) * shared<L, D>::left_class + left_base + (c >> 2)];
	}
	__device__ __forceinline__ struct sx_zncc_column<L> right(int half, int c) const {
		return sx_zncc_column_load<L>(s->right, (c & 3) * shared<L, D>::right_class +
								right_base[half] + (c >> 2));
	} __device__ __forceinline__ uint2 right_stat(int half, int c) const
	{
		return s->right_stat[(c & 3) * shared<L, D>::right_class + right_base[half] + (c >> 2)];
	}
	/* Whether the right column of pixel x at disparity 4 lane + k and h D/2 more is outside the image, and that counts. */
	__device__ __forceinline__ bool hidden(const struct sx_zncc_work &w, int x, int h, int k) const
	{
		const uint32_t column = (uint32_t)(partner + x - k - h * (disparities_of<D>(w) / 2));

		return column > (w.no_view ? (uint32_t)w.width - 1 : UINT32_MAX);
	}
	__device__ __forceinline__ void advance()
	{
		const int by = sx_zncc_shape<L>::period / 4;

		left_base += left_base + by < shape<L, D>::left ? by : by - shape<L, D>::left;
#pragma unroll
		for (int h = 0; h < 2; h++)
			right_base[h] +=
				right_base[h] + by < shape<L, D>::right ? by : by - shape<L, D>::right;
	}
};

template <int L, int D, typename CELLS>
__device__ __forceinline__ struct place<L, D> find_place(const struct shared<L, D> *s, const struct work &w,
							 int y, int lane) {
	const int disparities = disparities_of<D>(w.zncc);
	struct place<L, D> p;

	p.s = s;
	p.left_base = 0;
	p.right_base[0] = disparities / 4 - 1 - lane;
	p.right_base[1] = p.right_base[0] - disparities / 8;
	p.partner = -w.zncc.min_disparity - 4 * lane;
	p.to = w.zncc.volume +
	       ((ptrdiff_t)y * w.zncc.width * disparities + SX_ZNCC_LANE_CELLS * lane) * CELLS::bytes;
	p.lowest = CELLS::bytes == 1 && lane == 0 && w.lowest ? w.lowest + (size_t)y * w.pitch : NULL;
	return p;
}

/*
 * The window of pixel x, the period's pixel i, is complete. CHECK: the row may end, or right columns may be outside the image where
 * that counts.
 */
template <int L, int D, typename CELLS, bool CHECK>
__device__ __forceinline__ void finish(struct sx_zncc_window<L> &window, CELLS &cells,
				       const struct place<L, D> &p, const struct sx_zncc_work &w, int i,
				       int x)
{
	const int c = i + shape<L, D>::radius;
	const uint4 left = p.left_stat(c);

	sx_zncc_meet<L>(window, p, c);
#pragma unroll
	for (int h = 0; h < 2; h++) {
#pragma unroll
		for (int k = 0; k < 4; k++) {
			typename CELLS::value cost = CELLS::template cost<L>(
				sx_zncc_products<L>(window, h, k), make_uint2(left.x, left.y),
				window.stat[h][(c + 3 - k) & 3]);

			if (CHECK && p.hidden(w, x, h, k))
				cost += CELLS::unseen;
			cells.step(h, k, cost, left);
		}
	}
	if (!CHECK || x < w.width)
		cells.store(p.to + (ptrdiff_t)i * disparities_of<D>(w) * CELLS::bytes);
}

template <int L, int D, typename CELLS, bool CHECK>
__device__ __forceinline__ void walk_segment(struct sx_zncc_window<L> &window, CELLS &cells,
					     struct place<L, D> &p, const struct sx_zncc_work &w, int first)
{
	typedef struct shape<L, D> S;
	uint32_t firsts[2] = {0, 0};

#pragma unroll 1
	for (int x = first; x < first + S::segment; x += S::period) {
#pragma unroll
		for (int i = 0; i < S::period; i++) {
			sx_zncc_enter<L>(window, p, i + L - 1);
			finish<L, D, CELLS, CHECK>(window, cells, p, w, i, x + i);
			sx_zncc_leave<L>(window, p, i);
			cells.put_first(firsts, i % 4);
			/* four at once: planes end with whole batches */
			if (i % 4 == 3 && p.lowest && (!CHECK || x + i - 3 < w.width))
				sx_words_store<2>((uint8_t *)(p.lowest + i - 3), firsts);
		}
		p.advance();
		p.lowest += p.lowest ? S::period : 0;
		p.to += (ptrdiff_t)S::period * disparities_of<D>(w) * CELLS::bytes;
	}
}

template <int L, int D, typename CELLS>
__global__ void __launch_bounds__(THREADS, blocks_of<L, D>(CELLS::bytes)) walk_kernel(const struct work w)
{
	typedef struct shape<L, D> S;
	typedef struct shared<L, D> row_columns;
	SX_DYNAMIC_SHARED(row_columns, rows);
	const int lanes = disparities_of<D>(w.zncc) / SX_ZNCC_LANE_CELLS;
	const int lane = (int)threadIdx.x % lanes, row = (int)threadIdx.x / lanes;
	const int first = (int)blockIdx.x * w.rows, y = first + row;
	const int right_ahead = S::ahead + disparities_of<D>(w.zncc) - 1;
	struct place<L, D> p = find_place<L, D, CELLS>(rows + row, w, y, lane);
	struct sx_zncc_window<L> window;
	CELLS cells = {};

	stage_left<L, D, CELLS>(rows, w, first, 0, S::ahead);
	stage_right<L, D>(rows, w, first, 0, right_ahead);
	__syncthreads();
	sx_zncc_begin<L>(window, p);
#pragma unroll
	for (int c = 0; c < L - 1; c++)
		sx_zncc_enter<L>(window, p, c);
#pragma unroll 1
	for (int x = 0; x < w.zncc.width; x += S::segment) {
		if (x + S::segment < w.zncc.width) {
			stage_left<L, D, CELLS>(rows, w, first, x + S::ahead, S::segment);
			stage_right<L, D>(rows, w, first, x + right_ahead, S::segment);
		}
		if (y >= w.zncc.height)
			; /* nobody's row: staged with the others */
		else if (x + S::segment > w.zncc.width ||
			 (w.zncc.no_view && sx_zncc_any_hidden(w.zncc, x, S::segment)))
			walk_segment<L, D, CELLS, true>(window, cells, p, w.zncc, x);
		else
			walk_segment<L, D, CELLS, false>(window, cells, p, w.zncc, x);
		__syncthreads(); /* the next segment is there, and this one is read */
	}
}

template <int L, int D, typename CELLS> void launch(struct work w, cudaStream_t stream)
{
	const int lanes = w.zncc.disparities / SX_ZNCC_LANE_CELLS;
	const int rows = THREADS / lanes, fit = (int)(SHARED_MAX / sizeof(struct shared<L, D>));

	w.rows = (rows < fit ? rows : fit) / 2 * 2;
	SX_LAUNCH((walk_kernel<L, D, CELLS>), dim3((unsigned)((w.zncc.height + w.rows - 1) / w.rows)),
		  dim3((unsigned)(w.rows * lanes)), (size_t)w.rows * sizeof(struct shared<L, D>), stream, w);
}

template <int L> void launch_window(const struct work &w, bool is_real, cudaStream_t stream)
{
	if (is_real)
		launch<L, 0, real>(w, stream);
	else if (w.zncc.disparities == 128)
		launch<L, 128, whole>(w, stream);
	else
		launch<L, 0, whole>(w, stream);
}

} // namespace

/*
 * Measured on an H200 at 1280x384: with 24 and 48 rows of D = 128 for each multiprocessor this is 0.1 to 0.25 ms faster than two
 * kernels up to windows of 9, even at 11, and slower from 13 on, where the zigzag scan of the other way does less; with 3
 * rows, slower everywhere, as waiting for memory is not hidden. Where between 3 and 24 it turns is an estimate. With fewer
 * disparities rings, which have room for 256, leave multiprocessors without threads.
 */
#define ROWS_WORTH_IT 8
#define WINDOW_WORTH_IT 11

extern "C" bool sx_dt_zncc_is_worth_it(const struct sx_dt_planes *planes, const struct sx_stereo_params *p,
				       int sms)
{
	const int rows = planes->height * p->disparities / 128;

	return p->disparities >= 128 && p->zncc_window <= WINDOW_WORTH_IT && rows >= sms * ROWS_WORTH_IT;
}

extern "C" cudaError_t sx_dt_zncc_run(const struct sx_dt_planes *planes, const struct sx_stereo_params *p,
				      const struct sx_image grey[2], const struct sx_image words[2],
				      uint8_t *out, bool lowest, cudaStream_t stream)
{
	const struct work w = {
		{
			{(const uint8_t *)grey[0].data, (const uint8_t *)grey[1].data},
			{(const uint8_t *)words[0].data, (const uint8_t *)words[1].data},
			{grey[0].pitch, grey[1].pitch},
			{words[0].pitch, words[1].pitch},
			out,
			planes->width,
			planes->height,
			p->disparities,
			p->min_disparity,
			p->out_of_view == SX_OUT_OF_VIEW_MAX,
		},
		planes->across,
		lowest ? (int16_t *)planes->lowest : NULL,
		planes->pitch,
		0,
	};

	switch (p->zncc_window) {
	case 3:
		launch_window<3>(w, planes->real, stream);
		break;
	case 5:
		launch_window<5>(w, planes->real, stream);
		break;
	case 7:
		launch_window<7>(w, planes->real, stream);
		break;
	case 9:
		launch_window<9>(w, planes->real, stream);
		break;
	case 11:
		launch_window<11>(w, planes->real, stream);
		break;
	case 13:
		launch_window<13>(w, planes->real, stream);
		break;
	case 15:
		launch_window<15>(w, planes->real, stream);
		break;
	default:
		return cudaErrorInvalidValue;
	}
	return SX_LAUNCHED();
}
