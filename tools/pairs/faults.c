/*
 * Finds faults of a rig and words them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/pairs/faults.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define NOTHING 0.98
#define FROZEN 0.5
#define STILL 0.95
#define STILL_DIFFERENCE 3.0 /* grey levels; noise between two readings of a sensor */
#define BEHIND 0.8
#define LATE_PX 0.5   /* limit of a vertical motion, px of the views in which places are searched for */
#define LATE_MISS 0.6 /* limit of late_miss; sound pairs have 1, pairs of different moments up to 0.45 */
#define SKEW_MS 5.0
#define ROW_ERROR_PX 1.0 /* limit, px; the daemon uses the same limit */
#define BENT_PX 1.5	 /* rows are bent if the bent model deviates from the straight one by this much, px */
/* lower limit of the same deviation, px, for pairs with less than BENT_AGREE of the places explained */
#define BENT_SOME 0.8
#define BENT_AGREE 0.9
#define FOCUS_RATIO 0.75
#define LAPLACIAN_RATIO 0.5
#define GREY_RATIO 0.6
#define GREY_LEAST 16.0 /* grey levels; if the brighter image is darker, it is night */

#define DEGREE (3.14159265358979323846 / 180)

struct list {
	struct sx_pair_finding *finding;
	int count;
};

static void find(struct list *l, enum sx_pair_fault fault, const char *advice, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void find(struct list *l, enum sx_pair_fault fault, const char *advice, const char *format, ...)
{
	struct sx_pair_finding *f = &l->finding[l->count++];
	va_list args;

	*f = (struct sx_pair_finding){
		.fault = fault, .useless = fault <= SX_PAIR_EXCHANGED, .advice = advice};
	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
}

static const char *side_name(int side)
{
	return side ? "right" : "left";
}

/*
 * Adds a fault unless another one was found. wrong: whether the left and the right image have it. one, both:
 * words for one image and for both.
 */
static void find_sides(struct list *l, enum sx_pair_fault fault, const bool wrong[2], const char *one,
		       const char *both, const char *advice)
{
	if (l->count == 0 && wrong[0] && wrong[1])
		find(l, fault, advice, "both images %s", both);
	else if (l->count == 0 && (wrong[0] || wrong[1]))
		find(l, fault, advice, "the %s image %s", side_name(wrong[1]), one);
}

/* Finds images that show nothing. */
static bool find_nothing(struct list *l, const struct sx_pair_stats *f)
{
	const bool black[2] = {f->dark[0] >= NOTHING, f->dark[1] >= NOTHING};
	const bool white[2] = {f->saturated[0] >= NOTHING, f->saturated[1] >= NOTHING};
	const bool flat[2] = {isnan(f->off) && f->flat[0] >= NOTHING, isnan(f->off) && f->flat[1] >= NOTHING};
	const bool frozen[2] = {f->frozen[0] >= FROZEN, f->frozen[1] >= FROZEN};

	find_sides(l, SX_PAIR_BLACK, black, "is black", "are black",
		   black[0] && black[1] ? "caps, no light, or source.exposure_ms"
					: "a cap, or a camera that exposes nothing");
	find_sides(l, SX_PAIR_WHITE, white, "is white", "are white",
		   "too much light, or source.exposure_ms and source.gain");
	find_sides(l, SX_PAIR_COVERED, flat, "shows nothing", "show nothing",
		   "uncover and clean the lens; or one plain surface is all that is before it");
	find_sides(l, SX_PAIR_FROZEN, frozen, "stands still while the other one goes on",
		   "stand still alternately",
		   "restart that camera, or check the program that provides its images");
	return l->count > 0;
}

static bool find_same(struct list *l, const struct sx_pair_stats *f)
{
	if (f->still >= STILL && !(f->difference > STILL_DIFFERENCE))
		find(l, SX_PAIR_SAME,
		     "one camera is read twice, or both get one signal: source.left and source.right have to "
		     "be two cameras",
		     "both images are the same");
	return l->count > 0;
}

static bool find_exchanged(struct list *l, const struct sx_pair_stats *f)
{
	static const char *const advice = "swap source.left and source.right, or of one camera with both "
					  "images change source.layout";

	if (!(f->behind >= BEHIND))
		return false;
	if (isnan(f->density) || isnan(f->exchanged))
		find(l, SX_PAIR_EXCHANGED, advice,
		     "left and right are exchanged: %.0f %% of what is not far away has a negative disparity",
		     100 * f->behind);
	else
		find(l, SX_PAIR_EXCHANGED, advice,
		     "left and right are exchanged: density %.0f %% as it is, %.0f %% exchanged",
		     100 * f->density, 100 * f->exchanged);
	return true;
}

/* Finds a late image. Returns true if rows cannot be judged. */
static bool find_late(struct list *l, const struct sx_pair_stats *f)
{
	static const char *const advice = "let one signal trigger both cameras, or one camera the other; "
					  "without, things that move get wrong distances";
	char times[64] = "";

	if (f->late_px >= LATE_PX * f->factor && f->late_miss <= LATE_MISS) {
		if (!isnan(f->skew_ms))
			snprintf(times, sizeof(times), "; their capture times say %.1f ms", f->skew_ms);
		find(l, SX_PAIR_LATE, advice,
		     "images are not of the same time: things that move show the right one %.0f ms %s%s",
		     fabs(f->late_ms), f->late_ms > 0 ? "later" : "earlier", times);
		return true;
	}
	if (fabs(f->skew_ms) >= SKEW_MS)
		find(l, SX_PAIR_LATE, advice,
		     "images are not of the same time: the right one is taken %.0f ms %s, by capture times",
		     fabs(f->skew_ms), f->skew_ms > 0 ? "later" : "earlier");
	return false;
}

/* Returns the row error from the turn at the border of the image, px. */
static double turn_px(const struct sx_pair_stats *f)
{
	return tan(f->turn * DEGREE) * f->width / 2;
}

static double stretch_px(const struct sx_pair_stats *f)
{
	return f->stretch * f->height / 2;
}

/* Lists the parts of the row error: each part of half a pixel or more, or the largest. */
static void say_parts(const struct sx_pair_stats *f, char *to, size_t bytes)
{
	const double px[3] = {fabs(f->rows), fabs(turn_px(f)), isnan(f->stretch) ? 0 : fabs(stretch_px(f))};
	const double largest = fmax(px[0], fmax(px[1], px[2])), least = fmin(ROW_ERROR_PX / 2, largest);
	size_t n = 0;

	*to = '\0';
	if (px[0] > 0 && px[0] >= least)
		n += (size_t)snprintf(to + n, bytes - n, "%.1f px %s", px[0],
				      f->rows > 0 ? "lower" : "higher");
	if (px[1] > 0 && px[1] >= least)
		n += (size_t)snprintf(to + n, bytes - n, "%sturned by %.2f degrees %s", n ? ", " : "",
				      fabs(f->turn), f->turn > 0 ? "clockwise" : "anticlockwise");
	if (px[2] > 0 && px[2] >= least)
		snprintf(to + n, bytes - n, "%s%.1f %% %s", n ? ", " : "", 100 * fabs(f->stretch),
			 f->stretch > 0 ? "larger" : "smaller");
}

static void find_rows(struct list *l, const struct sx_pair_stats *f)
{
	const bool bent = f->bent >= BENT_PX || (f->bent >= BENT_SOME && f->agree < BENT_AGREE);
	char parts[128];

	say_parts(f, parts, sizeof(parts));
	if (bent)
		find(l, SX_PAIR_ROW_ERROR,
		     "if images are raw, calibrate (stixel-calibrate) and set camera.calibration; else put away a "
		     "checkerboard or another repeating pattern, look again, and then calibrate again",
		     "rows are out of line, and bent: the right image is %s, in places %.1f px more or less",
		     parts, f->bent);
	else if (f->off >= ROW_ERROR_PX)
		find(l, SX_PAIR_ROW_ERROR, "calibrate (stixel-calibrate)",
		     "rows are out of line: the right image is %s", parts);
}

/* Compares the sharpness by mean Laplacians, to which noise contributes. */
static void find_soft(struct list *l, const struct sx_pair_stats *f)
{
	const int soft = f->laplacian[1] < f->laplacian[0];

	if (f->laplacian[soft] < LAPLACIAN_RATIO * f->laplacian[!soft])
		find(l, SX_PAIR_FOCUS, "focus and clean its lens; or it is darker",
		     "the %s image is less sharp: mean Laplacian %.1f, that of the %s one is %.1f",
		     side_name(soft), f->laplacian[soft], side_name(!soft), f->laplacian[!soft]);
}

static void find_focus(struct list *l, const struct sx_pair_stats *f)
{
	const int soft = f->sharp[1] < f->sharp[0];

	if (f->sharp[0] < SX_FOCUS_LEAST && f->sharp[1] < SX_FOCUS_LEAST)
		find(l, SX_PAIR_FOCUS, "focus and clean the lenses",
		     "both images are out of focus: sharpness %.2f and %.2f, at least %.2f is expected",
		     f->sharp[0], f->sharp[1], SX_FOCUS_LEAST);
	else if (f->sharp[soft] < FOCUS_RATIO * f->sharp[!soft])
		find(l, SX_PAIR_FOCUS, "focus and clean its lens",
		     "the %s image is out of focus: sharpness %.2f, that of the %s one is %.2f",
		     side_name(soft), f->sharp[soft], side_name(!soft), f->sharp[!soft]);
}

static void find_exposure(struct list *l, const struct sx_pair_stats *f)
{
	const int dim = f->grey[1] < f->grey[0];

	if (f->grey[!dim] >= GREY_LEAST && f->grey[dim] < GREY_RATIO * f->grey[!dim])
		find(l, SX_PAIR_EXPOSURE,
		     "set source.exposure_ms and source.gain, which are for both cameras",
		     "the %s image is darker: mean grey level %.0f, that of the %s one is %.0f",
		     side_name(dim), f->grey[dim], side_name(!dim), f->grey[!dim]);
}

int sx_pair_faults(const struct sx_pair_stats *f, struct sx_pair_finding ret[SX_PAIR_FAULTS])
{
	struct list l = {ret, 0};

	if (find_nothing(&l, f) || find_same(&l, f) || find_exchanged(&l, f))
		return l.count;
	if (!find_late(&l, f))
		find_rows(&l, f);
	find_focus(&l, f);
	find_soft(&l, f);
	find_exposure(&l, f);
	if (!l.count && f->density < SX_PAIRS_SPARSE)
		find(&l, SX_PAIR_THIN,
		     "too little texture or light, things nearer than stereo.disparities reaches, or images "
		     "that are no pair",
		     "only %.0f %% of the pixels have a disparity", 100 * f->density);
	return l.count;
}
