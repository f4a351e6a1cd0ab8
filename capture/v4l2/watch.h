/*
 * Watches for the return of a lost camera without polling.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_WATCH_H
#define SX_CAPTURE_V4L2_WATCH_H

#include "capture/source.h"

/*
 * Opens a descriptor that becomes readable when something happens to the devices of a source, or to the
 * folders they appear in, so that opening may be worth another try. The caller closes it. -1: there is
 * nothing to watch.
 */
int sx_watch_open(const struct sx_source_params *p);
/*
 * Call it after each failed try. Watches folders that were created since, and discards pending events. True:
 * since the last call a name appeared, disappeared or changed its permissions, and the try may have missed
 * it. Events caused by the try itself do not count. Accepts -1.
 */
bool sx_watch_rearm(int fd, const struct sx_source_params *p);

#endif
