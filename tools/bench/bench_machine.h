/*
 * stixel-bench --report: what the machine and the program are. Read from small files, nothing is started; no
 * file is read that says whose machine it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_BENCH_BENCH_MACHINE_H
#define SX_TOOLS_BENCH_BENCH_MACHINE_H

#include "ipc/text.h"
#include "power/board.h"

#define BENCH_ZONES_MAX 32

/* What the kernel calls thermal zones. */
struct bench_zones {
	int count;
	struct {
		char type[32];	/* "gpu-thermal" */
		double celsius; /* NAN: it does not say just now, as one that is switched off */
	} zone[BENCH_ZONES_MAX];
};

/* root stands for /; NULL: it does itself. */
void bench_zones_read(struct bench_zones *z, const char *root);

/* Objects of the report: "program", "board". */
void bench_machine_program(struct sx_text *t);
void bench_machine_board(struct sx_text *t, const struct sx_board *b, const char *root);
/* {"cpu_hz", ...} of a moment. */
void bench_machine_clocks(struct sx_text *t, const char *key, const struct sx_board *b);
/* [{"zone", "before", "after"}] */
void bench_machine_zones(struct sx_text *t, const struct bench_zones *before,
			 const struct bench_zones *after);

#endif
