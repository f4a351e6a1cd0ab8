/*
 * The rows of metrics.h as tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/metrics.h"

#include <stddef.h>

#include "base/contract.h"

const struct sx_metric_row sx_metrics[SX_METRIC_END] = {
#define METRIC(id, kind, object, key, family, label) \
	[SX_METRIC_##id] = {SX_METRIC_KIND_##kind, object, key, SX_FAMILY_##family, label},
#include "ipc/metrics.def"
};

const struct sx_camera_row sx_camera_metrics[SX_CAMERA_END] = {
#define CAMERA_METRIC(id, key, family) [SX_CAMERA_##id] = {key, SX_FAMILY_##family},
#include "ipc/metrics.def"
};

const struct sx_family_row sx_families[SX_FAMILY_END] = {
#define FAMILY(id, name, type, unit, digits, labels, help) \
	[SX_FAMILY_##id] = {name, SX_FAMILY_TYPE_##type, unit, digits, labels, help},
#include "ipc/metrics.def"
};

const char *sx_family_type_name(enum sx_family_type type)
{
	static const char *const names[] = {
		[SX_FAMILY_TYPE_INFO] = "info",	      [SX_FAMILY_TYPE_STATESET] = "stateset",
		[SX_FAMILY_TYPE_GAUGE] = "gauge",     [SX_FAMILY_TYPE_COUNTER] = "counter",
		[SX_FAMILY_TYPE_SUMMARY] = "summary",
	};

	sx_must_index(type, sizeof(names) / sizeof(names[0]));
	return names[type];
}
