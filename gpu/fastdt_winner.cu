/*
 * FastDT's last pass, up, and the winner. Must equal sx_fastdt() and sx_winner(), byte for byte. Meaning: stages/fastdt.h,
 * stages/winner.h; cells and recurrence: gpu/fastdt.cuh.
 *
 * Work:    a block walks some columns upwards, D/4 lanes each, eight rows at a time (float: four). Then, behind a barrier,
 *          a warp takes pixels for the left image: lanes look at four disparities each, and what they found is finished by
 *          a lane a pixel; and threads take pixels of the right image, diagonals of the block's S.
 * Memory:  reads U once, 8 (float: 4) to 16 rows ahead into shared memory; S of the rows at hand, 16 KB, stays there.
 *          Minima of the right image meet in one word a pixel by atomics: D / columns + 1 of them a pixel.
 * Ranges:  S 16 bits, keys S << 16 | d; V(d) - V(O) >= 0 by monotony, its product with R is formed in 64 bits.
 * Shapes:  any width and height, D any multiple of 32; shared memory at most 48 KB a block.
 * Speed:   not measured yet; docs/performance.md, "CUDA: FastDT".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/fastdt.cuh"

#include "gpu/fastdt_priv.h"
#include "gpu/warp.cuh"
#include "stages/winner.h"

#define THREADS_MAX 256
#define CELLS 1024 /* of a block's row */
#define BATCHES 2
#define NONE 0xffffffffu

