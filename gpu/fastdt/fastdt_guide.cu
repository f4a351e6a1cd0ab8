/*
 * Inputs of FastDT that depend only on the left image: weights of all edges, and the gain of the largest
 * cost. stages/stereo/fastdt.h defines the results; planes: gpu/fastdt/fastdt_priv.h.
 *
 * Work:    weights: one thread per pixel. Gain: one thread per row, to the right and back, then one thread
 *          per column, down and up. It has few threads and many steps, and is meant to run beside costs and
 *          passes.
 * Memory:  8 positions at a time, with the next ones being loaded. Per pixel, weights read 3 bytes and write
 *          6 bytes; the gain moves 5 * 4 bytes and reads each weight twice.
 * Ranges:  G <= 65535 plus rounding, times a weight of 15 bits: below 2^31 (sx_params_check()).
 * Shapes:  any. Padding of planes is 0, and needs no condition.
 * Speed:   0.15 ms at 1280x384 with few threads, beside the passes; tests/lab/lab-performance.md, "CUDA:
 *          FastDT".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/fastdt/fastdt.cuh"
#include "gpu/fastdt/fastdt_priv.h"

#define BATCH SX_DT_BATCH
#define GAIN_THREADS 32

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

struct guide {
	struct sx_dt_planes p;
	const uint8_t *grey;
	size_t grey_pitch;
	int cost_max;
};

__global__ void __launch_bounds__(256) weights_kernel(const struct guide g)
{
	const int x = (int)(blockIdx.x * 256 + threadIdx.x), y = (int)blockIdx.y;
	const size_t at = (size_t)y * g.p.pitch + (size_t)x;

	if (x >= g.p.width)
		return;

	const uint8_t *here = g.grey + (size_t)y * g.grey_pitch + x;

	g.p.across[at] = x > 0 ? g.p.table[abs((int)here[0] - here[-1])] : 0;
	const uint16_t down = y > 0 ? g.p.table[abs((int)here[0] - *(here - g.grey_pitch))] : 0;

	g.p.down[at] = down;
	g.p.beside[SX_DT_BESIDE * at + SX_DT_WEIGHT] = down;
}

/*
 * Computes the gain along all rows of the planes. Rows beyond the image are included, so that they hold valid
 * divisors.
 */
__global__ void __launch_bounds__(GAIN_THREADS) gain_rows_kernel(const struct guide g)
{
	const int y = (int)(blockIdx.x * GAIN_THREADS + threadIdx.x), batches = (int)g.p.pitch / BATCH;

	if (y >= g.p.rows)
		return;

	const uint16_t *weights = g.p.across + (size_t)y * g.p.pitch;
	uint32_t *gain = g.p.gain + (size_t)y * g.p.pitch;
	sx_dt_along<uint16_t, BATCH, true> w, w_next;
	uint32_t out[BATCH], in[BATCH];
	uint16_t carried = 0;
	int v = 0;

	w.load(weights, 0);
	for (int b = 0; b < batches; b++) {
		w_next.load(weights + min(b + 1, batches - 1) * BATCH, 0);
#pragma unroll
		for (int i = 0; i < BATCH; i++) {
			v = sx_dt_step(g.cost_max, v, w.get(i));
			out[i] = (uint32_t)v;
		}
		sx_words_store<BATCH>((uint8_t *)(gain + b * BATCH), out);
		w = w_next;
	}
	sx_words_load<BATCH>(in, gain + (batches - 1) * BATCH);
	v = 0;
	for (int b = batches - 1; b >= 0; b--) {
		uint32_t in_next[BATCH];

		w_next.load(weights + max(b - 1, 0) * BATCH, 0);
		sx_words_load<BATCH>(in_next, gain + max(b - 1, 0) * BATCH);
#pragma unroll
		for (int i = BATCH - 1; i >= 0; i--) {
			v = sx_dt_step((int)in[i], v, carried);
			out[i] = (uint32_t)v;
			carried = w.get(i);
		}
		sx_words_store<BATCH>((uint8_t *)(gain + b * BATCH), out);
		w = w_next;
#pragma unroll
		for (int i = 0; i < BATCH; i++)
			in[i] = in_next[i];
	}
}

