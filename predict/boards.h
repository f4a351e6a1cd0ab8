/*
 * Boards that predictions are made for: the properties that decide how long a frame takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_PREDICT_BOARDS_H
#define SX_PREDICT_BOARDS_H

#include <stdbool.h>
#include <stddef.h>

/* Properties of a device that the formula uses (predict.h). */
struct sx_predict_device {
	int capability;	    /* compute capability, 87 for sm_87 */
	int sms;	    /* number of multiprocessors that compute */
	double clock_hz;    /* clock of the multiprocessors, Hz */
	double bytes_per_s; /* peak bandwidth of its memory */
	bool copies;	    /* pairs must first be copied to it over a bus */
};

struct sx_predict_board {
	const char *name;  /* name in stixel-bench --board: "orin-nx" */
	const char *title; /* full name: "Jetson Orin NX 16 GB" */
	const char *mode;  /* power mode with this clock: "MAXN" */
	/* Part of the device tree's model. NULL: only the row of the board's ordinary mode has it. */
	const char *model;
	const char *model2; /* alternative to model; NULL: none */
	struct sx_predict_device device;
	int cache_kb; /* second-level cache of the GPU */
};

extern const struct sx_predict_board sx_predict_boards[];
extern const int sx_predict_board_count;

/* Finds a board by its name. NULL: there is none. */
const struct sx_predict_board *sx_predict_board_find(const char *name);
/*
 * Finds a board by the device tree's model and the GPU's highest clock now (Hz; 0 or less: unknown). If
 * several rows differ only in their clock, returns the one with the nearest clock, or the ordinary mode if
 * the clock is unknown. NULL: the table has no such board.
 */
const struct sx_predict_board *sx_predict_board_of_model(const char *model, double clock_hz);
/*
 * Returns the device for a prediction for this computer: by its model, at the clock that its power mode
 * allows (Hz; 0 or less: unknown), with sms multiprocessors (0: unknown). False: the table has no such
 * device. Smaller modules of the same name, and power modes that switch off multiprocessors, have fewer
 * multiprocessors than the table.
 */
bool sx_predict_device_of_model(const char *model, double clock_hz, int sms, struct sx_predict_device *ret,
				const char **title);
/*
 * Finds the board by the values that CUDA reports of an integrated GPU. clock_hz as for
 * sx_predict_board_of_model().
 */
const struct sx_predict_board *sx_predict_board_of_gpu(int capability, int sms, double clock_hz);

#endif
