/*
 * Descriptors, stream parameters, exposure and gain of a USB video camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_VM_UVC_FUNCTION_H
#define TESTS_VM_UVC_FUNCTION_H

#include <linux/usb/video.h>
#include <stdint.h>

#include "tests/vm/usbip.h"

#define UVC_PAYLOAD_BYTES 16384 /* largest payload with its header; uvcvideo requests this many at once */

enum { UVC_MJPEG = 1, UVC_YUYV = 2 }; /* format indices */

struct uvc_function {
	const char *product, *serial;
	/* the negotiated values; bFormatIndex is one of the indices above */
	struct uvc_streaming_control stream;
	uint32_t auto_exposure; /* 1 manual, 8 automatic */
	uint32_t exposure;	/* unit 100 us */
	uint32_t gain;
};

void uvc_function_init(struct uvc_function *u, int width, int height, int fps, const char *product,
		       const char *serial);

/* Answers a request to endpoint 0. Stalls on an unknown request. */
int uvc_function_control(struct uvc_function *u, int fd, const struct usbip_request *r);

#endif
