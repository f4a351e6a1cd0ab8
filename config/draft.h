/*
 * A configuration with a drop-in that is not written yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_DRAFT_H
#define SX_CONFIG_DRAFT_H

#include "config/config.h"
#include "config/option.h"

/* path: as the loader names it, FILE.d/NAME.conf. Both are the caller's, and nothing of them is kept. */
struct sx_draft {
	const char *path, *text;
};
/*
 * As sx_settings_load_origins() for the daemon, as if the draft were there, in its place among the other
 * drop-ins, instead of one of its name. NULL: without one.
 */
int sx_settings_load_draft(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			   const struct sx_draft *draft, const char *const *overrides, int count,
			   struct sx_errors *errors);

#endif
