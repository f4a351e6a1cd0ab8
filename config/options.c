/*
 * The option table. Each key of the configuration has exactly one row. Add a row only together with the code
 * that uses its value: an option without effect is worse than none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/option.h"

/* A row whose type differs from its field's does not compile. */
#define AT(field, type) \
	_Generic(&((struct sx_settings *)NULL)->field, type * : offsetof(struct sx_settings, field))

/* Former section of the keys of [model]; the rows take it from this macro. */
#define WAS NULL

/*
 * Default of a number that is left open. sx_stereo_resolve() fills in the best value for the cost and the
 * number of paths. These values are in one table: best_penalties in stages/params/params.c.
 */
#define BEST "0"

#define COMMON(s, k, o, d, c, h) \
	.section = (s), .was = WAS, .key = (k), .offset = (o), .initial = (d), .change = (c), .help = (h)

#define BOOL(s, k, field, d, c, h)                                             \
	{                                                                      \
		.kind = SX_OPTION_BOOL, COMMON(s, k, AT(field, bool), d, c, h) \
	}
#define INT(s, k, field, d, lo, hi, u, c, h) INT_RULE(s, k, field, SX_RULE_NONE, d, lo, hi, u, c, h)
#define INT_RULE(s, k, field, r, d, lo, hi, u, c, h)                                       \
	{                                                                                  \
		.kind = SX_OPTION_INT, .rule = (r), .min = (lo), .max = (hi), .unit = (u), \
		COMMON(s, k, AT(field, int), d, c, h)                                      \
	}
#define UNSIGNED(s, k, field, d, lo, hi, u, c, h)                                  \
	{                                                                          \
		.kind = SX_OPTION_UNSIGNED, .min = (lo), .max = (hi), .unit = (u), \
		COMMON(s, k, AT(field, unsigned), d, c, h)                         \
	}
#define REAL(s, k, field, d, lo, hi, u, c, h)                                  \
	{                                                                      \
		.kind = SX_OPTION_REAL, .min = (lo), .max = (hi), .unit = (u), \
		COMMON(s, k, AT(field, double), d, c, h)                       \
	}
#define TEXT(s, k, field, d, c, h)                                                     \
	{                                                                              \
		.kind = SX_OPTION_TEXT, COMMON(s, k, AT(field, const char *), d, c, h) \
	}
#define CHOICE(s, k, field, type, w, d, c, h)                                                  \
	{                                                                                      \
		.kind = SX_OPTION_CHOICE, .words = (w), COMMON(s, k, AT(field, type), d, c, h) \
	}
/* field: the structure with int width, height, in this order */
#define SIZE(s, k, field, d, c, h)                                                  \
	{                                                                           \
		.kind = SX_OPTION_SIZE, COMMON(s, k, AT(field.width, int), d, c, h) \
	}

#define RESTART SX_CHANGE_RESTART
#define NOTHING SX_CHANGE_NOTHING
#define CONTROLS SX_CHANGE_CONTROLS
#define CONTEXTS SX_CHANGE_CONTEXTS
#define CAMERA SX_CHANGE_CAMERA
#define CALIBRATION SX_CHANGE_CALIBRATION
#define ROWS SX_CHANGE_ROW_CORRECTION

_Static_assert(offsetof(struct sx_source_params, height) ==
		       offsetof(struct sx_source_params, width) + sizeof(int),
	       "a size is two int in a row");
_Static_assert(offsetof(struct sx_rectify_params, height) ==
		       offsetof(struct sx_rectify_params, width) + sizeof(int),
	       "a size is two int in a row");
_Static_assert(sizeof(enum sx_cost) == sizeof(int), "choices are read and written as int");

static const char *const source_kinds[] = {[SX_SOURCE_V4L2] = "v4l2",
					   [SX_SOURCE_FILES] = "files",
					   [SX_SOURCE_SYNTHETIC] = "synthetic",
					   [SX_SOURCE_SHARED] = "shared",
					   NULL};
