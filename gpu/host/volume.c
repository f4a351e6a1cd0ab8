/*
 * Resolves engine.volume for a context: chooses the flow of its path costs, by prediction if the setting is
 * auto.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "gpu/host/engine_priv.h"

#define KHZ 1e3
#define EDGES 2 /* memory transfers per clock */

/* Discrete GPU: takes clock and memory bandwidth from the driver. */
static cudaError_t ask_card(struct sx_device *d, int clock_khz)
{
	int memory_khz = 0, bus_bits = 0;
	cudaError_t e;

	if ((e = cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, d->index)) ||
	    (e = cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, d->index)))
		return e;
	d->figures = (struct sx_predict_device){
		.clock_hz = memory_khz > 0 && bus_bits > 0 ? clock_khz * KHZ : 0.0,
		.bytes_per_s = EDGES * KHZ * memory_khz * (bus_bits / 8.0),
		.copies = true,
	};
	return cudaSuccess;
}

/*
 * Integrated GPU: takes the clock from the driver and the memory's figures from a table of boards, because
 * the driver does not know the memory.
 */
static void look_up_board(struct sx_device *d, int clock_khz)
{
	const struct sx_predict_board *b =
		sx_predict_board_of_gpu(d->capability, d->all_sms, clock_khz * KHZ);

	if (!b)
		return;
	d->figures = b->device;
	if (clock_khz > 0)
		d->figures.clock_hz = clock_khz * KHZ;
}

cudaError_t sx_cuda_volume_ask(struct sx_device *d)
{
	int clock_khz = 0;
	cudaError_t e = cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, d->index);

	if (!e && !d->integrated)
		e = ask_card(d, clock_khz);
	else if (!e)
		look_up_board(d, clock_khz);
	d->figures.capability = d->capability;
	return e;
}

void sx_cuda_volume_choose(struct sx_context *x)
{
	const struct sx_device *d = x->device;
	const struct sx_predict_case c = {&x->config.params, x->config.width, x->config.height};
	struct sx_predict_device figures = d->figures;

	if (sx_cuda_is_external(x)) {
		sx_why_set(&x->volume, "none: another process matches (stereo.matcher = external)");
		return;
	}
	if (sx_cuda_is_pyramid(x)) {
		sx_why_set(&x->volume, "none: only the cells that a tile searches are kept "
				       "(stereo.search = pyramid)");
		return;
	}
	figures.sms = d->sms; /* SMs of the green context, which still uses all of the memory */
	x->flow = sx_predict_volume(&figures, d->integrated, &c, d->volume, &x->volume);
}
