/*
 * Stages of the CUDA engine, in the order in which they run. gpu/host/graph.c calls them. Kernels for
 * disparity are in gpu/stereo/, kernels for stixels in gpu/stixels/. Costs, winner, gpu/fastdt/, gpu/zncc/
 * and gpu/slanted/ have headers of their own. The headers in stages/ define what each stage computes; the
 * CUDA engine returns the same bytes.
 *
 * create: takes all device memory from m and uploads tables. Returns 0, -ENOMEM with m->error set, or
 *   -EINVAL. If it fails, *ret stays NULL.
 * destroy: frees host memory only (device memory belongs to m). Accepts NULL.
 * run: launches on stream and returns. It neither allocates nor synchronises. It is captured into a graph
 *   only once, so nothing that changes from frame to frame is a kernel argument.
 * Images are device views (sx_cuda_take_image). Their pitch is any multiple of 128 bytes.
 * sms: number of multiprocessors that the engine may use. Some stages size their grids by it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STAGES_CUDA_H
#define SX_GPU_STAGES_CUDA_H

#include "gpu/frame.h"
#include "gpu/memory.h"
#include "stages/engine.h"
#include "stages/road/road.h"
#include "stages/stixels/segment.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes the device's clock, ns, to *stamp (device memory) between two stages. Does nothing if stamp is NULL.
 */
cudaError_t sx_cuda_mark(uint64_t *stamp, cudaStream_t stream);

/*
 * Converts a pair to grey images.
 * in: device address of the frame's input block.
 * grey: left and right image; rectified if pairs come raw.
 * found: device address for the range of a Y16 pair, or NULL. Not written for other formats.
 */
struct sx_ingest_cuda;
struct sx_rectify_cuda; /* gpu/ingest/rectify_cuda.h */
int sx_ingest_cuda_create(struct sx_ingest_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c);
void sx_ingest_cuda_destroy(struct sx_ingest_cuda *s);
cudaError_t sx_ingest_cuda_run(const struct sx_ingest_cuda *s, const struct sx_cuda_input *in,
			       const struct sx_image grey[2], struct sx_stretch *found, cudaStream_t stream);
/* Returns the rectification stage, which belongs to s. Returns NULL if pairs come rectified. */
const struct sx_rectify_cuda *sx_ingest_cuda_rectify(const struct sx_ingest_cuda *s);

/* Computes the census of both images in one launch. */
cudaError_t sx_census_cuda_run(const struct sx_image grey[2], const struct sx_image census[2],
			       enum sx_cost cost, cudaStream_t stream);
/* Finds the flat tiles of both images in one launch (stages/stereo/flat.h). */
cudaError_t sx_flat_cuda_run(const struct sx_image grey[2], const struct sx_image flat[2],
			     cudaStream_t stream);
/*
 * Marks areas of the left image that were matched by chance, in the left image's tiles
 * (stages/stereo/chance.h). search: SX_TAP_TILES; data NULL: full search.
 */
cudaError_t sx_chance_cuda_run(const struct sx_image *winner, const struct sx_image descriptor[2],
			       const struct sx_image *flat, const struct sx_image *search,
			       const struct sx_stereo_params *p, cudaStream_t stream);
/*
 * Takes memory for the right image's descriptors when there is no cost volume. Each row has zeros before and
 * after it, as many as disparities reach beyond the image. The census does not write these zeros.
 */
void sx_descriptors_cuda_take(struct sx_cuda_memory *m, struct sx_image *ret,
			      const struct sx_context_config *c);

/*
 * Runs ingest and census in one launch, which saves reading grey back. The results equal the results of the
 * two functions above, byte for byte. Y16 is refused (cudaErrorInvalidValue), because its grey depends on the
 * whole pair.
 */
cudaError_t sx_ingest_census_cuda_run(const struct sx_cuda_input *in, enum sx_pixel pixel,
				      const struct sx_image grey[2], const struct sx_image census[2],
				      enum sx_cost cost, cudaStream_t stream);

/*
 * Path aggregation of SGM, stored flow, which is fastest on devices with fast memory (for others see
 * gpu/stereo/checkpoint_cuda.h). One launch computes all paths and writes each path into its own volume
 * (gpu/stereo/volume.cuh).
 * costs: the cost volume that run reads. If NULL, the paths compute their costs from descriptors (recompute
 *   flow). This is fast on devices that multiply bits, see sx_predict_recompute_refuses(). It is possible
 *   only with csct costs and 2 or 4 paths, else create returns -EINVAL.
 */
struct sx_sgm_cuda;
struct sx_cuda_volumes; /* gpu/stereo/winner_cuda.h */
int sx_sgm_cuda_create(struct sx_sgm_cuda **ret, struct sx_cuda_memory *m, const struct sx_context_config *c,
		       const uint8_t *costs);
void sx_sgm_cuda_destroy(struct sx_sgm_cuda *s);
/*
 * Returns the bytes of device memory read and written per frame, from cost volume to winner, computed from
 * the layout. The figure is only reported.
 */
size_t sx_sgm_cuda_traffic(const struct sx_sgm_cuda *s);
/*
 * Aggregates the paths.
 * left: grey image, read for p2_edge.
 * descriptors: of both images, read if there is no cost volume. The right ones are in memory of
 *   sx_descriptors_cuda_take().
 */