namespace /* types and templates of one name in two files would be one for the linker */
{

struct work {
	struct sx_dt_planes planes;
	uint8_t *volume;
	uint8_t *left, *right, *confidence;
	size_t left_pitch, right_pitch, confidence_pitch;
	int disparities, columns;
	int uniqueness;
	enum sx_subpixel subpixel;
	bool keep;
};

/* D: disparities, or 0 where only the work knows; 128 is what the compiler should know. */
template <int D> __device__ __forceinline__ int disparities_of(const struct work &w)
{
	return D ? D : w.disparities;
}

template <int D> __device__ __forceinline__ int columns_of(const struct work &w)
{
	return D ? CELLS / (D ? D : 1) : w.columns;
}

/* Rows at a time: as many as fit shared memory. */
template <typename VALUE> __host__ __device__ constexpr int rows_of()
{
	return sizeof(typename sx_dt_plane<VALUE>::cell) == 2 ? 8 : 4;
}

template <bool HELD> __device__ __forceinline__ int hold(int v)
{
	return HELD ? max(min(v, (int)INT16_MAX), (int)INT16_MIN) : v;
}

template <bool HELD> __device__ __forceinline__ float hold(float v)
{
	return v;
}

__device__ __forceinline__ uint32_t sum_of(int above, uint32_t factor)
{
	return min((uint32_t)((uint64_t)(uint32_t)above * factor >> 16), 65535u);
}

__device__ __forceinline__ uint32_t sum_of(float above, uint32_t factor)
{
	return (uint32_t)min(max(__float2int_rn(above * __uint_as_float(factor)), 0), 65535);
}

/* A lane on its column. */
template <typename CELLS_OF, typename VALUE> struct climb {
	typedef typename sx_dt_plane<VALUE>::cell cell;
	typedef typename sx_dt_plane<VALUE>::weight weight;
	static const int rows = rows_of<VALUE>();

	sx_dt_ring<CELLS_OF::words, rows, BATCHES, true> ring;
	VALUE v[4], least;
	weight carried;
	uint16_t *sums; /* the lane's, of the block's first row */
	uint8_t *kept;	/* NULL: S is not kept */
	ptrdiff_t step; /* upwards */
};

/* What the lanes of a column read of the plane beside. */
template <typename VALUE> struct beside;

template <> struct beside<int> {
	uint2 v[rows_of<int>()];

	__device__ __forceinline__ void load(const struct sx_dt_planes &p, size_t at)
	{
#pragma unroll
		for (int i = 0; i < rows_of<int>(); i++)
			v[i] = reinterpret_cast<const uint2 *>(p.beside)[at + (size_t)i * p.pitch];
	}
	__device__ __forceinline__ uint32_t factor(int i) const
	{
		return v[i].x;
	}
	__device__ __forceinline__ int least(int i) const
	{
		return (int16_t)v[i].y;
	}
	__device__ __forceinline__ uint16_t weight(int i) const
	{
		return (uint16_t)(v[i].y >> 16);
	}
};

template <> struct beside<float> {
	uint4 v[rows_of<float>()];

	__device__ __forceinline__ void load(const struct sx_dt_planes &p, size_t at)
	{
#pragma unroll
		for (int i = 0; i < rows_of<float>(); i++)
			v[i] = reinterpret_cast<const uint4 *>(p.beside)[at + (size_t)i * p.pitch];
	}
	__device__ __forceinline__ uint32_t factor(int i) const
	{
		return v[i].x;
	}
	__device__ __forceinline__ float least(int i) const
	{
		return __uint_as_float(v[i].z);
	}
	__device__ __forceinline__ float weight(int i) const
	{
		return __uint_as_float(v[i].w);
	}
};

/* S of a batch into shared memory. O goes along in every lane; first: where its own cell is, V(0) = 0 takes its place. */
template <int D, typename CELLS_OF, typename VALUE, bool HELD, bool CUT>
__device__ __forceinline__ void climb_batch(struct climb<CELLS_OF, VALUE> &c, const uint32_t *slots,
					    const struct beside<VALUE> &b, const struct work &w, bool first)
{
	constexpr int rows = rows_of<VALUE>();
	const int disparities = disparities_of<D>(w), row = columns_of<D>(w) * disparities;

#pragma unroll
	for (int i = 0; i < rows; i++) {
		const int place = rows - 1 - i;

		if (!CUT || c.ring.exists(i)) {
			uint32_t words[CELLS_OF::words], s[4];
			VALUE in[4];

			sx_words_load<CELLS_OF::words>(words, slots + i * c.ring.stride);
			CELLS_OF::get(in, words, 0);
			c.least = hold<HELD>(sx_dt_step(b.least(place), c.least, c.carried));
#pragma unroll
			for (int k = 0; k < 4; k++) {
				c.v[k] = hold<HELD>(sx_dt_step(in[k], c.v[k], c.carried));
				s[k] = sum_of((k == 0 && first ? 0 : c.v[k]) - c.least, b.factor(place));
			}

			const uint32_t low = s[0] | s[1] << 16, high = s[2] | s[3] << 16;
			uint32_t *sums = reinterpret_cast<uint32_t *>(c.sums + i * row);

			sums[0] = low;
			sums[disparities / 4] = high; /* D/2 further */
			if (c.kept)
				*reinterpret_cast<uint2 *>(c.kept) = make_uint2(low, high);
		}
		c.carried = b.weight(place);
		if (c.kept)
			c.kept += c.step;
	}
}

/* Keys S << 16 | d of a lane's disparities: four of each WORDS * 128. */
template <int WORDS>
__device__ __forceinline__ void load_keys(uint32_t (&keys)[4 * WORDS], const uint2 *sums, int disparities,
					  int lane)
{
#pragma unroll
	for (int k = 0; k < WORDS; k++) {
		const int i = lane + 32 * k;
		const uint2 s = i < disparities / 4 ? sums[i] : make_uint2(0xffffffffu, 0xffffffffu);

		keys[4 * k] = __byte_perm(s.x, 4 * (uint32_t)i, 0x1054);
		keys[4 * k + 1] = __byte_perm(s.x, 4 * (uint32_t)i + 1, 0x3254);
		keys[4 * k + 2] = __byte_perm(s.y, 4 * (uint32_t)i + 2, 0x1054);
		keys[4 * k + 3] = __byte_perm(s.y, 4 * (uint32_t)i + 3, 0x3254);
	}
}

/* The smallest one of the pixel. Every lane of the warp reaches this. */
template <int WORDS> __device__ __forceinline__ uint32_t find_winner(const uint32_t (&keys)[4 * WORDS])
{
	uint32_t best = keys[0];

#pragma unroll
	for (int k = 1; k < 4 * WORDS; k++)
		best = min(best, keys[k]);
	return sx_warp_min(best);
}

/* The smallest S but for the winner and its neighbours. Every lane of the warp reaches this. */
template <int WORDS>
__device__ __forceinline__ uint32_t find_rival(const uint32_t (&keys)[4 * WORDS], int winner, int lane)
{
	const int first = 4 * lane - winner + 1;
	uint32_t best = 0xffffffffu;

#pragma unroll
	for (int k = 0; k < 4 * WORDS; k++)
		if ((uint32_t)(first + k % 4 + 128 * (k / 4)) > 2u)
			best = min(best, keys[k]);
	return sx_warp_min(best) >> 16;
}

/* before, after: S of the neighbours, less the winner's. */
__device__ __forceinline__ int refined(int before, int after, enum sx_subpixel how)
{
	const int den = before + after, a = 16 * (before - after) + den, b = 2 * den;
	const int q = a / b;

	return how == SX_SUBPIXEL_FLOOR && a < 0 && q * b != a ? q - 1 : q;
}

/* One lane, one pixel. key: the winner's; rival: NONE: nobody asked. */
__device__ __forceinline__ void finish_pixel(const struct work &w, const uint16_t *sums, uint32_t key,
					     uint32_t rival, int x, int y)
{
	const int d0 = (int)(key & 0xffff), s0 = (int)(key >> 16), end = w.disparities - 1;
	const bool at_end = d0 == 0 || d0 == end;
	const int before = sums[max(d0 - 1, 0)] - s0, after = sums[min(d0 + 1, end)] - s0;
	int q4 = 16 * d0, confidence = max(before, after) * 255 / SX_WINNER_RISE_FASTDT;

	if (at_end)
		confidence = d0 == 0 && after == 0 ? 0 : SX_WINNER_CONFIDENCE_END;
	else if (w.subpixel != SX_SUBPIXEL_OFF)
		q4 += refined(before, after, w.subpixel);
	if (rival != NONE && 100 * s0 > w.uniqueness * (int)rival)
		q4 = SX_DISPARITY_INVALID;
	reinterpret_cast<uint16_t *>(w.left + (size_t)y * w.left_pitch)[x] = (uint16_t)q4;
	w.confidence[(size_t)y * w.confidence_pitch + (size_t)x] = (uint8_t)min(confidence, 255);
}

/* The block's pixels, a run of them for each warp: at most 32. y: of the batch's lowest row, its first. */
template <int D, int rows>
__device__ __forceinline__ void find_left(const struct work &w, const uint16_t *sums, int first_x, int y)
{
	const int warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32, lane = (int)threadIdx.x % 32;
	const int columns = columns_of<D>(w), disparities = disparities_of<D>(w);
	constexpr int words = D && D <= 128 ? 1 : 2; /* of four disparities, of a lane */
	const int pixels = rows * columns, run = (pixels + warps - 1) / warps, begin = warp * run;
	uint32_t key = 0, rival = NONE;

	for (int i = begin; i < min(begin + run, pixels); i++) {
		uint32_t keys[4 * words], best, other = NONE;

		if (first_x + i % columns >= w.planes.width || y - i / columns >= w.planes.height)
			continue;
		load_keys<words>(keys, reinterpret_cast<const uint2 *>(sums + i * disparities), disparities,
				 lane);
		best = find_winner<words>(keys);
		if (w.uniqueness < 100)
			other = find_rival<words>(keys, (int)(best & 0xffff), lane);
		key = lane == i - begin ? best : key;
		rival = lane == i - begin ? other : rival;
	}

	const int mine = begin + lane, x = first_x + mine % columns, row = y - mine / columns;

	if (lane < run && mine < pixels && x < w.planes.width && row < w.planes.height)
		finish_pixel(w, sums + mine * disparities, key, rival, x, row);
}

/* Left pixel first_x + c meets the right one first_x - (D - 1) + j at d = c + D - 1 - j. */
/* Keys count d from that of the first column on, at which they begin. */
template <int D, int rows>
__device__ __forceinline__ void find_right(const struct work &w, const uint16_t *sums, int first_x, int y)
{
	const int disparities = disparities_of<D>(w), columns = columns_of<D>(w);
	const int last = disparities - 1, span = columns + last;
	const int count = min(columns, w.planes.width - first_x); /* columns that exist */
	int row = 0;

	for (int j = (int)threadIdx.x;; j += (int)blockDim.x) {
		for (; j >= span; j -= span)
			row++;
		if (row >= rows)
			return;

		const int x = first_x - last + j, begin = max(j - last, 0), end = min(j + 1, count);
		const uint16_t *s = sums + (row * columns + begin) * disparities + (begin + last - j);
		uint32_t best = NONE;

		if (x < 0 || begin >= end || y - row >= w.planes.height)
			continue;
		if (D && end - begin == columns) {
#pragma unroll
			for (int c = 0; c < CELLS / (D ? D : CELLS); c++)
				best = min(best, __byte_perm(s[c * (disparities + 1)], (uint32_t)c, 0x1054));
		} else {
			for (int c = begin; c < end; c++, s += disparities + 1)
				best = min(best, (uint32_t)*s << 16 | (uint32_t)(c - begin));
		}
		atomicMin(w.planes.keys + (size_t)(y - row) * w.planes.pitch + (size_t)x,
			  best + (uint32_t)(begin + last - j));
	}
}

template <typename CELLS_OF, typename VALUE>
__device__ __forceinline__ void start_climb(struct climb<CELLS_OF, VALUE> &c, const struct work &w, int x,
					    int column, int lane, uint16_t *sums, uint32_t *shared)
{
	const int lanes = w.disparities / 4;
	const int row = w.planes.width * lanes * (CELLS_OF::words * 4);
	uint8_t *base = w.volume + ((size_t)x * (size_t)lanes + (size_t)lane) * (CELLS_OF::words * 4);

	c.ring.start(base, row, w.planes.height, shared);
	c.sums = sums + column * w.disparities + 2 * lane;
	c.kept = w.keep ? base + (ptrdiff_t)(c.ring.batches * rows_of<VALUE>() - 1) * row : NULL;
	c.step = -row;
	c.carried = 0;
	c.least = 0;
#pragma unroll
	for (int k = 0; k < 4; k++)
		c.v[k] = 0;
}

template <int D, typename CELLS_OF, typename VALUE, bool HELD>
__global__ void __launch_bounds__(THREADS_MAX) winner_kernel(const struct work w)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);
	constexpr int rows = rows_of<VALUE>();
	const int lanes = disparities_of<D>(w) / 4, column = (int)threadIdx.x / lanes,
		  lane = (int)threadIdx.x % lanes;
	const int first_x = (int)blockIdx.x * columns_of<D>(w), x = min(first_x + column, w.planes.width - 1);
	const bool lives = first_x + column == x; /* others take part behind the barriers alone */
	uint16_t *sums =
		reinterpret_cast<uint16_t *>(shared + rows * BATCHES * CELLS_OF::words * (int)blockDim.x);
	const int batches = (w.planes.height + rows - 1) / rows;
	struct climb<CELLS_OF, VALUE> c;
	struct beside<VALUE> here, next;

	start_climb(c, w, x, column, lane, sums, shared);
	here.load(w.planes, (size_t)((batches - 1) * rows) * w.planes.pitch + (size_t)x);
	for (int b = 0; b < batches; b++) {
		const int y = (batches - b) * rows - 1; /* lowest row of the batch */

		if (lives) {
			const uint32_t *slots = c.ring.turn();

			next.load(w.planes, (size_t)max(y + 1 - 2 * rows, 0) * w.planes.pitch + (size_t)x);
			if (b == 0 && c.ring.cut < rows)
				climb_batch<D, CELLS_OF, VALUE, HELD, true>(c, slots, here, w, lane == 0);
			else
				climb_batch<D, CELLS_OF, VALUE, HELD, false>(c, slots, here, w, lane == 0);
			here = next;
		}
		__syncthreads(); /* S is there */
		find_left<D, rows>(w, sums, first_x, y);
		find_right<D, rows>(w, sums, first_x, y);
		__syncthreads(); /* and is not needed any more */
	}
	sx_words_wait<0>();
}

