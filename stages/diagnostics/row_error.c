/*
 * Medians of votes, by counting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/diagnostics/row_error.h"

#include <stdlib.h>

#define MOST (16 * SX_DIAGNOSTICS_REACH) /* largest |vote|; two votes differ by twice that at most */
#define VALUES (2 * MOST + 1)

struct votes {
	uint32_t n, count[VALUES]; /* number of votes; number of each value, at index vote + MOST */
};

/* Returns the lower median of counted values, which start at 0. n is at least 1. */
static int lower_median(const uint32_t count[VALUES], uint32_t n)
{
	uint32_t below = 0;
	int value = 0;

	while (below + count[value] <= (n - 1) / 2)
		below += count[value++];
	return value;
}

static struct sx_row_error error_of(const struct votes *v)
{
	struct sx_row_error e = {v->n, SX_ROW_ERROR_UNKNOWN, SX_ROW_ERROR_UNKNOWN};
	uint32_t distance[VALUES] = {0};
	int middle;

	if (v->n < SX_ROW_ERROR_VOTES_LEAST)
		return e;
	middle = lower_median(v->count, v->n);
	for (int i = 0; i < VALUES; i++)
		distance[abs(i - middle)] += v->count[i];
	e.median = (int16_t)(middle - MOST);
	e.spread = (int16_t)lower_median(distance, v->n);
	return e;
}

void sx_row_error(const struct sx_diagnostics *m, struct sx_row_error ret[SX_ROW_ERROR_PARTS])
{
	struct votes part[SX_ROW_ERROR_PARTS] = {0};

	for (int j = 0; j < SX_DIAGNOSTICS_ROWS; j++)
		for (int i = 0; i < SX_DIAGNOSTICS_COLUMNS; i++) {
			struct votes *third = &part[3 * i / SX_DIAGNOSTICS_COLUMNS],
				     *all = &part[SX_ROW_ERROR_ALL];
			const int vote = m->vote[j][i];

			if (vote == SX_DIAGNOSTICS_NO_VOTE)
				continue;
			third->n++;
			third->count[vote + MOST]++;
			all->n++;
			all->count[vote + MOST]++;
		}
	for (int i = 0; i < SX_ROW_ERROR_PARTS; i++)
		ret[i] = error_of(&part[i]);
}
