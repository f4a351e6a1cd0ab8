/*
 * Parses the command line of stixel-quality.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"Usage: stixel-quality [OPTION]...\n"
	"Runs an engine over frames of synthetic streets and compares with their truth.\n"
	"  -e, --engine NAME          reference or cpu (cpu)\n"
	"  -n, --seeds N              streets, one frame of each (20)\n"
	"      --first N              first seed (1)\n"
	"      --size WxH             of a picture (640x240)\n"
	"      --scene NAME           street, open, climb, fall, ramp, verge, cargo, room, traffic, crossing, "
	"bend,\n"
	"                             yard, night, rain or glass\n"
	"      --lenses NAME          plain, wide, fisheye: raw pictures, rectified (ideal)\n"
	"      --raw-size WxH         of these (as --size)\n"
	"      --semantics noise      with class scores made from the true ones, wrong in small patches; exit 1 "
	"if the\n"
	"                             stixels' labels or kinds are worse than these (intersection over union)\n"
	"      --semantics network    with scores that are wrong about whole areas, like those of a real "
	"network\n"
	"  -s SECTION.KEY=VALUE       setting, as of stixeld\n"
	"  -v, --verbose              a line for every street\n"
	"      --min-detection P      exit 1 if less than P % of the true stixels are detected\n"
	"      --max-d1 P             exit 1 if D1 of pixels seen by both cameras is more than P %\n"
	"      --max-bad P            exit 1 if more than P % of these pixels have a wrong disparity or none\n"
	"      --max-false L,M,C      exit 1 if more than this % of the pairs have a false positive in free "
	"space:\n"
	"                             literal, measurable, driving corridor (metrics.h says what these "
	"are)\n"
	"      --max-each L,M,C       exit 1 if there are more false positives than these per pair, on "
	"average\n"
	"      --max-painted G,O      exit 1 if more than this % of the pixels of ground, of objects have a "
	"wrong\n"
	"                             disparity, as painted back from the stixels\n"
	"      --min-called G,O       exit 1 if less than this % of the pixels of ground are called ground, "
	"of\n"
	"                             objects objects\n"
	"      --max-figures F,M,L,D,N,F,W,E\n"
	"                             exit 1 if the figures as on lidar are more than this %: false, "
	"missed, low,\n"
	"                             dist, near, far, white, edge (lidar_figures.h says what these are)\n"
	"      --min-small N,F        exit 1 if less than this % of the small things are detected, up to 20 "
	"m and\n"
	"                             farther\n"
	"      --min-iou C,K          exit 1 if the stixels' classes, kinds have less than this % of "
	"intersection over\n"
	"                             union\n"
	"      --max-road-end F,N     exit 1 if the free space of the road, by class scores, is too far in more "
	"than F %\n"
	"                             of the columns where other ground ends it, or too near in more than N % "
	"elsewhere\n"
	"      --min-persons P        exit 1 if less than P % of the persons 25 to 35 m away are detected\n"
	"      --max-room N,S,P,P,F,L,D,R,K,M,B,D,G\n"
	"                             exit 1 if the figures of rooms are more than this %: near, sure, paper, plain, "
	"floor,\n"
	"                             lost, dark, ramp, kerb, missed, beyond, down, gap (room_figures.h says "
	"what\n"
	"                             these are)\n";

enum {
	OPT_FIRST = 256,
	OPT_SIZE,
	OPT_SCENE,
	OPT_LENSES,
	OPT_RAW_SIZE,
	OPT_DETECTION,
	OPT_D1,
	OPT_BAD,
	OPT_FALSE,
	OPT_EACH,
	OPT_SEMANTICS,
	OPT_PAINTED,
	OPT_CALLED,
	OPT_FIGURES,
	OPT_SMALL,
	OPT_IOU,
	OPT_ROAD_END,
	OPT_PERSONS,
	OPT_ROOM
};

static const struct option long_options[] = {
	{"engine", required_argument, NULL, 'e'},
	{"seeds", required_argument, NULL, 'n'},
	{"first", required_argument, NULL, OPT_FIRST},
	{"size", required_argument, NULL, OPT_SIZE},
	{"scene", required_argument, NULL, OPT_SCENE},
	{"lenses", required_argument, NULL, OPT_LENSES},
	{"raw-size", required_argument, NULL, OPT_RAW_SIZE},
	{"verbose", no_argument, NULL, 'v'},
	{"min-detection", required_argument, NULL, OPT_DETECTION},
	{"max-d1", required_argument, NULL, OPT_D1},
	{"max-bad", required_argument, NULL, OPT_BAD},
	{"max-false", required_argument, NULL, OPT_FALSE},
	{"max-each", required_argument, NULL, OPT_EACH},
	{"semantics", required_argument, NULL, OPT_SEMANTICS},
	{"max-painted", required_argument, NULL, OPT_PAINTED},
	{"min-called", required_argument, NULL, OPT_CALLED},
	{"max-figures", required_argument, NULL, OPT_FIGURES},
	{"min-small", required_argument, NULL, OPT_SMALL},
	{"min-iou", required_argument, NULL, OPT_IOU},
	{"max-road-end", required_argument, NULL, OPT_ROAD_END},
	{"min-persons", required_argument, NULL, OPT_PERSONS},
	{"max-room", required_argument, NULL, OPT_ROOM},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static bool take_spaces(double ret[SPACES])
{
	char rest;

	return sscanf(optarg, "%lf,%lf,%lf%c", &ret[LITERAL], &ret[MEASURABLE], &ret[CORRIDOR], &rest) == 3;
}

static bool take_two(double ret[2])
{
	char rest;

	return sscanf(optarg, "%lf,%lf%c", &ret[0], &ret[1], &rest) == 2;
}

/* Reads numbers with a comma between them. */
static bool take_figures(double *ret, int count)
{
	const char *at = optarg;
	int taken = 0;

	for (int i = 0; i < count; i++, at += taken)
		if (sscanf(at, i ? ",%lf%n" : "%lf%n", &ret[i], &taken) != 1)
			return false;
	return !*at;
}