static const char *const layouts[] = {[SX_LAYOUT_TWO] = "two",
				      [SX_LAYOUT_SIDE_BY_SIDE] = "side-by-side",
				      [SX_LAYOUT_TOP_BOTTOM] = "top-bottom",
				      [SX_LAYOUT_INTERLEAVED] = "interleaved",
				      [SX_LAYOUT_RIGHT_FIRST] = "right-first",
				      NULL};
static const char *const formats[] = {[SX_FORMAT_AUTO] = "auto",
				      [SX_FORMAT_GREY] = "GREY",
				      [SX_FORMAT_Y10] = "Y10",
				      [SX_FORMAT_Y12] = "Y12",
				      [SX_FORMAT_Y16] = "Y16",
				      [SX_FORMAT_YUYV] = "YUYV",
				      [SX_FORMAT_UYVY] = "UYVY",
				      [SX_FORMAT_NV12] = "NV12",
				      [SX_FORMAT_RGB3] = "RGB3",
				      [SX_FORMAT_MJPG] = "MJPG",
				      [SX_FORMAT_Y8I] = "Y8I",
				      [SX_FORMAT_Y12I] = "Y12I",
				      [SX_FORMAT_SRGGB8] = "SRGGB8",
				      [SX_FORMAT_SGRBG8] = "SGRBG8",
				      [SX_FORMAT_SGBRG8] = "SGBRG8",
				      [SX_FORMAT_SBGGR8] = "SBGGR8",
				      [SX_FORMAT_SRGGB10] = "SRGGB10",
				      [SX_FORMAT_SGRBG10] = "SGRBG10",
				      [SX_FORMAT_SGBRG10] = "SGBRG10",
				      [SX_FORMAT_SBGGR10] = "SBGGR10",
				      [SX_FORMAT_SRGGB10P] = "SRGGB10P",
				      [SX_FORMAT_SGRBG10P] = "SGRBG10P",
				      [SX_FORMAT_SGBRG10P] = "SGBRG10P",
				      [SX_FORMAT_SBGGR10P] = "SBGGR10P",
				      [SX_FORMAT_SRGGB12] = "SRGGB12",
				      [SX_FORMAT_SGRBG12] = "SGRBG12",
				      [SX_FORMAT_SGBRG12] = "SGBRG12",
				      [SX_FORMAT_SBGGR12] = "SBGGR12",
				      NULL};
static const char *const memories[] = {[SX_MEMORY_AUTO] = "auto",
				       [SX_MEMORY_USERPTR] = "userptr",
				       [SX_MEMORY_DMABUF] = "dmabuf",
				       [SX_MEMORY_MMAP] = "mmap",
				       NULL};
static const char *const rectifies[] = {
	[SX_RECTIFY_AUTO] = "auto", [SX_RECTIFY_YES] = "yes", [SX_RECTIFY_NO] = "no", NULL};
static const char *const row_choices[] = {
	[SX_ROW_CORRECTION_OFF] = "off", [SX_ROW_CORRECTION_AUTO] = "auto", NULL};
static const char *const matchers[] = {
	[SX_MATCH_INTERNAL] = "internal", [SX_MATCH_EXTERNAL] = "external", NULL};
static const char *const costs[] = {
	[SX_COST_CSCT] = "csct",	 [SX_COST_CENSUS] = "census", [SX_COST_CENSUS48] = "census48",
	[SX_COST_CENSUS63] = "census63", [SX_COST_ZNCC] = "zncc",     NULL};
static const char *const searches[] = {
	[SX_SEARCH_FULL] = "full", [SX_SEARCH_PYRAMID] = "pyramid", [SX_SEARCH_AUTO] = "auto", NULL};
static const char *const aggregations[] = {
	[SX_AGGREGATION_SGM] = "sgm", [SX_AGGREGATION_FASTDT] = "fastdt", NULL};
static const char *const fastdts[] = {
	[SX_FASTDT_AUTO] = "auto",   [SX_FASTDT_FLOAT] = "float", [SX_FASTDT_INT32] = "int32",
	[SX_FASTDT_INT16] = "int16", [SX_FASTDT_INT8] = "int8",	  NULL};
