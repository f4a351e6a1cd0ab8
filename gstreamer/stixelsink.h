/*
 * The element stixelsink: a bin with a side for each camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GSTREAMER_STIXELSINK_H
#define SX_GSTREAMER_STIXELSINK_H

#include <gst/gst.h>

#define SX_AUTHOR "The stixeld authors <stixeld@stixeld.invalid>"

G_DECLARE_FINAL_TYPE(StixelSink, sx_sink, SX, SINK, GstBin)

#endif
