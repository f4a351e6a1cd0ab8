/*
 * The boards that predictions are made for: what of a device decides how long a frame takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_PREDICT_BOARDS_H
#define SX_PREDICT_BOARDS_H

#include <stdbool.h>
#include <stddef.h>

/* A device as the formula sees it (predict.h). */
struct sx_predict_device {
	int capability;	    /* 87: sm_87 */
	int sms;	    /* multiprocessors that compute */
	double clock_hz;    /* of these */
	double bytes_per_s; /* of its memory, peak */
	bool copies;	    /* pairs are copied to it over a bus first */
};

struct sx_predict_board {
	const char *name;   /* "orin-nx": the word of stixel-bench --board */
	const char *title;  /* "Jetson Orin NX 16 GB" */
	const char *mode;   /* power mode with this clock: "MAXN" */
	const char *model;  /* what the device tree's model holds; NULL: its ordinary mode's row has it */
	const char *model2; /* or this; NULL: nothing else */
	struct sx_predict_device device;
	int cache_kb; /* second-level cache of the GPU */
};

extern const struct sx_predict_board sx_predict_boards[];
extern const int sx_predict_board_count;

/* By its name; NULL: there is none. */
const struct sx_predict_board *sx_predict_board_find(const char *name);
/*
 * By the device tree's model and the GPU's highest clock now (Hz; 0 or less: unknown): of rows that differ in
 * clock alone that with the nearest, without a clock the ordinary mode. NULL: no board of the table.
 */
const struct sx_predict_board *sx_predict_board_of_model(const char *model, double clock_hz);
/*
 * The device that a prediction for this computer takes: by its model, at the clock that its power mode allows
 * (Hz; 0 or less: unknown) and with sms multiprocessors (0: unknown). False: none of the table. Smaller
 * modules of the same name, and power modes that switch multiprocessors off, have fewer of them.
 */
bool sx_predict_device_of_model(const char *model, double clock_hz, int sms, struct sx_predict_device *ret,
				const char **title);
/* The board by what CUDA says of an integrated GPU; clock as of sx_predict_board_of_model(). */
const struct sx_predict_board *sx_predict_board_of_gpu(int capability, int sms, double clock_hz);

#endif
