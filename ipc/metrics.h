/*
 * All metrics of the status, each defined once. A row gives its place in /status, in /metrics and in a
 * report. Both documents, the table of docs/use/metrics.md (tests/ipc/test_metrics.c) and the pipeline's
 * counters are made from these rows. docs/develop/recipes.md has the recipe for a new row.
 *
 * Names are a contract: rows may be added, and are never renamed or removed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_METRICS_H
#define SX_IPC_METRICS_H

/*
 * Columns of the rows in ipc/metrics.def:
 *
 * METRIC(ID, KIND, "object", "key", FAMILY, "label")
 *	ID	after the prefix SX_METRIC_: index in sx_report.metric, and in sx_telemetry.count if COUNTED
 *	KIND	enum sx_metric_kind
 *	object, key	in /status: "frames.dropped", "overload" is {"frames": {"dropped": {"overload": 3}}}.
 *		object "": the document itself. key NULL: /status leaves the metric out, and object only
 *		decides when /metrics leaves it out (report_metrics.c)
 *	FAMILY	of /metrics; NONE: /metrics leaves the metric out
 *	label	value of the family's label; NULL: the family has one sample, without labels
 * Within an object the row of a sum comes before the rows of its parts. The counters are read from the last
 * to the first, so that in no snapshot the parts exceed the sum.
 *
 * CAMERA_METRIC(ID, "key", FAMILY): metrics of each camera. ID, after the prefix SX_CAMERA_, is the index in
 * sx_report_camera.count.
 *
 * FAMILY(ID, "name", TYPE, "unit", DIGITS, "labels", "help")
 *	unit	the last part of the name, or NULL
 *	DIGITS	significant digits of a real number; 0: whole number
 *	labels	separated by ", ". A family whose samples are no metrics has a function in report_metrics.c
 */

/* Type of a metric, and its value before it is set. */
enum sx_metric_kind {
	SX_METRIC_KIND_COUNTED, /* whole number, counted by the pipeline in its telemetry; initially 0 */
	SX_METRIC_KIND_WHOLE,	/* whole number, set by the creator of the report; initially 0 */
	SX_METRIC_KIND_COUNT,	/* as WHOLE, but negative if unknown; initially -1 */
	SX_METRIC_KIND_REAL	/* real number, NAN if unknown; initially NAN */
};

enum sx_family_type {
	SX_FAMILY_TYPE_INFO,
	SX_FAMILY_TYPE_STATESET,
	SX_FAMILY_TYPE_GAUGE,
	SX_FAMILY_TYPE_COUNTER,
	SX_FAMILY_TYPE_SUMMARY
};

/* clang-format off */
enum sx_metric {
#define METRIC(id, ...) SX_METRIC_##id,
#include "ipc/metrics.def"
	SX_METRIC_END
};

enum sx_camera_metric {
#define CAMERA_METRIC(id, ...) SX_CAMERA_##id,
#include "ipc/metrics.def"
	SX_CAMERA_END
};

enum sx_family {
	SX_FAMILY_NONE = -1,
#define FAMILY(id, ...) SX_FAMILY_##id,
#include "ipc/metrics.def"
	SX_FAMILY_END
};
/* clang-format on */

/* The rows as tables, indexed by their enum. */
struct sx_metric_row {
	enum sx_metric_kind kind;
	const char *object, *key;
	enum sx_family family;
	const char *label;
};
struct sx_camera_row {
	const char *key;
	enum sx_family family;
};
struct sx_family_row {
	const char *name;
	enum sx_family_type type;
	const char *unit;
	int digits;
	const char *labels, *help;
};
extern const struct sx_metric_row sx_metrics[SX_METRIC_END];
extern const struct sx_camera_row sx_camera_metrics[SX_CAMERA_END];
extern const struct sx_family_row sx_families[SX_FAMILY_END];

/* Returns the word of the OpenMetrics format: "info", "counter", ... */
const char *sx_family_type_name(enum sx_family_type type);

#endif
