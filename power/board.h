/*
 * What the computer is, its power mode and clocks: looked at, never changed. Everything is read from small
 * files; no program is started.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_BOARD_H
#define SX_POWER_BOARD_H

#include <stdint.h>

/* Texts are empty and figures negative where nothing says so, or where it may not be read. */
struct sx_board {
	char model[96];	   /* "NVIDIA Jetson AGX Orin Developer Kit"; of a PC, its maker and name */
	char mode[64];	   /* nvpmodel's name: "MODE_30W" */
	char governor[32]; /* of the processor's clock; "mixed": they differ */
	int64_t mode_id;
	int64_t cpu_hz, cpu_max_hz; /* of the fastest core, now and at most */
	int64_t gpu_hz, gpu_max_hz; /* of a GPU in the same chip */
	int64_t memory_hz;
};

/* root stands for /; NULL: it does itself. Thread: any; takes the time of some dozen small files. */
void sx_board_read(struct sx_board *b, const char *root);

#endif
