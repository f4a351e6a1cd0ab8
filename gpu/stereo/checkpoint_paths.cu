/*
 * All paths of the checkpoint flow except diagonal paths and paths to the right, see
 * gpu/stereo/checkpoint_columns.cuh and checkpoint_walk.cuh.
 *
 * Work:    down; then up and to the left, in one launch. Blocks that walk to the left (one warp per four
 *          rows) use the multiprocessors that the blocks walking up leave idle.
 * Shapes:  any width, height; D = 32, 64, .. 256.
 * Speed:   tests/lab/lab-performance.md, "CUDA: checkpoints".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/stereo/checkpoint_columns.cuh"
#include "gpu/stereo/checkpoint_walk.cuh"

namespace
{

template <int N, bool RARE>
__global__ void __launch_bounds__(THREADS, DOWN_BLOCKS(N)) down_kernel(const struct sx_checkpoint_work w)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);

	walk_down<N, RARE, false>(shared, w);
}

__host__ __device__ __forceinline__ int row_blocks(const struct sx_checkpoint_work &w)
{
	return (w.height + WARPS * GROUPS - 1) / (WARPS * GROUPS);
}

/* Walks up and to the left. blocks: number of blocks that walk up. */
template <int N, bool RARE>
__global__ void __launch_bounds__(THREADS, UP_BLOCKS(N))
	up_left_kernel(const struct sx_checkpoint_work w, int blocks)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);
	const int warp = (int)threadIdx.x / 32, row_block = (int)blockIdx.x - blocks, rows = row_blocks(w);
	const int row_warp = row_block % rows * WARPS + warp;
	uint32_t *const rings = shared + warp * GROUPS * ring_stride<N>();
	uint32_t *const p2_table = shared + WARPS * GROUPS * ring_stride<N>();

	if (row_block < 0) {
		walk_up<N, RARE, false>(shared, w);
		return;
	}
	if (RARE)
		sx_p2_table_copy(p2_table, w.p2_table, 1, (int)blockDim.x);
	if (row_warp * GROUPS >= w.height)
		return;
	if (row_block < rows)
		walk_leftwards<N, RARE>(rings, p2_table, row_warp, w);
	else
		walk_rightwards<N, RARE>(rings, p2_table, row_warp, w);
}

template <int N> constexpr size_t up_left_bytes()
{
	return 4 * (up_words<N>() > WARPS * GROUPS * ring_stride<N>() ? up_words<N>()
								      : WARPS * GROUPS * ring_stride<N>());
}

template <int N, bool RARE> void launch(const struct sx_checkpoint_work &w, cudaStream_t stream)
{
	const int columns = w.vertical ? (w.width + COLUMNS - 1) / COLUMNS : 0,
		  rows = row_blocks(w) * (w.rightwards ? 2 : 1);
	const size_t p2_table = RARE ? SX_P2_TABLE_SHARED : 0;

	if (columns && w.bands > 1)
		SX_LAUNCH((down_kernel<N, RARE>), dim3((unsigned)columns), dim3(THREADS),
			  down_bytes<N>() + p2_table, stream, w);
	SX_LAUNCH((up_left_kernel<N, RARE>), dim3((unsigned)(columns + rows)), dim3(THREADS),
		  up_left_bytes<N>() + p2_table, stream, w, columns);
}

template <int N, bool RARE> cudaError_t prepare()
{
	const size_t p2_table = RARE ? SX_P2_TABLE_SHARED : 0;
	const cudaError_t e = sx_checkpoint_prepare(down_kernel<N, RARE>, down_bytes<N>() + p2_table);

	return e ? e : sx_checkpoint_prepare(up_left_kernel<N, RARE>, up_left_bytes<N>() + p2_table);
}

} // namespace

cudaError_t sx_checkpoint_paths_prepare(const struct sx_checkpoint_work *w, int disparities)
{
	return sx_checkpoint_with(disparities, w->rare, [](auto f) { return prepare<f.n, f.rare>(); });
}

cudaError_t sx_checkpoint_paths_run(const struct sx_checkpoint_work *w, int disparities, cudaStream_t stream)
{
	sx_checkpoint_with(disparities, w->rare, [=](auto f) { launch<f.n, f.rare>(*w, stream); });
	return SX_LAUNCHED();
}
