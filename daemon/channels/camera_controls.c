/*
 * Camera controls on their way to the capture thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/channels/camera_controls.h"

#include <stdio.h>
#include <string.h>

#include "base/contract.h"

void sx_camera_controls_update(struct sx_camera_controls *t, const struct sx_source_params *p)
{
	sx_must_be(!p->controls || strlen(p->controls) < sizeof(t->text));
	t->params.exposure_ms = p->exposure_ms;
	t->params.gain = p->gain;
	snprintf(t->text, sizeof(t->text), "%s", p->controls ? p->controls : "");
	t->params.controls = p->controls ? t->text : NULL;
	snprintf(t->fault, sizeof(t->fault), "%s", p->fault ? p->fault : "");
	t->params.fault = p->fault ? t->fault : NULL;
}

void sx_camera_controls_set(struct sx_camera_controls *t, const struct sx_source_params *p)
{
	t->params = *p;
	sx_camera_controls_update(t, p);
	t->result = 0;
	sx_why_clear(&t->why);
}
