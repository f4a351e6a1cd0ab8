/*
 * Finds the camera modes that fulfil the configuration, for stixelctl doctor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/doctor/doctor_modes.h"

#include <stdio.h>
#include <string.h>

/* A wish of 30 fps accepts 29.97 fps, and a driver rounds its intervals. */
#define RATE_SLACK 1.01

static bool holds(const struct sx_v4l2_mode *m, int width, int height)
{
	return width >= m->width && width <= m->width_max && height >= m->height && height <= m->height_max;
}

static bool fast_enough(double offered, double wished)
{
	return offered <= 0 || wished <= 0 || wished <= offered * RATE_SLACK;
}

static double slower(double a, double b)
{
	return a <= 0 ? b : b <= 0 || a < b ? a : b;
}

/* Sets *ret to mode a with this size if both cameras deliver it. False: b does not have it. */
static bool shared(const struct sx_v4l2_mode *a, const struct doctor_offer *b, int width, int height,
		   const struct doctor_wish *wish, struct sx_v4l2_mode *ret)
{
	struct sx_v4l2_mode found = {a->format, width, height, width, height, a->fps, a->interleaved};
	bool both = b == NULL;

	for (int i = 0; b && i < b->count && !both; i++) {
		both = strcmp(b->modes[i].format, a->format) == 0 && holds(&b->modes[i], width, height) &&
		       fast_enough(b->modes[i].fps, wish->fps);
		if (both)
			found.fps = slower(a->fps, b->modes[i].fps);
	}
	if (both)
		*ret = found;
	return both;
}

bool doctor_mode(const struct doctor_offer *a, const struct doctor_offer *b, const struct doctor_wish *wish,
		 struct sx_v4l2_mode *ret)
{
	struct sx_v4l2_mode found;
	bool any = false;

	for (int i = 0; i < a->count; i++) {
		const struct sx_v4l2_mode *m = &a->modes[i];
		int width = wish->width ? wish->width : m->width_max;
		int height = wish->height ? wish->height : m->height_max;

		if (any && strcmp(m->format, ret->format) != 0)
			break;
		if (wish->interleaved != m->interleaved ||
		    (wish->format && strcmp(wish->format, m->format) != 0) || !holds(m, width, height) ||
		    !fast_enough(m->fps, wish->fps) || !shared(m, b, width, height, wish, &found))
			continue;
		if (!any || (long)found.width * found.height > (long)ret->width * ret->height)
			*ret = found;
		any = true;
	}
	return any;
}

bool doctor_fastest(const struct doctor_offer *a, const struct doctor_offer *b,
		    const struct doctor_wish *wish, struct sx_v4l2_mode *ret)
{
	struct doctor_wish any_rate = *wish;
	struct sx_v4l2_mode found;
	bool any = false;

	any_rate.fps = 0;
	for (int i = 0; i < a->count; i++) {
		const struct doctor_offer one = {&a->modes[i], 1};

		if (doctor_mode(&one, b, &any_rate, &found) && (!any || found.fps > ret->fps)) {
			*ret = found;
			any = true;
		}
	}
	return any;
}

const char *doctor_wish_text(const struct doctor_wish *wish, char *to, size_t bytes)
{
	char size[32] = "", rate[32] = "", format[32] = "";

	if (wish->width)
		snprintf(size, sizeof(size), "%dx%d", wish->width, wish->height);
	if (wish->fps > 0)
		snprintf(rate, sizeof(rate), "%s%.4g fps", *size ? " at " : "", wish->fps);
	if (wish->format)
		snprintf(format, sizeof(format), "%s%s", *size || *rate ? " as " : "", wish->format);
	snprintf(to, bytes, "%s%s%s", size, rate, format);
	if (!*to)
		snprintf(to, bytes, "anything");
	return to;
}

const char *doctor_formats_text(const struct doctor_offer *offer, char *to, size_t bytes)
{
	int sizes = 0, width = 0, height = 0;
	const char *format = "";
	size_t used = 0;

	snprintf(to, bytes, "no format that this program reads");
	for (int i = 0; i < offer->count && used < bytes; i++) {
		const struct sx_v4l2_mode *m = &offer->modes[i];

		if (strcmp(m->format, format) != 0)
			used += (size_t)snprintf(to + used, bytes - used, "%s%s", used ? ", " : "",
						 m->format);
		format = m->format;
		sizes += strcmp(format, offer->modes[0].format) == 0;
		if ((long)m->width_max * m->height_max > (long)width * height) {
			width = m->width_max;
			height = m->height_max;
		}
	}
	if (used && used < bytes)
		snprintf(to + used, bytes - used, " in %d size%s up to %dx%d", sizes, sizes == 1 ? "" : "s",
			 width, height);
	return to;
}

const char *doctor_offer_text(const struct doctor_offer *offer, char *to, size_t bytes)
{
	const char *format = "";
	size_t used = 0;

	*to = '\0';
	for (int i = 0; i < offer->count; i++) {
		const struct sx_v4l2_mode *m = &offer->modes[i];
		bool other = strcmp(m->format, format) != 0;
		char range[32] = "", rate[32] = "", text[128];

		if (m->width != m->width_max || m->height != m->height_max)
			snprintf(range, sizeof(range), "..%dx%d", m->width_max, m->height_max);
		if (m->fps > 0)
			snprintf(rate, sizeof(rate), " at %.4g", m->fps);
		snprintf(text, sizeof(text), "%s%s%s%dx%d%s%s",
			 i == 0	 ? ""
			 : other ? "; "
				 : ", ",
			 other ? m->format : "", other ? " " : "", m->width, m->height, range, rate);
		if (used + strlen(text) + sizeof(", ...") > bytes) {
			snprintf(to + used, bytes - used, ", ...");
			break;
		}
		used += (size_t)snprintf(to + used, bytes - used, "%s", text);
		format = m->format;
	}
	if (!*to)
		snprintf(to, bytes, "nothing that this program reads");
	return to;
}
