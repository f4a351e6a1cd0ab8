/*
 * Reads the computer's model, its power mode and its clocks, and never changes them. All values come from
 * small files. No program is started.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_BOARD_H
#define SX_POWER_BOARD_H

#include <stdint.h>

/*
 * Description of the computer. If no file has a value, or the file may not be read, a text is empty and a
 * number is negative.
 */
struct sx_board {
	char model[96];	   /* "NVIDIA Jetson AGX Orin Developer Kit"; on a PC maker and name */
	char mode[64];	   /* name of the power mode in nvpmodel: "MODE_30W" */
	char governor[32]; /* governor of the processor's clock; "mixed": the cores differ */
	int64_t mode_id;
	int64_t cpu_hz, cpu_max_hz; /* clock of the fastest core, now and at most */
	int64_t gpu_hz, gpu_max_hz; /* clock of a GPU in the same chip, now and at most */
	int64_t memory_hz;
};

/*
 * Reads the description. root: folder used in place of /; NULL: / itself. Takes the time to read some dozen
 * small files. Any thread.
 */
void sx_board_read(struct sx_board *b, const char *root);

#endif
