/*
 * Every figure of the status, once: a row says where it stands in /status and in /metrics, and gives it its
 * place in a report. Both documents, the table of docs/metrics.md (tests/ipc/test_figures.c) and the
 * pipeline's counters come from these rows. docs/recipes.md has the recipe for a new one.
 *
 * Names are a contract: rows may be added, none is renamed or removed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FIGURES_H
#define SX_IPC_FIGURES_H

/*
 * ipc/figures.def has the rows.
 *
 * FIGURE(ID, KIND, "object", "key", FAMILY, "label")
 *	ID	behind SX_FIG_: its place in sx_report.figure, and in sx_telemetry.count if it is COUNTED
 *	KIND	enum sx_figure_kind
 *	object, key	in /status: "frames.dropped", "overload" is {"frames": {"dropped": {"overload": 3}}}.
 *		object "": the document itself. key NULL: not told there, and object only says with what the
 *		family is left out
 *	FAMILY	of /metrics, NONE: not told there
 *	label	value of the family's label; NULL: the family has one sample, without labels
 * Within an object a whole stands before its parts: they are read from the last to the first, so that no
 * snapshot has more parts than the whole.
 *
 * CAMERA_FIGURE(ID, "key", FAMILY): figures of each camera; ID behind SX_CAMERA_ is its place in
 * sx_report_camera.count.
 *
 * FAMILY(ID, "name", TYPE, "unit", DIGITS, "labels", "help")
 *	unit	the end of the name, or NULL
 *	DIGITS	of a real number; 0: whole
 *	labels	parted by ", ". A family whose samples are no figures has a writer in report_metrics.c
 */

/* What a figure is, and what it is before anybody has told it. */
enum sx_figure_kind {
	SX_FIGURE_COUNTED, /* whole, counted by the pipeline in its telemetry: 0 */
	SX_FIGURE_WHOLE,   /* whole, told by who makes the report: 0 */
	SX_FIGURE_COUNT,   /* the same, negative where unknown: -1 */
	SX_FIGURE_REAL	   /* NAN where unknown: NAN */
};

enum sx_family_type {
	SX_FAMILY_TYPE_INFO,
	SX_FAMILY_TYPE_STATESET,
	SX_FAMILY_TYPE_GAUGE,
	SX_FAMILY_TYPE_COUNTER,
	SX_FAMILY_TYPE_SUMMARY
};

/* clang-format off */
enum sx_figure {
#define FIGURE(id, ...) SX_FIG_##id,
#include "ipc/figures.def"
	SX_FIG_END
};

enum sx_camera_figure {
#define CAMERA_FIGURE(id, ...) SX_CAMERA_##id,
#include "ipc/figures.def"
	SX_CAMERA_END
};

enum sx_family {
	SX_FAMILY_NONE = -1,
#define FAMILY(id, ...) SX_FAMILY_##id,
#include "ipc/figures.def"
	SX_FAMILY_END
};
/* clang-format on */

/* The rows as tables, by their enum. */
struct sx_figure_row {
	enum sx_figure_kind kind;
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
extern const struct sx_figure_row sx_figures[SX_FIG_END];
extern const struct sx_camera_row sx_camera_figures[SX_CAMERA_END];
extern const struct sx_family_row sx_families[SX_FAMILY_END];

/* "info", "counter", ...: the word of the format. */
const char *sx_family_type_name(enum sx_family_type type);

#endif
