/*
 * Parameters of cameras on their way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/exchange/tune.h"

#include <stdio.h>

void sx_tune_set(struct sx_tune *t, const struct sx_source_params *p)
{
	t->params = *p;
	snprintf(t->text, sizeof(t->text), "%s", p->controls ? p->controls : "");
	t->params.controls = p->controls ? t->text : NULL;
	t->result = 0;
	t->why[0] = 0;
}
