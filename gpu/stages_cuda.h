/*
 * The stages of the CUDA engine, in the order they run; gpu/host/graph.c calls them. Kernels of disparity are
 * in gpu/stereo/, those of stixels in gpu/stixels/; costs, winner, gpu/fastdt/, gpu/zncc/ and gpu/slanted/
 * have headers of their own. The meaning of a stage is that of its header in stages/, the bytes are the same.
 *
 * create: takes all device memory from m and uploads tables; NULL in *ret stays when it fails (0, -ENOMEM
 *   with m->error set, or -EINVAL). destroy frees host memory only (device memory belongs to m), accepts
 *   NULL.
 * run: launches on stream and returns; no allocation, no synchronisation, may be captured into a graph, and
 *   is captured only once: nothing that changes from frame to frame is a kernel argument.
 * Images are device views (sx_cuda_take_image), any pitch that is a multiple of 128 bytes.
 * sms: multiprocessors that the engine may use, where grids are sized by it.
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

/* Writes the device's clock, ns, to *stamp (device memory) between two stages. NULL: does nothing. */
cudaError_t sx_cuda_mark(uint64_t *stamp, cudaStream_t stream);

/*
 * in: device address of the frame's input block. grey: left, right; rectified where pairs come raw. found:
 * device address for the range of a Y16 pair, or NULL; not written for other formats.
 */
struct sx_ingest_cuda;
struct sx_rectify_cuda; /* gpu/ingest/rectify_cuda.h */
int sx_ingest_cuda_create(struct sx_ingest_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c);
void sx_ingest_cuda_destroy(struct sx_ingest_cuda *s);
cudaError_t sx_ingest_cuda_run(const struct sx_ingest_cuda *s, const struct sx_cuda_input *in,
			       const struct sx_image grey[2], struct sx_stretch *found, cudaStream_t stream);
/* Belongs to s; NULL where pairs come rectified. */
const struct sx_rectify_cuda *sx_ingest_cuda_rectify(const struct sx_ingest_cuda *s);

/* Both images in one launch. */
cudaError_t sx_census_cuda_run(const struct sx_image grey[2], const struct sx_image census[2],
			       enum sx_cost cost, cudaStream_t stream);
/* Tiles of both images in one launch (stages/stereo/flat.h). */
cudaError_t sx_flat_cuda_run(const struct sx_image grey[2], const struct sx_image flat[2],
			     cudaStream_t stream);
/* Marks areas of the left image that were matched by chance, in its tiles (stages/stereo/chance.h). */
cudaError_t sx_chance_cuda_run(const struct sx_image *winner, const struct sx_image descriptor[2],
			       const struct sx_image *flat, const struct sx_stereo_params *p,
			       cudaStream_t stream);
/*
 * Memory for the right image's descriptors where there is no cost volume: rows with as many zeros before and
 * behind them as disparities reach beyond the image. The census does not touch these.
 */
void sx_descriptors_cuda_take(struct sx_cuda_memory *m, struct sx_image *ret,
			      const struct sx_context_config *c);

/*
 * Ingest and census in one launch, which saves reading grey back; the bytes of both are those of the two
 * functions above. Not for Y16 (cudaErrorInvalidValue): its grey depends on the whole pair.
 */
cudaError_t sx_ingest_census_cuda_run(const struct sx_cuda_input *in, enum sx_pixel pixel,
				      const struct sx_image grey[2], const struct sx_image census[2],
				      enum sx_cost cost, cudaStream_t stream);

/*
 * Path aggregation of SGM, stored flow, which is fastest where memory is fast (else:
 * gpu/stereo/checkpoint_cuda.h): all paths in one launch, each into a volume of its own
 * (gpu/stereo/volume.cuh). costs: the cost volume that run reads; NULL: paths count their costs themselves,
 * from descriptors (-EINVAL but for costs of csct and 2 or 4 paths; fast where bits are multiplied, see
 * sx_predict_counted_refuses()).
 */
struct sx_sgm_cuda;
struct sx_cuda_volumes; /* gpu/stereo/winner_cuda.h */
int sx_sgm_cuda_create(struct sx_sgm_cuda **ret, struct sx_cuda_memory *m, const struct sx_context_config *c,
		       const uint8_t *costs);
void sx_sgm_cuda_destroy(struct sx_sgm_cuda *s);
/*
 * Bytes of device memory read and written per frame, cost volume to winner, counted from the layout:
 * reported, not used.
 */
size_t sx_sgm_cuda_traffic(const struct sx_sgm_cuda *s);
/*
 * left: grey, read for p2_edge. descriptors: of both images, read without a cost volume, the right ones of
 * sx_descriptors_cuda_take().
 */
cudaError_t sx_sgm_cuda_run(const struct sx_sgm_cuda *s, const struct sx_image *left,
			    const struct sx_image *descriptors, cudaStream_t stream);
/* Where run leaves the paths, for the winner. Belongs to s. */
const struct sx_cuda_volumes *sx_sgm_cuda_volumes(const struct sx_sgm_cuda *s);

/*
 * sx_external() in place: winner holds the map of another process, 1/256 px, and becomes one of the
 * winner's. Its confidence is the host's affair.
 */
cudaError_t sx_external_cuda_run(const struct sx_image *winner, const struct sx_stereo_params *p,
				 cudaStream_t stream);

/*
 * All filters. check: median, left-right check and the components of speckles, in one launch; left_right is
 * there after it. finish: islands are erased, the map is smoothed, a launch each, unless
 * sx_filter_cuda_is_done().
 * winner, median: left and right map; median is winner where the filter is off. Maps hold less than 0x1000 or
 * 0xffff. Without a check the right ones tell nothing: winner may be the left one twice.
 * flat: tiles of both images, for sx_left_right_hide_flat(), which is part of the check; NULL: none.
 * left_right: is speckle where no speckle filter runs; speckle: is disparity where nothing is smoothed.
 * confidence: that of the winner, changed in place.
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
/* Of the finished map; not in place. confidence: of the winner, becomes that of dst. */
cudaError_t sx_smooth_cuda_run(const struct sx_image *src, const struct sx_image *dst,
			       const struct sx_image *confidence, cudaStream_t stream);

/*
 * road: device memory of the caller, ground_q4 included. finder: its view and parameters are copied.
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

/* out: its pointers are device memory (list, count, total), taken by the engine. */
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
 * Writes the record into pinned host memory: offsets, stixels, count, road. All pointers as the device sees
 * them. height: of the image.
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
