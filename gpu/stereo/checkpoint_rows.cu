/*
 * Paths to the right of the checkpoint flow, and the winner.
 *
 * Work:    a warp walks four rows, a group of eight lanes one row, in segments of eight columns from the
 *          left. First it walks left again from the checkpoint, with V in registers and M in shared memory.
 *          Then it walks to the right, where both paths are added. As soon as the sum of all paths is known,
 *          in registers, it finds the winner of both images (gpu/stereo/winner.cuh); each lane finishes one
 *          of the eight pixels. Or it stores the sum of both paths, for gpu/stereo/winner.cu.
 * Memory:  right descriptors in a ring (gpu/stereo/checkpoint_walk.cuh). Vertical sums of a segment, which
 *          keys replace. For the right map, keys that leave the lower half of the disparities wait D/2
 *          columns in a ring. 15 KB per warp.
 * Ranges:  2 (P2 + Cmax) <= 255, so sums of two paths are bytes. Winner: S <= SX_WINNER_NARROW, D = 128.
 * Shapes:  any width, height; D = 32, 64, .. 256.
 * Speed:   tests/lab/lab-performance.md, "CUDA: checkpoints".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/stereo/checkpoint_walk.cuh"

#define WINNER_LANES 8
#define WINNER_SHIFT SX_WINNER_NARROW_SHIFT
#define WINNER_HALF 64			/* disparities */
#define ROW_WARPS(N) ((N) > 4 ? 8 : 12) /* warps whose registers should fit a multiprocessor */

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

/*
 * Returns the words of a column in shared memory: first V, then M of its lanes. The winner's keys replace
 * them.
 */
template <int N, bool WINNER> __host__ __device__ constexpr int column_words()
{
	return WINNER ? 76 : 8 * N + 4;
}

/*
 * Returns the words of a group: its columns, and for the winner the ring. Lanes that write at the same time
 * use different banks.
 */
template <int N, bool WINNER> __host__ __device__ constexpr int group_words()
{
	return SEGMENT * column_words<N, WINNER>() + (WINNER ? WINNER_HALF + 24 : 24);
}

/*
 * Fetches the vertical sums of count columns, or zeros if there are none. from: sums of the first column.
 * whole: count is SEGMENT.
 */
template <int N, bool whole>
__device__ __forceinline__ void fetch_vertical(uint32_t *columns, const uint8_t *from, int count)
{
	const uint32_t zeros[N] = {};

#pragma unroll
	for (int k = 0; k < SEGMENT; k++) {
		uint32_t *to = columns + k * column_words<N, true>();

		if (from)
			sx_words_copy<N>(to, from + (whole ? k : min(k, count - 1)) * (32 * N));
		else
			sx_words_store<N>(reinterpret_cast<uint8_t *>(to), zeros);
	}
	sx_words_commit();
}

/* State of the winner search. ring: of the right map. */
struct finder {
	uint32_t run[8]; /* see gpu/stereo/winner.cuh */
	uint32_t *columns, *ring;
	int leaving_at;
	int right_from, right_to; /* columns of the right map that belong to the part */
	int own_from;		  /* columns of the left map that belong to the part */
};

/*
 * Finishes a pixel of the right map. The key that leaves the group at left column x is combined with the key
 * that left the lower half D/2 columns before. The result is the best key of right column x + 1 - D.
 */
template <bool PARTS>
__device__ __forceinline__ void finish_right(struct finder *f, uint32_t leaving, int x,
					     const struct row_place &p, const struct sx_checkpoint_work &w)
{
	uint32_t *const waiting = f->ring + x % WINNER_HALF;
	const uint32_t low = *waiting & 0xffff, high = leaving >> 16;
	/* only V decides between the halves; if equal, the lower half wins */
	const bool low_wins = (low | SX_WINNER_RANKS) >= high;
	const int at = x + 1 - 2 * WINNER_HALF;

	*waiting = leaving;
	if (p.live && at >= (PARTS ? f->right_from : 0) && at < (PARTS ? f->right_to : w.width))
		reinterpret_cast<uint16_t *>(w.winner_right + (size_t)p.y * w.right_map_pitch)[at] =
			(uint16_t)(low_wins ? WINNER_HALF - 1 - (low & SX_WINNER_RANKS)
					    : 2 * WINNER_HALF - 1 - (high & SX_WINNER_RANKS));
}