/* Returns the factor of V(d) - V(O). */
__device__ __forceinline__ uint32_t factor_of(int gain)
{
	return UINT32_C(0xffff0000) / (uint32_t)gain;
}

__global__ void __launch_bounds__(GAIN_THREADS) gain_columns_kernel(const struct guide g)
{
	const int x = (int)(blockIdx.x * GAIN_THREADS + threadIdx.x), batches = g.p.rows / BATCH;
	const size_t pitch = g.p.pitch, batch = BATCH * pitch;

	if (x >= g.p.width)
		return;

	const uint16_t *weights = g.p.down + x;
	uint32_t *gain = g.p.gain + x;
	constexpr size_t words = SX_DT_BESIDE / 2; /* words of a pixel in the plane `beside` */
	uint32_t *factors = reinterpret_cast<uint32_t *>(g.p.beside) + (size_t)x * words;
	sx_dt_along<uint16_t, BATCH, false> w, w_next;
	sx_dt_along<uint32_t, BATCH, false> in, in_next;
	uint16_t carried = 0;
	int v = 0;

	w.load(weights, pitch);
	in.load(gain, pitch);
	for (int b = 0; b < batches; b++) {
		const size_t next = (size_t)min(b + 1, batches - 1) * batch;

		w_next.load(weights + next, pitch);
		in_next.load(gain + next, pitch);
#pragma unroll
		for (int i = 0; i < BATCH; i++) {
			v = sx_dt_step((int)in.get(i), v, w.get(i));
			gain[(size_t)(b * BATCH + i) * pitch] = (uint32_t)v;
		}
		w = w_next;
		in = in_next;
	}
	w.load(weights + (size_t)(batches - 1) * batch, pitch);
	in.load(gain + (size_t)(batches - 1) * batch, pitch);
	v = 0;
	for (int b = batches - 1; b >= 0; b--) {
		const size_t next = (size_t)max(b - 1, 0) * batch;

		w_next.load(weights + next, pitch);
		in_next.load(gain + next, pitch);
#pragma unroll
		for (int i = BATCH - 1; i >= 0; i--) {
			const size_t row = (size_t)(b * BATCH + i) * pitch;

			v = sx_dt_step((int)in.get(i), v, carried);
			carried = w.get(i);
			factors[row * words] = factor_of(v);
			g.p.keys[row + (size_t)x] = 0xffffffffu;
		}
		w = w_next;
		in = in_next;
	}
}

unsigned blocks_of(int threads, int block)
{
	return (unsigned)((threads + block - 1) / block);
}

} // namespace

extern "C" cudaError_t sx_dt_weights_run(const struct sx_dt_planes *p, const struct sx_image *grey,
					 cudaStream_t stream)
{
	const dim3 blocks(blocks_of(p->width, 256), (unsigned)p->height);
	struct guide g = {};

	g.p = *p;
	g.grey = (const uint8_t *)grey->data;
	g.grey_pitch = grey->pitch;
	SX_LAUNCH(weights_kernel, blocks, dim3(256), 0, stream, g);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_dt_gain_run(const struct sx_dt_planes *p, int cost_max, cudaStream_t stream)
{
	struct guide g = {};

	g.p = *p;
	g.cost_max = cost_max;
	SX_LAUNCH(gain_rows_kernel, dim3(blocks_of(p->rows, GAIN_THREADS)), dim3(GAIN_THREADS), 0, stream, g);
	SX_LAUNCH(gain_columns_kernel, dim3(blocks_of(p->width, GAIN_THREADS)), dim3(GAIN_THREADS), 0, stream,
		  g);
	return SX_LAUNCHED();
}
