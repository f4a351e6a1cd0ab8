/*
 * Looks up the table of counted work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "predict/work.h"

#include <stddef.h>

const struct sx_work *sx_work_find(enum sx_stage stage, enum sx_volume_choice volume, int disparities,
				   bool speckle)
{
	for (int i = 0; i < sx_work_count; i++) {
		const struct sx_work *w = &sx_work_table[i];

		if (w->stage == stage && (w->volume == SX_VOLUME_AUTO || w->volume == volume) &&
		    (w->disparities == 0 || w->disparities == disparities) &&
		    (w->speckle < 0 || w->speckle == (int)speckle))
			return w;
	}
	return NULL;
}

const struct sx_work_chain *sx_work_chain_find(enum sx_volume_choice volume, int disparities)
{
	for (int i = 0; i < sx_work_chain_count; i++)
		if (sx_work_chains[i].volume == volume && sx_work_chains[i].disparities == disparities)
			return &sx_work_chains[i];
	return NULL;
}

enum sx_work_arch sx_work_arch_of(int capability)
{
	return capability >= 100  ? SX_WORK_SM110
	       : capability >= 90 ? SX_WORK_SM90
	       : capability >= 80 ? SX_WORK_SM87
				  : SX_WORK_SM75;
}
