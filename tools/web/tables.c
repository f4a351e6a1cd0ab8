/*
 * Prints the page's palette.js, class-colours.js, layout.js and advice.js, so that colours, offsets and
 * sentences are defined in one place.
 *
 *	web-tables palette|class-colours|layout|advice
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/advice.h"
#include "config/classes.h"
#include "config/config.h"
#include "recording/messages/palette.h"
#include "stixel.h"
#include "tools/draw/overlay.h"
#include "tools/web/wire.h"

enum { COLOURS = 256 };

static void print_head(const char *what)
{
	printf("// %s Made by tools/web/tables.c.\n// SPDX-License-Identifier: Apache-2.0\n", what);
}

/* The default of semantics.classes has the names with a colour of their own. */
static void print_class_colours(void)
{
	struct sx_semantic_params classes = {0};
	struct sx_class_names names;
	struct sx_settings defaults;
	struct sx_why why;

	if (sx_settings_init(&defaults) < 0 ||
	    sx_classes_parse(defaults.semantics.classes, &classes, &names, &why) < 0)
		exit(70);
	print_head("Colours of semantic classes, stixel_class_colour(): by name, else by label.");
	printf("export const NAMED = {");
	for (int i = 0; i < classes.classes; i++) {
		const struct sx_rgb c = sx_palette_label(names.name[i], 0);

		printf("%s\"%s\": [%d, %d, %d]", i ? ", " : "", names.name[i], c.r, c.g, c.b);
	}
	printf("};\nexport const LABEL = [");
	for (unsigned label = 0; label < STIXEL_CLASSES_MAX; label++) {
		const struct sx_rgb c = sx_palette_label(NULL, label);

		printf("%s[%d, %d, %d]", label ? ", " : "", c.r, c.g, c.b);
	}
	puts("];");
	sx_settings_finish(&defaults);
}

static void print_palette(void)
{
	print_head("Colours of recording/messages/palette.c.");
	printf("const HEX = \"");
	for (int i = 0; i < COLOURS; i++) {
		struct sx_rgb c = sx_palette_distance_at(i / (double)(COLOURS - 1));

		printf("%02x%02x%02x", c.r, c.g, c.b);
	}
	puts("\";\n// far to near\nexport const DISTANCE = HEX.match(/.{6}/g).map((c) => "
	     "[0, 2, 4].map((at) => parseInt(c.slice(at, at + 2), 16)));");
	printf("// by kind\nexport const CLASS = [");
	for (unsigned kind = STIXEL_GROUND; kind <= STIXEL_UNKNOWN; kind++) {
		struct sx_rgb c = sx_palette_class(kind);

		printf("%s[%d, %d, %d]", kind ? ", " : "", c.r, c.g, c.b);
	}
	puts("];\n// tools/draw/overlay.h; weights are 0..1");
	printf("export const OVER = {ground: %.3f, object: %.3f, sky: %.3f};\n", SX_LOOK_GROUND / 256.0,
	       SX_LOOK_OBJECT / 256.0, SX_LOOK_SKY / 256.0);
	printf("export const ALONE = {ground: %.3f, object: %.3f, sky: %.3f};\n",
	       SX_LOOK_CLASS_OPAQUE / 256.0, SX_LOOK_OPAQUE / 256.0, SX_LOOK_CLASS_OPAQUE / 256.0);
	printf("export const UNSEEN = %.3f, HATCH = %.3f, EDGE = %.3f, FILLED = %.3f;\n",
	       SX_LOOK_UNSEEN / 256.0, SX_LOOK_HATCH / 256.0, SX_LOOK_EDGE / 256.0, SX_LOOK_FILLED / 256.0);
	printf("export const HATCH_PX = %d, SIDES_FROM_PX = %d, EDGES_FROM_ROWS = %d;\n", SX_LOOK_HATCH_PX,
	       SX_LOOK_SIDES_FROM_PX, SX_LOOK_EDGES_FROM_ROWS);
	printf("export const STEP_PX = %d, STEP_PARTS = %d;\n", SX_LOOK_STEP_PX, SX_LOOK_STEP_PARTS);
}

#define FIELD(name) printf("\t%s: %zu,\n", #name, offsetof(struct stixel_frame_header, name))
#define STIXEL_FIELD(name) printf("\t%s: %zu,\n", #name, offsetof(struct stixel, name))
#define FREE_FIELD(name) printf("\t%s: %zu,\n", #name, offsetof(struct stixel_free_column, name))
#define OBJECT_FIELD(name) printf("\t%s: %zu,\n", #name, offsetof(struct stixel_object, name))
#define MESSAGE_FIELD(name) printf("\t%s: %zu,\n", #name, offsetof(struct web_message, name))

static void print_frame(void)
{
	puts("// offsets in a frame's header");
	puts("export const FRAME = {");
	FIELD(magic);
	FIELD(header_bytes);
	FIELD(frame_bytes);
	FIELD(stixels_offset);
	FIELD(number);
	FIELD(published_ns);
	FIELD(flags);
	FIELD(road_origin);
	FIELD(stage_count);
	FIELD(image_width);
	FIELD(image_height);
	FIELD(columns);
	FIELD(column_width);
	FIELD(disparities);
	FIELD(min_disparity);
	FIELD(stixel_count);
	FIELD(fx);
	FIELD(fy);
	FIELD(cx);
	FIELD(cy);
	FIELD(baseline_m);
	FIELD(road_slope);
	FIELD(road_offset);
	FIELD(horizon_row);
	FIELD(pitch_rad);
	FIELD(height_m);
	FIELD(road_cross);
	FIELD(road_axis);
	FIELD(road_bend);
	FIELD(road_bend_row);
	FIELD(roll_rad);
	FIELD(motion_offset);
	FIELD(objects_offset);
	FIELD(object_of_offset);
	FIELD(object_count);
	FIELD(object_bytes);
	FIELD(motion_reserved);
	puts("};");
}

