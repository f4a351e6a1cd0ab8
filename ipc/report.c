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
	for (int i = 0; i < SX_METRIC_END; i++) {
		if (sx_metrics[i].kind == SX_METRIC_KIND_REAL)
			r->metric[i].real = (double)NAN;
		else if (sx_metrics[i].kind == SX_METRIC_KIND_COUNT)
			r->metric[i].count = -1;
	}
}
