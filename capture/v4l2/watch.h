/*
 * Noticing that a lost camera may be back, without asking all the time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_WATCH_H
#define SX_CAPTURE_V4L2_WATCH_H

#include "capture/source.h"

/*
 * A descriptor that becomes readable when something happened to the devices of a source or to the folders
 * they appear in, so that opening may be worth another try; -1: there is nothing to watch. The caller closes
 * it.
 */
int sx_watch_open(const struct sx_source_params *p);
/*
 * After each failed try: watches folders that have come meanwhile, and forgets what has happened so far.
 * True: names came or went, or changed their rights, since it was asked last, which the try may have missed;
 * what trying itself does to a device is no such news. Accepts -1.
 */
bool sx_watch_rearm(int fd, const struct sx_source_params *p);

#endif