/* Takes an option. Returns false if its argument is invalid. */
static bool take_option(struct options *o, int c)
{
	char rest;

	switch (c) {
	case 'e':
		o->engine = optarg;
		return true;
	case 'n':
		return sscanf(optarg, "%d%c", &o->seeds, &rest) == 1 && o->seeds > 0;
	case OPT_FIRST:
		return sscanf(optarg, "%u%c", &o->first, &rest) == 1;
	case OPT_SIZE:
		return sscanf(optarg, "%dx%d%c", &o->width, &o->height, &rest) == 2;
	case OPT_SCENE:
		o->scene = optarg;
		return true;
	case OPT_LENSES:
		o->lenses = optarg;
		return true;
	case OPT_RAW_SIZE:
		return sscanf(optarg, "%dx%d%c", &o->raw_width, &o->raw_height, &rest) == 2;
	case 's':
		if (o->override_count == OVERRIDES_MAX)
			return false;
		o->overrides[o->override_count++] = optarg;
		return true;
	case 'v':
		o->verbose = true;
		return true;
	case OPT_DETECTION:
		return sscanf(optarg, "%lf%c", &o->min_detection, &rest) == 1;
	case OPT_D1:
		return sscanf(optarg, "%lf%c", &o->max_d1, &rest) == 1;
	case OPT_BAD:
		return sscanf(optarg, "%lf%c", &o->max_bad, &rest) == 1;
	case OPT_FALSE:
		return take_spaces(o->max_false);
	case OPT_EACH:
		return take_spaces(o->max_each);
	case OPT_SEMANTICS:
		o->semantics = !strcmp(optarg, "noise")	    ? QUALITY_PATCHES
			       : !strcmp(optarg, "network") ? QUALITY_AREAS
							    : QUALITY_NO_SCORES;
		return o->semantics != QUALITY_NO_SCORES;
	case OPT_IOU:
		return take_two(o->min_iou);
	case OPT_ROAD_END:
		return take_two(o->max_road_end);
	case OPT_PERSONS:
		return sscanf(optarg, "%lf%c", &o->min_persons, &rest) == 1;
	case OPT_PAINTED:
		return take_two(o->max_painted);
	case OPT_CALLED:
		return take_two(o->min_called);
	case OPT_FIGURES:
		return take_figures(o->max_figures, FIGURES);
	case OPT_SMALL:
		return take_two(o->min_small);
	case OPT_ROOM:
		return take_figures(o->max_room, ROOM_FIGURES);
	}
	return false;
}

int parse_options(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options){.engine = "cpu", .width = 640, .height = 240, .seeds = 20, .first = 1};
	o->max_each[LITERAL] = o->max_each[MEASURABLE] = o->max_each[CORRIDOR] = 1e9;
	o->max_painted[0] = o->max_painted[1] = 100;
	o->max_road_end[0] = o->max_road_end[1] = 100;
	for (int i = 0; i < FIGURES; i++)
		o->max_figures[i] = 100;
	for (int i = 0; i < ROOM_FIGURES; i++)
		o->max_room[i] = 100;
	o->max_d1 = o->max_bad = o->max_false[LITERAL] = o->max_false[MEASURABLE] = o->max_false[CORRIDOR] =
		100;
	while ((c = getopt_long(argc, argv, "e:n:s:vh", long_options, NULL)) >= 0) {
		if (c == 'h') {
			fputs(usage, stdout);
			exit(0);
		}
		if (!take_option(o, c)) {
			if (c != '?')
				fprintf(stderr, "stixel-quality: bad value '%s'\n", optarg);
			fputs(usage, stderr);
			return -EINVAL;
		}
	}
	if (optind == argc)
		return 0;
	fputs(usage, stderr);
	return -EINVAL;
}