/* Returns the key that left the previous lane one column earlier. Every lane of the warp must call it. */
__device__ __forceinline__ uint32_t enter_from(uint32_t leaving, int g)
{
	const uint32_t before = __shfl_up_sync(SX_ALL_LANES, leaving, SX_CHECKPOINT_APART);

	return g > 0 ? before + SX_WINNER_LANE_UP : 0;
}

/* Stores the keys of columns x and x + 1 at places u and u + 1. */
__device__ __forceinline__ void put_two(struct finder *f, const uint32_t (&keys)[2][8], int u, int g)
{
	const uint32_t enter = enter_from(f->run[7], g), leaves = sx_winner_leaves(f->run, keys[0]);
	uint32_t *at = f->columns + u * column_words<4, true>();

	sx_winner_right(f->run, keys[0], keys[1], enter, enter_from(leaves, g));
	sx_winner_put<WINNER_SHIFT, SX_CHECKPOINT_APART>(at, keys[0], leaves, WINNER_LANES, g, f->leaving_at);
	sx_winner_put<WINNER_SHIFT, SX_CHECKPOINT_APART>(at + column_words<4, true>(), keys[1], f->run[7],
							 WINNER_LANES, g, f->leaving_at);
}

/* Finishes the lane's own column of the segment at x0. Every lane of the warp must call it. */
template <bool PARTS>
__device__ __forceinline__ void finish_segment(struct finder *f, int x0, const struct row_place &p,
					       const struct sx_checkpoint_work &w)
{
	uint32_t *own = f->columns + p.g * column_words<4, true>();
	const int x = x0 + p.g;

	__syncwarp();
	finish_right<PARTS>(f, own[f->leaving_at], x, p, w);
	if (p.live && x < w.width && (!PARTS || x0 >= f->own_from)) {
		const struct sx_winner_result r =
			sx_winner_finish<WINNER_LANES, WINNER_SHIFT, SX_CHECKPOINT_APART>(own, WINNER_LANES,
											  w.options);

		reinterpret_cast<uint16_t *>(w.winner + (size_t)p.y * w.winner_pitch)[x] = r.disparity;
		w.confidence[(size_t)p.y * w.confidence_pitch + (size_t)x] = r.confidence;
	}
	__syncwarp();
}

/* Finishes the last columns of the right image. Left columns beyond the row, without keys, push them out. */
template <bool PARTS>
__device__ __forceinline__ void finish_rest(struct finder *f, const struct row_place &p,
					    const struct sx_checkpoint_work &w)
{
	const uint32_t none[2][8] = {};

	for (int x0 = SEGMENT * w.segments; x0 < w.width + 2 * WINNER_HALF - 1; x0 += SEGMENT) {
		for (int u = 0; u < SEGMENT; u += 2)
			put_two(f, none, u, p.g);
		__syncwarp();
		finish_right<PARTS>(f, f->columns[p.g * column_words<4, true>() + f->leaving_at], x0 + p.g, p,
				    w);
		__syncwarp();
	}
}

/*
 * Adds up V of all paths. Bytes, which hold two paths each, are added as pairs. The words are 2 i and 2 i + 1
 * of the lane's disparities.
 */
__device__ __forceinline__ void add_up(uint32_t (&sums)[8], const uint32_t (&a)[4], const uint32_t (&b)[4])
{
#pragma unroll
	for (int i = 0; i < 4; i++) {
		sums[2 * i] = sx_pair_even(a[i]) + sx_pair_even(b[i]);
		sums[2 * i + 1] = sx_pair_odd(a[i]) + sx_pair_odd(b[i]);
	}
}

