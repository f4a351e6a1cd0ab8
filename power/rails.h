/*
 * Rails that a board measures: what INA monitors there are, whatever their driver, and
 * what adds up to the whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_RAILS_H
#define SX_POWER_RAILS_H

#include "power/files.h"

#define SX_RAILS_MAX 32
#define SX_RAIL_SUM_MAX 8

/*
 * Of the files, either the power alone or voltage and current are there; energy is rare.
 * Empty: there is none.
 */
struct sx_rail {
	char label[SX_FILE_NAME_BYTES];				     /* "VDD_IN" */
	char chip[16];						     /* "ina3221", "ina3221x", "ina238" */
	char place[32];						     /* "1-0040" */
	char volts[SX_FILE_PATH_BYTES], amperes[SX_FILE_PATH_BYTES]; /* mV, mA */
	char power[SX_FILE_PATH_BYTES], energy[SX_FILE_PATH_BYTES];
	int power_per_watt; /* 1000: mW, 1000000: uW; energy is in uJ */
	int update_ms;
};

struct sx_rails {
	int count;
	struct sx_rail rail[SX_RAILS_MAX];
	int chips;    /* monitors that were seen */
	int nameless; /* channels without a label: nobody knows what they measure */
};

/* Everything that has a name and is connected ("NC" is not). */
void sx_rails_find(struct sx_rails *rails, const char *root);

struct sx_rail_sum {
	const char *scope; /* "module", "board"; NULL: just this sum */
	int count, rail[SX_RAIL_SUM_MAX];
};

/*
 * What adds up to the whole: chosen (labels with blanks or commas between), or, when that is NULL,
 * what is known of boards with such labels. -ENODEV: there is no monitor; -EINVAL with a sentence
 * in why: it cannot be told.
 */
int sx_rails_sum(const struct sx_rails *rails, const char *chosen, struct sx_rail_sum *sum, char *why,
		 size_t why_bytes);

#endif
