/*
 * One side of stixelsink: a GstBaseSink that waits until an image is due, and gives it to the feed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GSTREAMER_SIDE_H
#define SX_GSTREAMER_SIDE_H

#include <gst/base/gstbasesink.h>

#include "gstreamer/feed.h"

G_DECLARE_FINAL_TYPE(StixelSide, sx_side, SX, SIDE, GstBaseSink)

/* Makes a side. feed must live longer than it. */
GstElement *sx_side_new(const char *name, enum sx_feed_side side, struct sx_feed *feed);

#endif