/* State of a lane along its row. */
template <int N> struct walk {
	struct sx_path_lane lane;
	struct sx_path_state<N> s;		/* state to the right */
	struct sx_match_left left[SEGMENT / 2]; /* left descriptors of the current segment */
	struct finder f;
	const uint8_t *vertical, *checkpoints; /* sums and checkpoints of the row, or NULL */
	uint32_t checkpoint[N];		       /* checkpoint of the current segment */
	uint8_t *horizontal;
	/* the lane's words of the segment's first column, and right descriptors; both in shared memory */
	uint32_t *mine, *ring;
	const uint32_t *p2_table;
};

template <int N> __device__ __forceinline__ void load_checkpoint(struct walk<N> *k, int b)
{
	sx_words_load<N>(k->checkpoint,
			 reinterpret_cast<const uint32_t *>(k->checkpoints + (size_t)b * (32 * N)));
}

/* Walks left again along the segment at x0: writes V to there, and M to shared memory. */
template <int N, bool RARE, bool WINNER, bool whole>
__device__ __forceinline__ void walk_back(uint32_t (&there)[SEGMENT][N], struct walk<N> *k, int b, int x0,
					  int count, const struct row_place &p,
					  const struct sx_checkpoint_work &w)
{
	constexpr int stride = column_words<N, WINNER>(), match_at = WINNER ? 8 * N : 0;
	struct sx_path_state<N> back;
	struct window<N> n;

#pragma unroll
	for (int i = 0; i < SEGMENT / 2; i++)
		n.left[i] = k->left[i];
	load_ring<N>(&n, k->ring, x0, SEGMENT / 2 - 1, N + 1, p.g);
	if (b + 1 < w.segments)
		sx_path_resume<N, SX_CHECKPOINT_GROUP, SX_CHECKPOINT_APART>(&back, &k->lane, k->checkpoint);
	else
		sx_path_start(&back, &k->lane);
	load_checkpoint<N>(k, min(b + 1, w.segments - 1));
#pragma unroll
	for (int i = SEGMENT - 2; i >= 0; i -= 2) {
		uint32_t match[2][2 * N];

		if (i < SEGMENT - 2)
			load_ring<N>(&n, k->ring, x0, i / 2, 1, p.g);
		match_two<N, RARE>(match[0], match[1], n, i, x0, p, w);
#pragma unroll
		for (int u = 1; u >= 0; u--) {
			uint32_t words[N];

			if (whole || i + u < count)
				step_row<N, RARE>(&back, k->lane, match[u], k->p2_table, x0 + i + u, -1, p,
						  w);
			sx_path_words<N>(there[i + u], back.v);
			sx_path_words<N>(words, match[u]);
			sx_words_store<N>(reinterpret_cast<uint8_t *>(k->mine + (i + u) * stride + match_at),
					  words);
		}
	}
}

/* Walks right along the segment. there: V to the left. */
template <int N, bool RARE, bool WINNER, bool whole>
__device__ __forceinline__ void walk_right(const uint32_t (&there)[SEGMENT][N], struct walk<N> *k, int x0,
					   int count, const struct row_place &p,
					   const struct sx_checkpoint_work &w)
{
	constexpr int stride = column_words<N, WINNER>(), match_at = WINNER ? 8 * N : 0;

#pragma unroll
	for (int i = 0; i < SEGMENT; i += 2) {
		uint32_t keys[2][8];

#pragma unroll
		for (int u = 0; u < 2; u++) {
			const int x = x0 + i + u;
			uint32_t match[N], v[N];

			sx_words_load<N>(match, k->mine + (i + u) * stride + match_at);
			sx_checkpoint_step<N, RARE>(
				&k->s, k->lane, match,
				RARE ? sx_checkpoint_p2_cut(k->p2_table, w, x, p.y, -1, 0) : 0, v);
#pragma unroll
			for (int j = 0; j < N; j++)
				v[j] += there[i + u][j]; /* added as bytes: there is no carry */
			if (WINNER) {
				uint32_t sums[8], vertical[4], both[4] = {};

				sx_words_load<4>(vertical, k->mine + (i + u) * stride);
#pragma unroll
				for (int j = 0; j < 4; j++)
					both[j] = v[j % N];
				add_up(sums, vertical, both);
				sx_winner_keys(keys[u], sums, w.scale);
				if (!whole && i + u >= count)
#pragma unroll
					for (int r = 0; r < 8; r++)
						keys[u][r] = 0;
			} else if (p.live && (whole || i + u < count)) {
				sx_words_store<N>(k->horizontal + (size_t)x * (32 * N), v);
			}
		}
		if (WINNER) {
			__syncwarp(); /* V and M of both columns have been read */
			put_two(&k->f, keys, i, p.g);
		}
	}
}