cudaError_t sx_sgm_cuda_run(const struct sx_sgm_cuda *s, const struct sx_image *left,
			    const struct sx_image *descriptors, cudaStream_t stream);
/* Returns the volumes into which run writes the paths, for the winner. They belong to s. */
const struct sx_cuda_volumes *sx_sgm_cuda_volumes(const struct sx_sgm_cuda *s);

/*
 * Runs sx_external() in place. winner holds the disparity map of another process, in 1/256 px, and becomes a
 * map in the winner's format. The host sets its confidence.
 */
cudaError_t sx_external_cuda_run(const struct sx_image *winner, const struct sx_stereo_params *p,
				 cudaStream_t stream);

/*
 * All filters of the disparity map.
 * check: runs median, left-right check and the components of speckles in one launch. left_right is complete
 *   after it.
 * finish: erases islands and smooths the map, in one launch each. Not needed if sx_filter_cuda_is_done().
 * winner, median: left and right map. median is winner if the filter is off. Maps hold values less than
 *   0x1000, or 0xffff. Without a left-right check the right maps are not used, and winner may be the left map
 *   twice.
 * flat: tiles of both images, for sx_left_right_hide_flat(), which is part of the check. NULL: no tiles.
 * left_right: the same memory as speckle if there is no speckle filter. speckle: the same memory as disparity
 *   if the map is not smoothed.
 * confidence: confidence of the winner, changed in place.
 */
struct sx_filter_cuda;
int sx_filter_cuda_create(struct sx_filter_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c, int sms);
void sx_filter_cuda_destroy(struct sx_filter_cuda *s);
cudaError_t sx_filter_cuda_check(const struct sx_filter_cuda *s, const struct sx_image winner[2],
				 const struct sx_image median[2], const struct sx_image *flat,
				 const struct sx_image *left_right, const struct sx_image *speckle,
				 const struct sx_image *confidence, cudaStream_t stream);
bool sx_filter_cuda_is_done(const struct sx_filter_cuda *s);
cudaError_t sx_filter_cuda_finish(const struct sx_filter_cuda *s, const struct sx_image *speckle,
				  const struct sx_image *disparity, const struct sx_image *confidence,
				  cudaStream_t stream);
/*
 * Smooths the finished map from src into dst, which must be another image. confidence: confidence of src,
 * becomes that of dst in place.
 */
cudaError_t sx_smooth_cuda_run(const struct sx_image *src, const struct sx_image *dst,
			       const struct sx_image *confidence, cudaStream_t stream);

/*
 * Finds the road. road: device memory of the caller, including ground_q4. finder: its view and parameters are
 * copied.
 */
struct sx_road_finder_cuda;
int sx_road_cuda_create(struct sx_road_finder_cuda **ret, struct sx_cuda_memory *m,
			const struct sx_road_finder *finder, int sms);
void sx_road_cuda_destroy(struct sx_road_finder_cuda *s);
cudaError_t sx_road_cuda_run(const struct sx_road_finder_cuda *s, const struct sx_image *disparity,
			     const struct sx_cuda_input *in, struct sx_cuda_road *road, cudaStream_t stream);

cudaError_t sx_reduce_cuda_run(const struct sx_image *disparity, const struct sx_image *confidence,
			       int width_px, enum sx_reduction how, const struct sx_image *columns,
			       const struct sx_image *columns_confidence, cudaStream_t stream);

/* Chooses stixels. The pointers in out (list, count, total) are device memory that the engine took. */
struct sx_dp_cuda;
int sx_dp_cuda_create(struct sx_dp_cuda **ret, struct sx_cuda_memory *m, const struct sx_params *p,
		      int height, int columns, int sms);
void sx_dp_cuda_destroy(struct sx_dp_cuda *s);
cudaError_t sx_dp_cuda_run(const struct sx_dp_cuda *s, const struct sx_cuda_road *road,
			   const struct sx_image *columns, const struct sx_segments *out,
			   cudaStream_t stream);

struct sx_rdp_cuda;
int sx_rdp_cuda_create(struct sx_rdp_cuda **ret, struct sx_cuda_memory *m, const struct sx_params *p,
		       int height, int columns, int sms);
void sx_rdp_cuda_destroy(struct sx_rdp_cuda *s);
cudaError_t sx_rdp_cuda_run(const struct sx_rdp_cuda *s, const struct sx_cuda_road *road,
			    const struct sx_image *columns, const struct sx_segments *out,
			    cudaStream_t stream);

/*
 * Writes the record into pinned host memory: offsets, stixels, count and road. All pointers are device
 * addresses. height: height of the image, px.
 */
struct sx_compact_cuda;
int sx_compact_cuda_create(struct sx_compact_cuda **ret, struct sx_cuda_memory *m, const struct sx_params *p,
			   int height, int columns);
void sx_compact_cuda_destroy(struct sx_compact_cuda *s);
cudaError_t sx_compact_cuda_run(const struct sx_compact_cuda *s, const struct sx_segments *segments,
				const struct sx_image *columns, const struct sx_image *columns_confidence,
				const struct sx_cuda_road *road, struct sx_cuda_output *out,
				uint32_t *offsets, struct stixel *stixels, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
