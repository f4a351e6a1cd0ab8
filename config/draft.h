/*
 * A configuration with a drop-in that is not written yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_DRAFT_H
#define SX_CONFIG_DRAFT_H

#include "config/config.h"
#include "config/option.h"

/*
 * A drop-in as text. path: as the loader names it, FILE.d/NAME.conf. The caller owns both texts; the loader
 * keeps no pointer to them.
 */
struct sx_draft {
	const char *path, *text;
};
/*
 * Loads as sx_settings_load_origins() does for the daemon, as if the draft existed in its place among the
 * drop-ins. It replaces a drop-in of the same name. draft NULL: no draft.
 */
int sx_settings_load_draft(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			   const struct sx_draft *draft, const char *const *overrides, int count,
			   struct sx_errors *errors);

#endif