template <int N, bool RARE, bool WINNER, bool PARTS, bool whole>
__device__ __forceinline__ void do_segment(struct walk<N> *k, int b, const struct row_place &p,
					   const struct sx_checkpoint_work &w)
{
	const int x0 = SEGMENT * b, count = whole ? SEGMENT : w.width - x0;
	uint32_t there[SEGMENT][N];

	/* These loads arrive while the warp walks back. */
	fetch_ring<N>(k->ring, p, x0 + SEGMENT + 32 * N, w);
	if (WINNER)
		fetch_vertical<N, whole>(k->mine, k->vertical ? k->vertical + (size_t)x0 * (32 * N) : NULL,
					 count);
	walk_back<N, RARE, WINNER, whole>(there, k, b, x0, count, p, w);
	sx_words_wait<0>();
	__syncwarp();
	if (whole && b + 1 < w.segments)
		load_left(k->left, p, x0 + SEGMENT);
	walk_right<N, RARE, WINNER, whole>(there, k, x0, count, p, w);
	if (WINNER)
		finish_segment<PARTS>(&k->f, x0, p, w);
}

/* Segments of a row: all segments, or the segments of one part. */
struct part {
	int begin, end;
};

/* Starts a walk. blockIdx.y: index of the part if there are two. */
template <int N, bool PARTS>
__device__ __forceinline__ void start_walk(struct walk<N> *k, struct part *part, const struct row_place &p,
					   const struct sx_checkpoint_work &w)
{
	/* border between the parts in the right map */
	const int between = SEGMENT * w.owned + 1 - 2 * WINNER_HALF;
	const bool second = PARTS && blockIdx.y > 0;

	part->begin = second ? w.second : 0;
	part->end = PARTS && !second ? w.owned : w.segments;
	k->f.own_from = second ? SEGMENT * w.owned : 0;
	k->f.right_from = second ? between : 0;
	k->f.right_to = part->end < w.segments ? between : w.width;
	k->checkpoints = w.leftwards + (size_t)p.y * (size_t)w.segments * (32 * N) + 4 * N * p.g;
	load_checkpoint<N>(k, part->begin);
	sx_path_start(&k->s, &k->lane);
	if (second) {
		uint32_t words[N];

		sx_words_load<N>(words, reinterpret_cast<const uint32_t *>(
						w.rightwards + (size_t)p.y * (32 * N) + 4 * N * p.g));
		sx_path_resume<N, SX_CHECKPOINT_GROUP, SX_CHECKPOINT_APART>(&k->s, &k->lane, words);
	}
}

