/*
 * Check of stixelctl doctor: whether this board can reach the configured rate, by prediction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "power/board.h"
#include "predict/predict.h"
#include "tools/ctl/doctor/doctor.h"

#define NEARLY 0.8 /* share of the time allowed for a frame */

static void say_speed(struct doctor *d, const struct sx_prediction *p, const struct sx_predict_device *device,
		      const char *title)
{
	const struct sx_source_params *s = &d->settings.source;
	const double most_ms = 1000 / s->fps, share = p->chain_ms / most_ms;
	const bool late = share > 1;

	doctor_say(d, late ? DOCTOR_WARNING : DOCTOR_OK, "speed",
		   late ? "lower source.fps, source.size or stereo.disparities, or choose a faster power mode"
			: NULL,
		   "predicted, not measured: %.1f ms a frame of %dx%d on a %s at %.2f GHz (such predictions "
		   "were %+d to %+d %% off on slices of an H200), %.0f %% of what source.fps = %g leaves%s",
		   p->chain_ms, s->width, s->height, title, device->clock_hz / 1e9, p->chain->off[0],
		   p->chain->off[1], 100 * share, s->fps,
		   late		    ? ": the rate is out of reach"
		   : share > NEARLY ? ": little remains for anything else"
				    : "");
}

void doctor_speed(struct doctor *d)
{
	const struct sx_source_params *s = &d->settings.source;
	struct sx_params params = d->settings.params;
	const struct sx_predict_case c = {&params, s->width, s->height};
	struct sx_predict_device device;
	struct sx_prediction p;
	enum sx_volume_choice volume;
	struct sx_board b;
	const char *title;
	struct sx_why why;

	if (!d->gpu || !d->loaded || !(s->fps > 0) || !s->width || !s->height)
		return;
	sx_board_read(&b, d->root);
	if (!sx_predict_device_of_model(b.model, (double)b.gpu_max_hz, d->gpu_sms, &device, &title))
		return;
	sx_stereo_resolve(&params.stereo);
	volume = sx_predict_volume(&device, !device.copies, &c, d->settings.engine.volume, &why);
	sx_predict(&p, &device, &c, volume);
	if (p.chain)
		say_speed(d, &p, &device, title);
	else
		doctor_say(d, DOCTOR_OK, "speed", NULL, "not predicted for a %s: %s", title, p.missing);
}
