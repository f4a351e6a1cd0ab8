/*
 * Initial snapshot, before any value is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/report.h"

#include <math.h>
#include <string.h>

void sx_report_init(struct sx_report *r)
{
	memset(r, 0, sizeof(*r));
	for (int i = 0; i < SX_FIG_END; i++) {
		if (sx_figures[i].kind == SX_FIGURE_REAL)
			r->figure[i].real = (double)NAN;
		else if (sx_figures[i].kind == SX_FIGURE_COUNT)
			r->figure[i].count = -1;
	}
}