static const char *const out_of_views[] = {
	[SX_OUT_OF_VIEW_ZERO] = "zero", [SX_OUT_OF_VIEW_MAX] = "max", NULL};
static const char *const subpixels[] = {
	[SX_SUBPIXEL_OFF] = "off", [SX_SUBPIXEL_TRUNC] = "trunc", [SX_SUBPIXEL_FLOOR] = "floor", NULL};
static const char *const motion_modes[] = {[SX_MOTION_MODE_OFF] = "off",
					   [SX_MOTION_MODE_PAIR] = "pair",
					   [SX_MOTION_MODE_FILTER] = "filter",
					   NULL};
static const char *const range_offsets[] = {[SX_RANGE_OFFSET_OFF] = "off",
					    [SX_RANGE_OFFSET_REPORT] = "report",
					    [SX_RANGE_OFFSET_APPLY] = "apply",
					    NULL};
static const char *const median_borders[] = {
	[SX_MEDIAN_BORDER_COPY] = "copy", [SX_MEDIAN_BORDER_ZERO] = "zero", NULL};
static const char *const road_modes[] = {
	[SX_ROAD_PLANE] = "plane", [SX_ROAD_CALIBRATED] = "calibrated", NULL};
static const char *const methods[] = {[SX_STIXEL_DP] = "dp",
				      [SX_STIXEL_SLANTED] = "slanted",
				      [SX_STIXEL_RDP] = "rdp",
				      [SX_STIXEL_SLANTED_EXACT] = "slanted-exact",
				      NULL};
static const char *const confidence_weights[] = {
	[SX_WEIGHT_SQUARED] = "squared", [SX_WEIGHT_LINEAR] = "linear", [SX_WEIGHT_EQUAL] = "equal", NULL};
static const char *const reductions[] = {
	[SX_REDUCTION_MEDIAN] = "median", [SX_REDUCTION_MEAN] = "mean", NULL};
static const char *const backends[] = {[SX_BACKEND_AUTO] = "auto",
				       [SX_BACKEND_CPU] = "cpu",
				       [SX_BACKEND_CUDA] = "cuda",
				       [SX_BACKEND_REFERENCE] = "reference",
				       NULL};
static const char *const inputs[] = {
	[SX_INPUT_AUTO] = "auto", [SX_INPUT_MAPPED] = "mapped", [SX_INPUT_COPY] = "copy", NULL};
static const char *const planes[] = {
	[SX_PLANES_NONE] = "none", [SX_PLANES_DISPARITY] = "disparity", [SX_PLANES_LEFT] = "left",
	[SX_PLANES_BOTH] = "both", [SX_PLANES_PAIR] = "pair",		NULL};
static const char *const planes_when[] = {[SX_PLANES_ASKED] = "asked", [SX_PLANES_ALWAYS] = "always", NULL};

static const char *const power_sources[] = {
	[SX_POWER_AUTO] = "auto", [SX_POWER_INA] = "ina",   [SX_POWER_NVML] = "nvml",
	[SX_POWER_RAPL] = "rapl", [SX_POWER_NONE] = "none", NULL};

const struct sx_section sx_sections[] = {
	{SX_SECTION_PRESET, "values for a kind of vehicle, which replace the defaults"},
	{"source", "where stereo pairs come from"},
	{"camera", "the rectified left camera and how it is mounted"},
	{"stereo", "matching: from the pair to disparity"},
	{"filters", "filters of the disparity map"},
	{"road", "the ground plane"},
	{"vehicle", "the vehicle's measures, by which readers of frames decide what is an "
		    "obstacle"},
	{"stixels", "from disparity to stixels"},
	{"motion", "motion of the camera and of what it sees, and a check of the range by it"},
	{"semantics", "class scores of the left image, from a segmentation network in another process"},
	{"external", "disparity maps of the left image, from another process (stereo.matcher = external)"},
	{"engine", "the engine that computes"},
	{"output", "where the daemon publishes results"},
	{"power", "power drawn by the computer; measured only, never limited"},
	{"realtime", "scheduling and memory"},
	{"log", "what the daemon writes to the journal"},
	{SX_SECTION_MODEL, "constants of the models, for their developers (docs/develop/model.md)"},
};
const int sx_section_count = sizeof(sx_sections) / sizeof(sx_sections[0]);