static void print_free(void)
{
	puts("// offsets in a message of free space, and in each of its columns");
	puts("export const FREE = {");
	printf("\theader_bytes: %zu,\n", sizeof(struct web_free));
	printf("\tcolumns: %zu,\n\tabsent: %zu,\n", offsetof(struct web_free, columns),
	       offsetof(struct web_free, absent));
	printf("\tbytes: %zu,\n", sizeof(struct stixel_free_column));
	FREE_FIELD(from_m);
	FREE_FIELD(to_m);
	FREE_FIELD(end);
	FREE_FIELD(stixel);
	puts("};");
	printf("export const END = {unseen: %d, ground: %d, object: %d, drop: %d};\n", STIXEL_FREE_UNSEEN,
	       STIXEL_FREE_GROUND, STIXEL_FREE_OBJECT, STIXEL_FREE_DROP);
}

static void print_object(void)
{
	puts("// offsets in an object");
	puts("export const OBJECT = {");
	OBJECT_FIELD(id);
	OBJECT_FIELD(state);
	OBJECT_FIELD(x);
	OBJECT_FIELD(width);
	OBJECT_FIELD(vx);
	OBJECT_FIELD(unseen_s);
	OBJECT_FIELD(left);
	puts("};");
}

static void print_layout(void)
{
	print_head("Layout of include/stixel.h and tools/web/wire.h.");
	printf("export const FRAME_MAGIC = %u, MESSAGE_MAGIC = %u;\n", STIXEL_FRAME_MAGIC, WEB_MESSAGE_MAGIC);
	print_frame();
	puts("// offsets in a stixel");
	puts("export const STIXEL = {");
	printf("\tbytes: %zu,\n", sizeof(struct stixel));
	STIXEL_FIELD(column);
	STIXEL_FIELD(row_top);
	STIXEL_FIELD(row_bottom);
	STIXEL_FIELD(disparity_q7);
	STIXEL_FIELD(slope_q14);
	STIXEL_FIELD(kind);
	STIXEL_FIELD(label);
	STIXEL_FIELD(confidence);
	STIXEL_FIELD(flags);
	puts("};");
	puts("// offsets in a record of motion");
	printf("export const MOTION = {bytes: %zu, vx: %zu, vz: %zu, sigma_x: %zu, sigma_z: %zu, state: %zu, "
	       "stands: %d, moves: %d};\n",
	       sizeof(struct stixel_motion), offsetof(struct stixel_motion, vx),
	       offsetof(struct stixel_motion, vz), offsetof(struct stixel_motion, sigma_x),
	       offsetof(struct stixel_motion, sigma_z), offsetof(struct stixel_motion, state),
	       STIXEL_MOTION_STANDS, STIXEL_MOTION_MOVES);
	print_object();
	printf("export const DISPARITY_UNKNOWN = %u;\n", STIXEL_DISPARITY_UNKNOWN);
	printf("// in the order of their numbers\nexport const KIND = {");
	for (unsigned kind = STIXEL_GROUND; kind <= STIXEL_UNKNOWN; kind++)
		printf("%s%s: %u", kind ? ", " : "", stixel_kind_name(kind), kind);
	puts("};");
	printf("export const LABEL_NONE = %u;\n", STIXEL_LABEL_NONE);
	printf("export const ROAD_NONE = %d, FRAME_BLIND = %u, FLAG_FILLED = %u;\n", STIXEL_ROAD_NONE,
	       STIXEL_FRAME_BLIND, STIXEL_FLAG_FILLED);
	puts("// offsets in a message's header");
	puts("export const MESSAGE = {");
	printf("\theader_bytes: %zu,\n", sizeof(struct web_message));
	MESSAGE_FIELD(magic);
	MESSAGE_FIELD(kind);
	MESSAGE_FIELD(bytes);
	MESSAGE_FIELD(skipped);
	MESSAGE_FIELD(number);
	MESSAGE_FIELD(age_us);
	puts("};");
	printf("export const MESSAGE_KIND = "
	       "{frame: %d, left: %d, disparity: %d, notice: %d, free: %d, scale: %d};\n",
	       WEB_MESSAGE_FRAME, WEB_MESSAGE_LEFT, WEB_MESSAGE_DISPARITY, WEB_MESSAGE_NOTICE,
	       WEB_MESSAGE_FREE, WEB_MESSAGE_SCALE);
	print_free();
}

static void print_advice(void)
{
	print_head("Advice of base/advice.c.");
	printf("export const TOO_SLOW = \"%s\";\n", sx_advice_too_slow());
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "palette") == 0)
		print_palette();
	else if (argc == 2 && strcmp(argv[1], "class-colours") == 0)
		print_class_colours();
	else if (argc == 2 && strcmp(argv[1], "layout") == 0)
		print_layout();
	else if (argc == 2 && strcmp(argv[1], "advice") == 0)
		print_advice();
	else
		return 64;
	return fflush(stdout) == 0 ? 0 : 73;
}