__global__ void __launch_bounds__(256) right_kernel(const struct work w)
{
	const int x = (int)(blockIdx.x * 256 + threadIdx.x), y = (int)blockIdx.y;

	if (x < w.planes.width)
		reinterpret_cast<uint16_t *>(w.right + (size_t)y * w.right_pitch)[x] =
			(uint16_t)w.planes.keys[(size_t)y * w.planes.pitch + (size_t)x];
}

template <int D, typename CELLS_OF, typename VALUE, bool HELD>
void launch_as(const struct work &w, cudaStream_t stream)
{
	const int threads = w.columns * w.disparities / 4, rows = rows_of<VALUE>();
	const size_t ring = (size_t)(rows * BATCHES * CELLS_OF::words * threads) * 4;
	const size_t sums = (size_t)(rows * w.columns * w.disparities) * 2;

	SX_LAUNCH((winner_kernel<D, CELLS_OF, VALUE, HELD>),
		  dim3((unsigned)((w.planes.width + w.columns - 1) / w.columns)), dim3((unsigned)threads),
		  ring + sums, stream, w);
}

template <typename CELLS_OF, typename VALUE, bool HELD> void launch(const struct work &w, cudaStream_t stream)
{
	if (w.disparities == 128)
		launch_as<128, CELLS_OF, VALUE, HELD>(w, stream);
	else
		launch_as<0, CELLS_OF, VALUE, HELD>(w, stream);
}

