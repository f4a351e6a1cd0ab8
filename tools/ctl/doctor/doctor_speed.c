/*
 * stixelctl doctor: whether the rate of the configuration is within reach of this board, by prediction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "power/board.h"
#include "predict/predict.h"
#include "tools/ctl/doctor/doctor.h"

#define NEARLY 0.8 /* of the time that a frame may take */

/*
 * The board of the table that this is, at the clock that its power mode allows. False: none of it; smaller
 * modules of the same name, and power modes that switch multiprocessors off, have fewer of them.
 */
static bool find_board(const struct doctor *d, struct sx_predict_device *device, const char **title)
{
	const struct sx_predict_board *known;
	struct sx_board b;

	sx_board_read(&b, d->root);
	known = sx_predict_board_of_model(b.model, (double)b.gpu_max_hz);
	if (!known || (d->gpu_sms && d->gpu_sms != known->device.sms))
		return false;
	*device = known->device;
	*title = known->title;
	if (b.gpu_max_hz > 0)
		device->clock_hz = fmin(device->clock_hz, (double)b.gpu_max_hz);
	return true;
}

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
	const char *title;

	if (!d->gpu || !d->loaded || !(s->fps > 0) || !s->width || !s->height ||
	    !find_board(d, &device, &title))
		return;
	sx_stereo_resolve(&params.stereo);
	sx_predict(&p, &device, &c, d->settings.engine.volume);
	if (p.chain)
		say_speed(d, &p, &device, title);
	else
		doctor_say(d, DOCTOR_OK, "speed", NULL, "not predicted for a %s: %s", title, p.missing);
}