template <int N, bool RARE, bool WINNER, bool PARTS>
__global__ void __launch_bounds__(32, ROW_WARPS(N)) rows_kernel(const struct sx_checkpoint_work w)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);
	uint32_t *const rings = shared + GROUPS * group_words<N, WINNER>();
	uint32_t *const p2_table = rings + GROUPS * ring_stride<N>();
	const struct row_place p = find_row(w, (int)blockIdx.x);
	uint32_t *const columns = shared + p.group * group_words<N, WINNER>();
	const size_t line = (size_t)p.y * (size_t)w.width * (32 * N) + 4 * N * p.g;
	struct walk<N> k;
	struct part part;
	int b;

	if (RARE)
		sx_p2_table_copy(p2_table, w.p2_table, 1, (int)blockDim.x);
	sx_checkpoint_lane<N>(&k.lane, w, 1);
	start_walk<N, PARTS>(&k, &part, p, w);
	k.p2_table = p2_table;
	k.vertical = w.vertical ? w.vertical + line : NULL;
	k.horizontal = WINNER ? NULL : w.horizontal + line;
	k.mine = columns + N * p.g;
	k.ring = rings + p.group * ring_stride<N>();
	k.f.columns = columns;
	k.f.ring = columns + SEGMENT * column_words<N, WINNER>();
	k.f.leaving_at = sx_winner_leaving_at(WINNER_LANES) + p.group;
#pragma unroll
	for (int r = 0; r < 8; r++)
		k.f.run[r] = 0;
	if (WINNER)
		for (int i = p.g; i < WINNER_HALF; i += SX_CHECKPOINT_GROUP)
			k.f.ring[i] = 0;
	for (int i = part.begin; i <= part.begin + 4 * N; i++)
		fetch_ring<N>(k.ring, p, SEGMENT * i, w);
	sx_words_wait<0>();
	__syncwarp();
	load_left(k.left, p, SEGMENT * part.begin);
	for (b = part.begin; b < min(part.end, w.width / SEGMENT); b++)
		do_segment<N, RARE, WINNER, PARTS, true>(&k, b, p, w);
	if (b < part.end)
		do_segment<N, RARE, WINNER, PARTS, false>(&k, b, p, w);
	if (WINNER && part.end == w.segments)
		finish_rest<PARTS>(&k.f, p, w);
}

template <int N, bool WINNER> constexpr size_t rows_bytes()
{
	return 4 * GROUPS * (group_words<N, WINNER>() + ring_stride<N>());
}

template <int N, bool RARE, bool WINNER, bool PARTS> struct rows_form {
	static constexpr size_t bytes = rows_bytes<N, WINNER>() + (RARE ? SX_P2_TABLE_SHARED : 0);

	static cudaError_t prepare()
	{
		return sx_checkpoint_prepare(rows_kernel<N, RARE, WINNER, PARTS>, bytes);
	}
	static void launch(const struct sx_checkpoint_work &w, cudaStream_t stream)
	{
		const dim3 blocks((unsigned)(w.height + GROUPS - 1) / GROUPS, PARTS ? 2 : 1);

		SX_LAUNCH((rows_kernel<N, RARE, WINNER, PARTS>), blocks, dim3(32), bytes, stream, w);
	}
};

/* Calls f(form) with the form of the kernel for w. */
template <typename F>
auto with_form(const struct sx_checkpoint_work *w, int disparities, F f)
	-> decltype(f(rows_form<1, false, false, false>()))
{
	if (w->horizontal)
		return sx_checkpoint_with(disparities, w->rare, [=](auto n) {
			return w->rightwards ? f(rows_form<n.n, n.rare, false, true>())
					     : f(rows_form<n.n, n.rare, false, false>());
		});
	return sx_checkpoint_with_rare<4>(w->rare, [=](auto n) {
		return w->rightwards ? f(rows_form<4, n.rare, true, true>())
				     : f(rows_form<4, n.rare, true, false>());
	});
}

} // namespace

cudaError_t sx_checkpoint_rows_prepare(const struct sx_checkpoint_work *w, int disparities)
{
	return with_form(w, disparities, [](auto form) { return form.prepare(); });
}

cudaError_t sx_checkpoint_rows_run(const struct sx_checkpoint_work *w, int disparities, cudaStream_t stream)
{
	with_form(w, disparities, [=](auto form) { form.launch(*w, stream); });
	return SX_LAUNCHED();
}
