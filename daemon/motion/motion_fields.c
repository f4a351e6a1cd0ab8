/*
 * Motion of a frame as readers get it, see motion_fields.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/motion/motion_fields.h"

#include <math.h>
#include <string.h>

#include "stages/motion/meaning.h"

void sx_motion_fill_header(struct stixel_frame_header *h, const struct sx_motion_ego *ego, int64_t span_ns,
			   double applied_px)
{
	const size_t begin = offsetof(struct stixel_frame_header, motion_span_ns);
	double turn[3];

	memset((char *)h + begin, 0, sizeof(*h) - begin);
	if (!ego)
		return;
	h->range_applied_px = (float)applied_px;
	h->motion_span_ns = span_ns;
	h->motion_features = ego->found;
	h->motion_inliers = ego->inliers;
	if (sx_range_is_known(&ego->range)) {
		h->range_offset_px = (float)(ego->range.px - applied_px);
		h->range_offset_sigma_px = (float)ego->range.sigma_px;
	}
	if (ego->verdict != SX_MOTION_STEP_FOUND)
		return;
	sx_motion_turn_rad(&ego->step, turn);
	for (int i = 0; i < 3; i++) {
		h->ego_turn_rad[i] = (float)turn[i];
		h->ego_way_m[i] = (float)ego->way_m[i];
		h->ego_turn_sigma_rad[i] = (float)ego->turn_sigma_rad[i];
		h->ego_way_sigma_m[i] = (float)ego->way_sigma_m[i];
	}
}

uint8_t sx_motion_sigma_code(double sigma)
{
	unsigned low = 1, high = UINT8_MAX; /* Codes grow with their sigma. */

	if (!(stixel_sigma_m_s(UINT8_MAX) >= sigma))
		return 0;
	while (low < high) {
		const unsigned middle = (low + high) / 2;

		if (stixel_sigma_m_s((uint8_t)middle) >= sigma)
			high = middle;
		else
			low = middle + 1;
	}
	return (uint8_t)low;
}

static int16_t centimetres(double metres)
{
	const double cm = rint(100.0 * metres);

	return (int16_t)(cm < INT16_MIN ? INT16_MIN : cm > INT16_MAX ? INT16_MAX : cm);
}

static void write_record(const struct sx_motion_velocity *v, struct stixel_motion *r)
{
	uint8_t x, z;

	*r = (struct stixel_motion){.state = (uint8_t)v->state};
	if (!v->measured)
		return;
	x = sx_motion_sigma_code(sqrt(v->sxx));
	z = sx_motion_sigma_code(sqrt(v->szz));
	if (!x || !z)
		return;
	r->vx = centimetres(v->vx);
	r->vz = centimetres(v->vz);
	r->sigma_x = x;
	r->sigma_z = z;
	/* the correlation belongs to the sigmas as they are stored, so that readers get this covariance */
	r->correlation = (int8_t)rint(
		127.0 * fmax(-1.0, fmin(1.0, v->sxz / (stixel_sigma_m_s(x) * stixel_sigma_m_s(z)))));
}

void sx_motion_records(const struct sx_motion_velocity *velocities, uint32_t count,
		       struct stixel_motion *records)
{
	for (uint32_t i = 0; i < count; i++)
		write_record(&velocities[i], &records[i]);
}