/* Columns of a block: a power of two, and whole warps. */
int choose_columns(int disparities)
{
	int columns = 4;

	while (2 * columns * disparities <= CELLS)
		columns *= 2;
	return columns;
}

/* S as the volume keeps it: words of gpu/volume.cuh, two bytes a cell. */
__global__ void __launch_bounds__(256)
	sum_kernel(const uint8_t *volume, int bytes, int width, int disparities, uint8_t *sum, size_t pitch)
{
	const int lanes = disparities / 4, i = (int)(blockIdx.x * 256 + threadIdx.x), x = i / lanes,
		  lane = i % lanes;

	if (x >= width)
		return;

	const size_t at = ((size_t)blockIdx.y * (size_t)width + (size_t)x) * (size_t)lanes + (size_t)lane;
	const uint2 s = *reinterpret_cast<const uint2 *>(volume + at * (size_t)bytes);
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
	const struct work w = {
		*p,
		volume,
		(uint8_t *)winner->data,
		(uint8_t *)winner_right->data,
		(uint8_t *)confidence->data,
		winner->pitch,
		winner_right->pitch,
		confidence->pitch,
		s->disparities,
		choose_columns(s->disparities),
		s->uniqueness,
		s->subpixel,
		keep,
	};

	if (p->real)
		launch<sx_dt_reals, float, false>(w, stream);
	else if (held)
		launch<sx_dt_halves, int, true>(w, stream);
	else
		launch<sx_dt_halves, int, false>(w, stream);
	SX_LAUNCH(right_kernel, dim3((unsigned)(p->width + 255) / 256, (unsigned)p->height), dim3(256), 0,
		  stream, w);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_dt_sum_run(const struct sx_dt_planes *p, const struct sx_stereo_params *s,
				     const uint8_t *volume, const struct sx_image *sum, cudaStream_t stream)
{
	const int lanes = s->disparities / 4;

	SX_LAUNCH(sum_kernel, dim3((unsigned)(p->width * lanes + 255) / 256, (unsigned)p->height), dim3(256),
		  0, stream, volume, p->real ? 16 : 8, p->width, s->disparities, (uint8_t *)sum->data,
		  sum->pitch);
	return SX_LAUNCHED();
}
