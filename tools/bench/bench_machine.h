/*
 * stixel-bench --report: describes the machine and the program. All facts come from small files, and no
 * process is started. No file is read that identifies the owner of the machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_BENCH_BENCH_MACHINE_H
#define SX_TOOLS_BENCH_BENCH_MACHINE_H

#include "ipc/text.h"
#include "power/board.h"

#define BENCH_ZONES_MAX 32

/* Thermal zones of the Linux kernel. */
struct bench_zones {
	int count;
	struct {
		char type[32]; /* name of the zone, such as "gpu-thermal" */
		/*
		 * temperature, degrees Celsius; NAN: no value now, such as from a zone that is switched off
		 */
		double celsius;
	} zone[BENCH_ZONES_MAX];
};

/* Reads all thermal zones. root: folder used as /; NULL: / itself. */
void bench_zones_read(struct bench_zones *z, const char *root);

/* Add the objects "program" and "board" to the report. */
void bench_machine_program(struct sx_text *t);
void bench_machine_board(struct sx_text *t, const struct sx_board *b, const char *root);
/* Adds the object `key` with the clocks {"cpu_hz", ...} at one moment. */
void bench_machine_clocks(struct sx_text *t, const char *key, const struct sx_board *b);
/* Adds the array of zones [{"zone", "before", "after"}], degrees Celsius. */
void bench_machine_zones(struct sx_text *t, const struct bench_zones *before,
			 const struct bench_zones *after);

#endif
