/*
 * What a USB video camera says of itself and lets be set: descriptors, stream parameters, exposure and gain.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_VM_UVC_FUNCTION_H
#define TESTS_VM_UVC_FUNCTION_H

#include <linux/usb/video.h>
#include <stdint.h>

#include "tests/vm/usbip.h"

#define UVC_PAYLOAD_BYTES 16384 /* at most, with its header; what uvcvideo asks for at once */

enum { UVC_MJPEG = 1, UVC_YUYV = 2 }; /* numbers of the formats */

struct uvc_function {
	const char *product, *serial;
	struct uvc_streaming_control stream; /* as agreed; bFormatIndex is one of the above */
	uint32_t auto_exposure;		     /* 1 manual, 8 automatic */
	uint32_t exposure;		     /* 100 us */
	uint32_t gain;
};

void uvc_function_init(struct uvc_function *u, int width, int height, int fps, const char *product,
		       const char *serial);

/* Answers a request to endpoint 0; what it does not know stalls. */
int uvc_function_control(struct uvc_function *u, int fd, const struct usbip_request *r);

#endif
