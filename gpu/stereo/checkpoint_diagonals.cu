/*
 * Diagonal paths of the checkpoint flow, see gpu/stereo/checkpoint_columns.cuh.
 *
 * Work:    down along all diagonals, of both skews in one launch; then up along all.
 * Shapes:  any width, height; D = 32, 64, .. 256.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/stereo/checkpoint_columns.cuh"

namespace
{

template <int N, bool RARE>
__global__ void __launch_bounds__(THREADS, DOWN_BLOCKS(N))
	down_diagonal_kernel(const struct sx_checkpoint_work w)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);

	walk_down<N, RARE, true>(shared, w);
}

template <int N, bool RARE>
__global__ void __launch_bounds__(THREADS, UP_BLOCKS(N)) up_diagonal_kernel(const struct sx_checkpoint_work w)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);

	walk_up<N, RARE, true>(shared, w);
}

template <int N> constexpr size_t up_bytes()
{
	return 4 * up_words<N>();
}

template <int N, bool RARE> void launch(const struct sx_checkpoint_work &w, cudaStream_t stream)
{
	const dim3 blocks((unsigned)(w.width + w.height - 1 + COLUMNS - 1) / COLUMNS, 2);
	const size_t p2_table = RARE ? SX_P2_TABLE_SHARED : 0;

	if (w.bands > 1)
		SX_LAUNCH((down_diagonal_kernel<N, RARE>), blocks, dim3(THREADS), down_bytes<N>() + p2_table,
			  stream, w);
	SX_LAUNCH((up_diagonal_kernel<N, RARE>), blocks, dim3(THREADS), up_bytes<N>() + p2_table, stream, w);
}

template <int N, bool RARE> cudaError_t prepare()
{
	const size_t p2_table = RARE ? SX_P2_TABLE_SHARED : 0;
	const cudaError_t e =
		sx_checkpoint_prepare(down_diagonal_kernel<N, RARE>, down_bytes<N>() + p2_table);

	return e ? e : sx_checkpoint_prepare(up_diagonal_kernel<N, RARE>, up_bytes<N>() + p2_table);
}

} // namespace

cudaError_t sx_checkpoint_diagonals_prepare(const struct sx_checkpoint_work *w, int disparities)
{
	if (!w->diagonal[0])
		return cudaSuccess;
	return sx_checkpoint_with(disparities, w->rare, [](auto f) { return prepare<f.n, f.rare>(); });
}

cudaError_t sx_checkpoint_diagonals_run(const struct sx_checkpoint_work *w, int disparities,
					cudaStream_t stream)
{
	if (w->diagonal[0])
		sx_checkpoint_with(disparities, w->rare, [=](auto f) { launch<f.n, f.rare>(*w, stream); });
	return SX_LAUNCHED();
}
