/*
 * Arguments and memory of the kernels of the checkpoint flow. gpu/stereo/checkpoint_cuda.h describes the
 * flow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_CHECKPOINT_CUH
#define SX_GPU_STEREO_CHECKPOINT_CUH

#include "gpu/memory.h"
#include "gpu/stereo/match.cuh"
#include "gpu/stereo/p2_table.cuh"
#include "gpu/stereo/sgm_path.cuh"
#include "gpu/stereo/winner.cuh"
#include "stages/engine.h"

#define SX_CHECKPOINT_EVERY 8 /* pixels of a path: rows of a band, columns of a segment */
#define SX_CHECKPOINT_GROUP 8 /* lanes of a path */
/* distance of a group's lanes in the warp; number of paths, or pairs of paths, of a warp */
#define SX_CHECKPOINT_APART 4
#define SX_CHECKPOINT_SLACK 32

/*
 * Arguments of the kernels. D = 32 N disparities. Volumes: [y][x][D] in the layout of gpu/stereo/volume.cuh.
 * A checkpoint is V of one pixel, as in a volume. Down: checkpoints of the last row of band b, at [b][x].
 * Leftwards: checkpoints of the first column of segment b + 1, at [y][b].
 *
 * A diagonal is a column that moves by skew columns per row, 1 or -1. Its two paths, down and up along it,
 * are added like vertical paths.
 */
struct sx_checkpoint_work {
	/*
	 * Descriptors. right: begins with the descriptors that column -D meets at disparity 0; 0 outside the
	 * image. SX_CHECKPOINT_SLACK words precede the first row and follow the last row
	 * (sx_descriptors_cuda_take()).
	 */
	const uint32_t *left, *right;
	int left_pitch, right_pitch; /* words */
	int width, height, bands, segments;
	uint8_t *vertical;   /* sums of V down and up; NULL: no such paths */
	uint8_t *horizontal; /* sums of V to the right and to the left; NULL: the winner is found at once */
	uint8_t *down, *leftwards;
	/*
	 * If there are too few rows for the device, each row is walked in two parts. The second part begins
	 * at segment `second`, at a checkpoint of the paths to the right, V at [y]. Its own columns begin at
	 * segment `owned`. If the winner is found, that is D columns further on, because a column of the
	 * right image meets D columns. rightwards NULL: one part.
	 */
	uint8_t *rightwards;
	int second, owned;
	int p1[2], p2[2]; /* [0]: for vertical and diagonal paths, [1]: for horizontal paths */
	int min_disparity;
	/* P2 is cut at edges, or costs beyond the image are the largest; one kernel form handles both */
	int rare;
	int beyond_is_max;
	const uint8_t *grey; /* left image, for the differences of grey levels */
	size_t grey_pitch;
	const uint8_t *p2_table; /* see gpu/stereo/p2_table.cuh */
	uint8_t *winner, *winner_right, *confidence;
	size_t winner_pitch, right_map_pitch, confidence_pitch;
	uint32_t scale; /* factor of V in a key */
	struct sx_winner_options options;
	/* the same as vertical and down, for diagonals with skew 1 and -1; NULL: no such paths */
	uint8_t *diagonal[2], *down_diagonal[2];
};

/* Form of a kernel: its template arguments. rare: of struct sx_checkpoint_work. */
template <int N, bool RARE> struct sx_checkpoint_form {
	static constexpr int n = N;
	static constexpr bool rare = RARE;
};

template <int N, typename F>
auto sx_checkpoint_with_rare(bool rare, F f) -> decltype(f(sx_checkpoint_form<1, false>()))
{
	return rare ? f(sx_checkpoint_form<N, true>()) : f(sx_checkpoint_form<N, false>());
}

/*
 * Calls f(form) with the form for these arguments. Covers exactly the settings that the flow supports
 * (gpu/stereo/checkpoint_cuda.h).
 */
template <typename F>
auto sx_checkpoint_with(int disparities, bool rare, F f) -> decltype(f(sx_checkpoint_form<1, false>()))
{
	switch (disparities) {
	case 32:
		return sx_checkpoint_with_rare<1>(rare, f);
	case 64:
		return sx_checkpoint_with_rare<2>(rare, f);
	case 96:
		return sx_checkpoint_with_rare<3>(rare, f);
	case 128:
		return sx_checkpoint_with_rare<4>(rare, f);
	case 160:
		return sx_checkpoint_with_rare<5>(rare, f);
	case 192:
		return sx_checkpoint_with_rare<6>(rare, f);
	case 224:
		return sx_checkpoint_with_rare<7>(rare, f);
	default:
		return sx_checkpoint_with_rare<8>(rare, f);
	}
}

