/*
 * Table of the boards that predictions are made for.
 *
 * Multiprocessors, clocks, bandwidth and caches are from NVIDIA's data sheets of the modules. Those of Orin
 * Nano Super and Orin NX Super are from JetPack 6.2's "Super" modes. The 20 multiprocessors and 32 MB of
 * cache of Thor are values that owners read on a board (NVIDIA's forum, topic 356355). This project measured
 * none of these numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "predict/boards.h"

#include <math.h>
#include <string.h>

#define GHZ *1e9
#define GB *1e9

const struct sx_predict_board sx_predict_boards[] = {
	{"xavier",
	 "Jetson AGX Xavier",
	 "MAXN",
	 "AGX Xavier",
	 "Jetson-AGX",
	 {72, 8, 1.377 GHZ, 136.5 GB},
	 512},
	{"xavier-nx", "Jetson Xavier NX", "20 W", "Xavier NX", NULL, {72, 6, 1.1 GHZ, 59.7 GB}, 512},
	{"orin-nano", "Jetson Orin Nano 8 GB", "15 W", "Orin Nano", NULL, {87, 8, 0.625 GHZ, 68 GB}, 2048},
	{"orin-nano-super",
	 "Jetson Orin Nano 8 GB",
	 "MAXN SUPER",
	 "Orin Nano",
	 NULL,
	 {87, 8, 1.02 GHZ, 102 GB},
	 2048},
	{"orin-nx", "Jetson Orin NX 16 GB", "MAXN", "Orin NX", NULL, {87, 8, 0.918 GHZ, 102.4 GB}, 2048},
	{"orin-nx-super",
	 "Jetson Orin NX 16 GB",
	 "MAXN SUPER",
	 "Orin NX",
	 NULL,
	 {87, 8, 1.173 GHZ, 102.4 GB},
	 2048},
	{"agx-orin", "Jetson AGX Orin 64 GB", "MAXN", "AGX Orin", NULL, {87, 16, 1.3 GHZ, 204.8 GB}, 4096},
	{"thor", "Jetson Thor T5000", "MAXN", "Thor", NULL, {110, 20, 1.575 GHZ, 273 GB}, 32768},
};
const int sx_predict_board_count = sizeof(sx_predict_boards) / sizeof(sx_predict_boards[0]);

const struct sx_predict_board *sx_predict_board_find(const char *name)
{
	for (int i = 0; i < sx_predict_board_count; i++)
		if (strcmp(sx_predict_boards[i].name, name) == 0)
			return &sx_predict_boards[i];
	return NULL;
}

/* Returns the row, of two rows of one board, whose clock is nearer. Without a clock returns the first one. */
static const struct sx_predict_board *board_nearer(const struct sx_predict_board *a,
						   const struct sx_predict_board *b, double clock_hz)
{
	if (!a || !(clock_hz > 0))
		return a ? a : b;
	return fabs(b->device.clock_hz - clock_hz) < fabs(a->device.clock_hz - clock_hz) ? b : a;
}

static bool has_model(const struct sx_predict_board *b, const char *model)
{
	return strstr(model, b->model) || (b->model2 && strstr(model, b->model2));
}

const struct sx_predict_board *sx_predict_board_of_model(const char *model, double clock_hz)
{
	const struct sx_predict_board *found = NULL;

	for (int i = 0; i < sx_predict_board_count; i++)
		if (has_model(&sx_predict_boards[i], model))
			found = board_nearer(found, &sx_predict_boards[i], clock_hz);
	return found;
}

bool sx_predict_device_of_model(const char *model, double clock_hz, int sms, struct sx_predict_device *ret,
				const char **title)
{
	const struct sx_predict_board *known = sx_predict_board_of_model(model, clock_hz);

	if (!known || (sms && sms != known->device.sms))
		return false;
	*ret = known->device;
	*title = known->title;
	if (clock_hz > 0)
		ret->clock_hz = fmin(ret->clock_hz, clock_hz);
	return true;
}

const struct sx_predict_board *sx_predict_board_of_gpu(int capability, int sms, double clock_hz)
{
	const struct sx_predict_board *found = NULL;

	for (int i = 0; i < sx_predict_board_count; i++) {
		const struct sx_predict_board *b = &sx_predict_boards[i];

		/* before CUDA 13, Thor had compute capability 10.1 */
		if ((b->device.capability == capability ||
		     (b->device.capability == 110 && capability == 101)) &&
		    b->device.sms == sms)
			found = board_nearer(found, b, clock_hz);
	}
	return found;
}