#define P_MIN 0.000001 /* a probability is neither 0 nor 1 */
#define P_MAX 0.999999

const struct sx_option sx_options[] = {
	TEXT(SX_SECTION_PRESET, "name", preset, "", RESTART,
	     "car, robot, indoor, fast, or a file by its path (./FILE); files and -s count more; empty: none"),

	CHOICE("source", "kind", source.kind, enum sx_source_kind, source_kinds, NULL, RESTART,
	       "source of the pairs: cameras, image files, a generated street, or another process "
	       "(shared)"),
	CHOICE("source", "layout", source.layout, enum sx_layout, layouts, "two", RESTART,
	       "two cameras, or one that sends both images: as halves of a picture, or "
	       "pixel by pixel (v4l2: Y8I, Y12I)"),
	TEXT("source", "path", source.path, "", RESTART,
	     "files: a folder (EuRoC, TUM-VI, KITTI, Middlebury, left*/right*, one per pair), or "
	     "a pattern with {left|right}"),
	TEXT("source", "left", source.left, "", RESTART,
	     "v4l2: device of the left camera, preferably from /dev/v4l/by-path; files: "
	     "pattern of the left images"),
	TEXT("source", "right", source.right, "", RESTART,
	     "v4l2: device of the right camera; files: pattern of the right images"),
	SIZE("source", "size", source, "auto", RESTART, "size of one image; auto: what the source has"),
	REAL("source", "fps", source.fps, "30", 0, 1000, "fps", RESTART,
	     "pairs per second; 0: a camera's own rate, files and scenes as fast as computed; "
	     "not set: data sets as recorded"),
	CHOICE("source", "format", source.format, enum sx_source_format, formats, "auto", RESTART,
	       "v4l2: pixel format; auto: the cheapest one that both cameras offer at this "
	       "size and rate"),
	CHOICE("source", "memory", source.memory, enum sx_source_memory, memories, "auto", RESTART,
	       "v4l2: buffer memory; auto: userptr (no copy), else dmabuf (none), else mmap (one)"),
	TEXT("source", "dmabuf_from", source.dmabuf_from, "", RESTART,
	     "v4l2: device whose buffers are exported for memory = dmabuf; empty: a DMA heap, or udmabuf"),
	INT("source", "buffers", source.buffers, "0", 0, 32, NULL, RESTART,
	    "v4l2: number of buffers per camera; 0: as many as the daemon needs"),
	REAL("source", "tolerance_ms", source.tolerance_ms, "0", 0, 1000, "ms", RESTART,
	     "v4l2: longest time between the two images of a pair, at most half a frame "
	     "period; 0: half a period"),
	REAL("source", "timeout_ms", source.timeout_ms, "2000", 100, 60000, "ms", RESTART,
	     "v4l2, shared: a camera without images, or a writer without pairs, for this long is lost"),
	REAL("source", "exposure_ms", source.exposure_ms, "-1", -1, 10000, "ms", CONTROLS,
	     "v4l2: exposure of both cameras; 0: automatic, -1: unchanged"),
	REAL("source", "gain", source.gain, "-1", -1, 1000000, NULL, CONTROLS,
	     "v4l2: gain of both cameras in the driver's unit; -1: unchanged"),
	TEXT("source", "controls", source.controls, "", CONTROLS,
	     "v4l2: further controls, NAME=NUMBER, NAME=NUMBER, with names as v4l2-ctl "
	     "--list-ctrls prints them"),
	INT("source", "decoders", source.decoders, "0", 0, 8, NULL, RESTART,
	    "v4l2: number of threads that decode MJPG, Bayer patterns and Y12I; 0: one "
	    "for each part of a pair"),
	BOOL("source", "loop", source.loop, "no", RESTART, "files: start again after the last pair"),
	UNSIGNED("source", "seed", source.seed, "1", 0, 4294967295.0, NULL, RESTART,
		 "synthetic: number that selects the street or the rooms; the same seed gives the "
		 "same images"),
	TEXT("source", "scene", source.scene, "street", RESTART,
	     "synthetic: street, room, traffic, night, rain and others (docs/use/cameras.md); sets [camera]"),
	TEXT("source", "lenses", source.lenses, "ideal", RESTART,
	     "synthetic: ideal, or raw images that the engine rectifies: plain (barrel "
	     "distortion), wide, fisheye"),
	TEXT("source", "fault", source.fault, "none", CONTROLS,
	     "synthetic: simulated fault of the cameras, such as rows:3, to try the "
	     "checks (docs/use/cameras.md)"),

	TEXT("camera", "calibration", calibration, "", CALIBRATION,
	     "file of OpenCV, ROS, Kalibr, EuRoC, ORB-SLAM, VINS, ZED, KITTI, Middlebury, "
	     "or text; two files: LEFT,RIGHT"),
	CHOICE("camera", "rectify", rectification.choice, enum sx_rectify_choice, rectifies, "auto",
	       CALIBRATION,
	       "whether to rectify the images; auto: if the calibration file says that they "
	       "are raw"),
	REAL("camera", "rectify_alpha", rectification.alpha, "0", -1, 1, NULL, CALIBRATION,
	     "if the file has no P1, P2: 0: no empty pixels, 1: keep whole images, -1: "
	     "keep the scale of the raw images"),
	SIZE("camera", "rectify_size", rectification, "auto", RESTART,
	     "size of the rectified images; auto: size of the raw images"),
	CHOICE("camera", "row_correction", rectification.row_correction, enum sx_row_choice, row_choices,
	       "off", ROWS,
	       "auto: shift and turn the right image to correct its measured row error, by "
	       "up to 3 px and 0.5 deg"),
	REAL("camera", "fx", params.camera.fx, "721.5", 0, 100000, "px", CALIBRATION,
	     "horizontal focal length; fx, fy and baseline_m all 0: no camera model"),
	REAL("camera", "fy", params.camera.fy, "721.5", 0, 100000, "px", CALIBRATION,
	     "vertical focal length"),
	REAL("camera", "cx", params.camera.cx, "609.5", -10000, 10000, "px", CALIBRATION,
	     "column of the principal point"),
	REAL("camera", "cy", params.camera.cy, "172.9", -10000, 10000, "px", CALIBRATION,
	     "row of the principal point"),
	REAL("camera", "baseline_m", params.camera.baseline_m, "0.54", 0, 10, "m", CALIBRATION,
	     "distance between the cameras; replaces the value of the calibration file"),
	REAL("camera", "height_m", params.camera.height_m, "1.65", 0.01, 100, "m", CAMERA,
	     "height of the left camera above the road"),
	REAL("camera", "pitch_deg", params.camera.pitch_deg, "0", -60, 60, "deg", CAMERA,
	     "angle by which the camera looks down"),
	REAL("camera", "roll_deg", params.camera.roll_deg, "0", -30, 30, "deg", CAMERA,
	     "angle by which the camera leans; positive: the road comes nearer on the "
	     "right"),

	CHOICE("stereo", "matcher", params.stereo.matcher, enum sx_match, matchers, "internal", RESTART,
	       "external: another process matches (docs/use/external.md); only disparities "
	       "and min_disparity have an effect"),
	CHOICE("stereo", "cost", params.stereo.cost, enum sx_cost, costs, "csct", RESTART,
	       "matching cost: centre-symmetric census, census variants, zero-mean correlation"),
	CHOICE("stereo", "aggregation", params.stereo.aggregation, enum sx_aggregation, aggregations, "sgm",
	       RESTART, "semi-global matching, or domain transform"),
	CHOICE("stereo", "search", params.stereo.search, enum sx_search, searches, "auto", RESTART,
	       "disparities that are compared: all, those that smaller images suggest, or these from 256 on"),
	INT_RULE("stereo", "paths", params.stereo.paths, SX_RULE_POWER_OF_TWO, "4", 2, 8, NULL, RESTART,
		 "number of directions of aggregation"),
	INT_RULE("stereo", "disparities", params.stereo.disparities, SX_RULE_MULTIPLE_OF_32, "128", 32,
		 SX_PYRAMID_DISPARITIES_MAX, "px", RESTART,
		 "number of disparities that are searched; above 256 by pyramid search"),
	INT("stereo", "min_disparity", params.stereo.min_disparity, "0", -128, 128, "px", RESTART,
	    "smallest disparity that is searched"),
	INT("stereo", "p1", params.stereo.p1, BEST, 0, 255, NULL, CONTEXTS,
	    "penalty for a step of 1 px along horizontal paths; 0: the best value for "
	    "cost and paths"),
	INT("stereo", "p2", params.stereo.p2, BEST, 0, 255, NULL, CONTEXTS,
	    "penalty for a larger step along horizontal paths; 0: the best value for "
	    "cost and paths"),
	INT("stereo", "p1_vertical", params.stereo.p1_vertical, BEST, 0, 255, NULL, CONTEXTS,
	    "p1 of vertical and diagonal paths; 0: the value of p1 if it is set, else "
	    "the best value"),
	INT("stereo", "p2_vertical", params.stereo.p2_vertical, BEST, 0, 255, NULL, CONTEXTS,
	    "p2 of vertical and diagonal paths; 0: the value of p2 if it is set, else "
	    "the best value"),
	INT("stereo", "uniqueness", params.stereo.uniqueness, "95", 1, 100, "%", CONTEXTS,
	    "the least sum must be below this share of every rival's sum; 100: off"),
	CHOICE("stereo", "subpixel", params.stereo.subpixel, enum sx_subpixel, subpixels, "trunc", RESTART,
	       "sub-pixel disparity (1/16 px) by a parabola: off, or how its division rounds"),
	INT_RULE("stereo", "window", params.stereo.zncc_window, SX_RULE_ODD, "5", 3, 15, "px", RESTART,
		 "zncc: side of the square window"),
	INT("stereo", "p2_edge", params.stereo.p2_edge, "0", 0, 255, NULL, CONTEXTS,
	    "sgm: difference of grey levels of neighbours at which p2 falls to half; 0: "
	    "p2 is the same everywhere"),
	CHOICE("stereo", "fastdt", params.stereo.fastdt, enum sx_fastdt, fastdts, "auto", RESTART,
	       "fastdt: number format; auto: int16, as exact as float; float and int32 need "
	       "engine.backend = reference"),

	BOOL("filters", "median", params.filters.median, "no", CONTEXTS,
	     "3x3 median of the left and the right map, before the other filters"),
	INT("filters", "left_right", params.filters.left_right, "2", -1, 255, "px", CONTEXTS,
	    "tolerance of the left-right check; -1: off"),
	INT("filters", "speckle_size", params.filters.speckle_size, "100", 0, 1000000, "px", CONTEXTS,
	    "largest island of pixels that is removed; 0: off"),
	BOOL("filters", "smooth", params.filters.smooth, "yes", CONTEXTS,
	     "last filter: median of the valid pixels among 7 px of the column, then of "
	     "the row; closes small holes"),

	CHOICE("road", "mode", params.road.mode, enum sx_road_mode, road_modes, "plane", CONTEXTS,
	       "plane: the engine measures the road in every frame; calibrated: the road "
	       "follows from [camera]"),
	INT("road", "top", params.road.top, "33", 0, 90, "%", CONTEXTS,
	    "share of the image height, from the top, that the road measurement ignores"),
	REAL("road", "min_height_m", params.road.min_height_m, "0", 0, 100, "m", CONTEXTS,
	     "smallest plausible camera height; 0: camera.height_m / 3.3; low cameras: "
	     "0.85 times camera.height_m"),
	REAL("road", "max_height_m", params.road.max_height_m, "0", 0, 100, "m", CONTEXTS,
	     "largest plausible camera height; 0: camera.height_m / 0.55; low cameras: "
	     "1.15 times camera.height_m"),
	REAL("road", "max_pitch_deg", params.road.max_pitch_deg, "0", 0, 60, "deg", CONTEXTS,
	     "largest plausible pitch; 0: 50; low cameras: from 6 above to 13 below "
	     "camera.pitch_deg"),
	REAL("road", "max_roll_deg", params.road.max_roll_deg, "6", 0, 45, "deg", CONTEXTS,
	     "largest plausible difference between the road's roll and camera.roll_deg"),
	INT("road", "max_age", params.road.max_age, "30", 0, 1000, "frames", CONTEXTS,
	    "longest time that the last road is used while no road is measured"),

	REAL("vehicle", "height_m", params.vehicle.height_m, "0", 0, 100, "m", CONTEXTS,
	     "things at this height over the road and above are no obstacle; 0: 2 m, or "
	     "0.35 m above the camera"),
	REAL("vehicle", "step_m", params.vehicle.step_m, "0", 0, 10, "m", CONTEXTS,
	     "things that end at this height over the road or below are no obstacle; 0: "
	     "0.15 m, low cameras: less"),

	CHOICE("stixels", "method", params.stixels.method, enum sx_stixel_method, methods, "slanted",
	       CONTEXTS,
	       "dynamic programming, slanted stixels (exact: with outliers, slow, not on cuda), or "
	       "Ramer-Douglas-Peucker"),
	INT("stixels", "width", params.stixels.width, "4", 1, 32, "px", CONTEXTS, "width of a stixel column"),
	INT("stixels", "cell_height", params.stixels.cell_height, "0", 0, 32, "px", CONTEXTS,
	    "slanted: number of image rows in a cell; 0: as many as the width has px; "
	    "other methods: always 1"),
	CHOICE("stixels", "reduction", params.stixels.reduction, enum sx_reduction, reductions, "median",
	       CONTEXTS, "how the disparities of a cell become one value"),
	INT("stixels", "max_per_column", params.stixels.max_per_column, "128", 1, 2160, NULL, CONTEXTS,
	    "largest number of stixels published per column"),
	INT("stixels", "saturated", params.stixels.saturated, "250", 0, 256, NULL, CONTEXTS,
	    "grey level from which cells in the lower half of the image have no "
	    "disparity; 256: off"),

	CHOICE("motion", "mode", params.motion.mode, enum sx_motion_mode, motion_modes, "off", CONTEXTS,
	       "pair: each frame against the one 0.1 s before; filter: memory over frames, "
	       "not with engine cuda"),
	CHOICE("motion", "range_offset", params.motion.range, enum sx_range_offset, range_offsets, "report",
	       CONTEXTS,
	       "what motion finds missing in all disparities: off: ignored; report: status and "
	       "doctor; apply: added"),

	TEXT("semantics", "source", semantics.source, "", RESTART,
	     "name of the ring into which libstixel writes the scores "
	     "(docs/use/semantics.md); empty: none"),
	TEXT("semantics", "classes", semantics.classes,
	     "road:ground sidewalk:ground building wall fence pole traffic-light traffic-sign vegetation "
	     "terrain:ground sky:sky person rider car truck bus train motorcycle bicycle",
	     RESTART,
	     "NAME or NAME:KIND in the order of the scores, up to 32; KIND: ground, "
	     "object (default), sky"),
	INT("semantics", "scale", semantics.scale, "4", 1, SX_SCORES_SCALE_MAX, "px", RESTART,
	    "least number of image pixels per score, horizontally and vertically; "
	    "coarser scores fit as well"),
	REAL("semantics", "wait_ms", semantics.wait_ms, "0", 0, 1000, "ms", RESTART,
	     "how long a frame waits for its scores; 0: it does not wait"),
	REAL("semantics", "max_age_ms", semantics.max_age_ms, "0", 0, 10000, "ms", RESTART,
	     "largest age difference of scores that replace missing ones; 0: they are not "
	     "replaced"),

	TEXT("external", "source", external.source, "", RESTART,
	     "name of the ring into which libstixel writes the maps (docs/use/external.md)"),
	REAL("external", "wait_ms", external.wait_ms, "200", 0, 1000, "ms", RESTART,
	     "how long a pair waits for its map; then the daemon drops the pair"),
	BOOL("external", "pairs", external.pairs, "no", RESTART,
	     "publish each pair before its frame, in the ring INSTANCE.pairs, for that "
	     "process and for networks"),

	CHOICE("engine", "backend", engine.backend, enum sx_backend_choice, backends, "auto", RESTART,
	       "auto: cuda if a GPU is usable at start, else cpu"),
	INT("engine", "contexts", engine.contexts, "2", 1, 4, NULL, RESTART, "number of frames in flight"),
	INT("engine", "device", engine.device, "0", 0, 63, NULL, RESTART, "cuda: index of the GPU"),
	INT("engine", "threads", engine.threads, "0", 0, 64, NULL, RESTART,
	    "cpu: worker threads; 0: one for each available core"),
	CHOICE("engine", "volume", engine.volume, enum sx_volume_choice, sx_volume_names, "auto", RESTART,
	       "cuda: what the GPU stores: costs and paths, paths only (counted), neither; "
	       "auto: the fastest by prediction"),
	CHOICE("engine", "input", engine.input, enum sx_input_choice, inputs, "auto", RESTART,
	       "cuda: read pairs in host memory (mapped), or copy them; auto: mapped on an "
	       "integrated GPU"),
	INT("engine", "spin_us", engine.spin_us, "200", 0, 1000, "us", RESTART,
	    "cuda: how long before its expected end the daemon polls for a frame instead "
	    "of sleeping; 0: no polling"),

	INT_RULE("output", "slots", output.slots, SX_RULE_POWER_OF_TWO, "8", 2, 1024, "frames", RESTART,
		 "number of frames kept in shared memory"),
	BOOL("output", "ring", output.ring, "yes", RESTART, "publish frames in shared memory"),
	BOOL("output", "stream", output.stream, "yes", RESTART, "publish frames on frames.sock"),
	CHOICE("output", "planes", output.planes, enum sx_planes, planes, "both", RESTART,
	       "images that viewers can get beside the stixels; both: left and disparity; "
	       "pair: left and right"),
	CHOICE("output", "planes_when", output.planes_when, enum sx_planes_when, planes_when, "asked",
	       RESTART,
	       "publish the images with every frame, or only while a viewer asks for them "
	       "(needs output.stream)"),

	CHOICE("power", "source", power.source, enum sx_power_choice, power_sources, "auto", RESTART,
	       "ina: power monitors of a board; auto: ina, else nvml if a GPU computes, "
	       "else rapl"),
	INT("power", "interval_ms", power.interval_ms, "100", 20, 10000, "ms", RESTART,
	    "time between two readings"),
	TEXT("power", "rails", power.rails, "", RESTART,
	     "ina: labels of the rails whose sum is the total; empty: the rails known for "
	     "this board"),
	TEXT("power", "gpu", power.gpu, "", RESTART,
	     "nvml: index, UUID or PCI address of the GPU; empty: the GPU that computes"),
	TEXT("power", "root", power.root, "", RESTART,
	     "root folder in which the daemon looks for sensors: the host's folders in a "
	     "container, or tests"),

	INT("realtime", "priority", realtime.priority, "0", 0, 99, NULL, RESTART,
	    "SCHED_FIFO priority of the capture thread; 0: normal scheduling"),
	BOOL("realtime", "lock_memory", realtime.lock_memory, "no", RESTART,
	     "lock all memory in RAM (mlockall)"),

	TEXT("log", "levels", log_levels, "info", NOTHING,
	     "error, warning, notice, info or debug; for single topics TOPIC=LEVEL, as in 'info "
	     "capture=debug'"),

/* [model] */
#include "config/options_model.def"
};
const int sx_option_count = sizeof(sx_options) / sizeof(sx_options[0]);

_Static_assert(sizeof(sx_options) / sizeof(sx_options[0]) <= SX_OPTION_MAX, "raise SX_OPTION_MAX");
