/*
 * Rails that a board measures. Finds its INA monitors, with any driver, and the rails that add up to the
 * total.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_RAILS_H
#define SX_POWER_RAILS_H

#include "base/why.h"
#include "power/files.h"

#define SX_RAILS_MAX 32
#define SX_RAIL_SUM_MAX 8

/*
 * A rail and its files. Either power, or volts and amperes, have a path; energy seldom has one. An empty
 * path: there is no such file.
 */
struct sx_rail {
	char label[SX_FILE_NAME_BYTES]; /* label of the rail, "VDD_IN" */
	char chip[16];			/* name of the monitor: "ina3221", "ina3221x", "ina238" */
	char place[32];			/* bus and address of the monitor, "1-0040" */
	char volts[SX_FILE_PATH_BYTES], amperes[SX_FILE_PATH_BYTES]; /* values in mV and mA */
	char power[SX_FILE_PATH_BYTES], energy[SX_FILE_PATH_BYTES];
	int power_per_watt; /* 1000: power is in mW, 1000000: in uW; energy is in uJ */
	int update_ms;
};

struct sx_rails {
	int count;
	struct sx_rail rail[SX_RAILS_MAX];
	int chips;    /* number of monitors found */
	int nameless; /* channels without a label, so that their rail is not known */
};

/* Finds all rails that have a label and are connected (label "NC" is not). */
void sx_rails_find(struct sx_rails *rails, const char *root);

struct sx_rail_sum {
	/* Part that the sum measures: "module", "board". NULL: it is only a sum of rails. */
	const char *scope;
	int count, rail[SX_RAIL_SUM_MAX];
};

/*
 * Finds the rails that add up to the total. chosen: labels separated by blanks or commas; NULL: takes the
 * table of known boards. -ENODEV: there is no monitor. -EINVAL with a sentence in why: the rails cannot be
 * determined.
 */
int sx_rails_sum(const struct sx_rails *rails, const char *chosen, struct sx_rail_sum *sum,
		 struct sx_why *why);

#endif