template <int N>
__device__ __forceinline__ void sx_checkpoint_lane(struct sx_path_lane *lane,
						   const struct sx_checkpoint_work &w, int horizontal)
{
	sx_path_lane_init<SX_CHECKPOINT_GROUP, SX_CHECKPOINT_APART>(
		lane, (int)threadIdx.x % 32 / SX_CHECKPOINT_APART, w.p1[horizontal], w.p2[horizontal]);
}

template <int N, bool RARE>
__device__ __forceinline__ void sx_checkpoint_step(struct sx_path_state<N> *s,
						   const struct sx_path_lane &lane,
						   const uint32_t (&match)[N], uint32_t p2_cut,
						   uint32_t (&stored)[N])
{
	sx_path_step<N, SX_CHECKPOINT_GROUP, RARE, SX_CHECKPOINT_APART>(s, &lane, match, p2_cut, stored);
}

template <int N, bool RARE>
__device__ __forceinline__ void sx_checkpoint_step_pairs(struct sx_path_state<N> *s,
							 const struct sx_path_lane &lane,
							 const uint32_t (&match)[2 * N], uint32_t p2_cut)
{
	sx_path_step_pairs<N, SX_CHECKPOINT_GROUP, RARE, SX_CHECKPOINT_APART>(s, &lane, match, p2_cut);
}

/*
 * Returns the cut of P2 for the step between two pixels, in each of four bytes. At the image's border both
 * are the same pixel, so the cut is 0.
 */
__device__ __forceinline__ uint32_t sx_checkpoint_p2_cut(const uint32_t *p2_table,
							 const struct sx_checkpoint_work &w, int x, int y,
							 int dx, int dy)
{
	const int x0 = min(x, w.width - 1), y0 = min(y, w.height - 1), x1 = min(max(x0 + dx, 0), w.width - 1),
		  y1 = min(max(y0 + dy, 0), w.height - 1);

	return p2_table[abs((int)__ldg(w.grey + (size_t)y0 * w.grey_pitch + (size_t)x0) -
			    (int)__ldg(w.grey + (size_t)y1 * w.grey_pitch + (size_t)x1))];
}

/*
 * Sets the values of w that all walks take from the settings: all members down to p2_table, except
 * descriptors, volumes and checkpoints.
 */
void sx_checkpoint_describe(struct sx_checkpoint_work *w, struct sx_cuda_memory *m,
			    const struct sx_context_config *c);
void sx_checkpoint_set_descriptors(struct sx_checkpoint_work *w, const struct sx_stereo_params *p,
				   const struct sx_image descriptors[2]);

/*
 * checkpoint_diagonals.cu runs diagonal paths, if there are any. checkpoint_rows.cu runs the paths to the
 * right, and the winner. checkpoint_paths.cu runs all other paths. prepare: call once, before a run with the
 * same w is captured.
 */
cudaError_t sx_checkpoint_diagonals_run(const struct sx_checkpoint_work *w, int disparities,
					cudaStream_t stream);
cudaError_t sx_checkpoint_diagonals_prepare(const struct sx_checkpoint_work *w, int disparities);
cudaError_t sx_checkpoint_paths_run(const struct sx_checkpoint_work *w, int disparities, cudaStream_t stream);
cudaError_t sx_checkpoint_rows_run(const struct sx_checkpoint_work *w, int disparities, cudaStream_t stream);
cudaError_t sx_checkpoint_paths_prepare(const struct sx_checkpoint_work *w, int disparities);
cudaError_t sx_checkpoint_rows_prepare(const struct sx_checkpoint_work *w, int disparities);

/*
 * Prepares a kernel: kernels that share a multiprocessor must have the same split of its L1. bytes: dynamic
 * shared memory.
 */
template <typename T> cudaError_t sx_checkpoint_prepare(T *kernel, size_t bytes)
{
	const cudaError_t e =
		cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100);

	return e ? e : cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

#endif
