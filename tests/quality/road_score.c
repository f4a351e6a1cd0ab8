/*
 * Scores measured roads against the true one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/road_score.h"

#include <math.h>

#define RADIANS (3.14159265358979323846 / 180)
#define FEW 20 /* least number of frames for a verdict */

void score_road(struct road_score *s, const struct sx_camera *truth, const struct sx_road *got)
{
	const double error[] = {got->pitch_rad - truth->pitch_deg * RADIANS,
				got->roll_rad - truth->roll_deg * RADIANS, got->height_m - truth->height_m};
	const double sigma[] = {got->pitch_sigma_rad, got->roll_sigma_rad, got->height_sigma_m};

	s->frames++;
	if (got->origin != SX_ROAD_MEASURED)
		return;
	s->measured++;
	for (int k = 0; k < ROAD_ERRORS; k++) {
		s->within[k] += fabs(error[k]) <= 2 * sigma[k];
		s->error[k] += error[k];
		s->square[k] += error[k] * error[k];
		s->sigma[k] += sigma[k] * sigma[k];
	}
}

void print_road(FILE *f, const struct road_score *s)
{
	static const char *const names[] = {"pitch", "roll", "height"}, *const units[] = {"deg", "deg", "mm"};
	const double scale[] = {1 / RADIANS, 1 / RADIANS, 1000};

	fprintf(f, "road: measured in %d of %d frames\n", s->measured, s->frames);
	for (int k = 0; s->measured && k < ROAD_ERRORS; k++)
		fprintf(f, "  %s: mean error %.4f, rms %.4f, sigma %.4f %s, within 2 sigma %.1f %%\n",
			names[k], scale[k] * s->error[k] / s->measured,
			scale[k] * sqrt(s->square[k] / s->measured),
			scale[k] * sqrt(s->sigma[k] / s->measured), units[k],
			100.0 * s->within[k] / s->measured);
}

bool judge_road(const struct road_score *s)
{
	for (int k = 0; s->measured >= FEW && k < ROAD_ERRORS; k++)
		if (s->within[k] < 0.85 * s->measured || !(s->sigma[k] <= 16 * s->square[k]))
			return false;
	return true;
}
