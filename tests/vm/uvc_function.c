/*
 * A camera as in "USB Device Class Definition for Video Devices" 1.0: a camera terminal with exposure, a
 * processing unit with gain, and one stream over a bulk endpoint.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/vm/uvc_function.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

enum { CONTROL_INTERFACE, STREAM_INTERFACE };
enum { CAMERA = 1, PROCESSING, OUTPUT }; /* units */
enum { TEXT_LANGUAGES, TEXT_PRODUCT, TEXT_SERIAL };

#define ENGLISH 0x0409
#define CLOCK_HZ 48000000
#define VIDEO_INTERFACES 2
#define YUYV_GUID "YUY2\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"

static const struct usb_device_descriptor device = {
	.bLength = USB_DT_DEVICE_SIZE,
	.bDescriptorType = USB_DT_DEVICE,
	.bcdUSB = 0x0200,
	.bDeviceClass = USB_CLASS_MISC,
	.bDeviceSubClass = 2,
	.bDeviceProtocol = 1,
	.bMaxPacketSize0 = 64,
	.idVendor = 0x1d6b,
	.idProduct = 0x0102,
	.bcdDevice = 0x0100,
	.iProduct = TEXT_PRODUCT,
	.iSerialNumber = TEXT_SERIAL,
	.bNumConfigurations = 1,
};

DECLARE_UVC_HEADER_DESCRIPTOR(1);
DECLARE_UVC_INPUT_HEADER_DESCRIPTOR(1, 2);
DECLARE_UVC_FRAME_MJPEG(1);
DECLARE_UVC_FRAME_UNCOMPRESSED(1);

struct configuration {
	struct usb_config_descriptor config;
	struct usb_interface_assoc_descriptor association;
	struct usb_interface_descriptor control;
	struct UVC_HEADER_DESCRIPTOR(1) header;
	struct uvc_camera_terminal_descriptor camera;
	struct uvc_processing_unit_descriptor processing;
	struct uvc_output_terminal_descriptor output;
	struct usb_interface_descriptor streaming;
	struct UVC_INPUT_HEADER_DESCRIPTOR(1, 2) input;
	struct uvc_format_mjpeg mjpeg;
	struct UVC_FRAME_MJPEG(1) mjpeg_frame;
	struct uvc_format_uncompressed yuyv;
	struct UVC_FRAME_UNCOMPRESSED(1) yuyv_frame;
	/* the kernel's structure of that name also has fields for audio */
	uint8_t endpoint[USB_DT_ENDPOINT_SIZE];
} __attribute__((packed));

#define IS(field, type) .bLength = sizeof(((struct configuration *)0)->field), .bDescriptorType = (type)
#define IS_CLASS(field, subtype) IS(field, USB_DT_CS_INTERFACE), .bDescriptorSubType = (subtype)

static struct configuration configuration = {
	.config = {IS(config, USB_DT_CONFIG), .wTotalLength = sizeof(struct configuration),
		   .bNumInterfaces = VIDEO_INTERFACES, .bConfigurationValue = 1,
		   .bmAttributes = USB_CONFIG_ATT_ONE, .bMaxPower = 50},
	.association = {IS(association, USB_DT_INTERFACE_ASSOCIATION), .bFirstInterface = CONTROL_INTERFACE,
			.bInterfaceCount = VIDEO_INTERFACES, .bFunctionClass = USB_CLASS_VIDEO,
			.bFunctionSubClass = UVC_SC_VIDEO_INTERFACE_COLLECTION},
	.control = {IS(control, USB_DT_INTERFACE), .bInterfaceNumber = CONTROL_INTERFACE,
		    .bInterfaceClass = USB_CLASS_VIDEO, .bInterfaceSubClass = UVC_SC_VIDEOCONTROL},
	.header = {IS_CLASS(header, UVC_VC_HEADER), .bcdUVC = 0x0100,
		   .wTotalLength = sizeof(configuration.header) + sizeof(configuration.camera) +
				   sizeof(configuration.processing) + sizeof(configuration.output),
		   .dwClockFrequency = CLOCK_HZ, .bInCollection = 1, .baInterfaceNr = {STREAM_INTERFACE}},
	.camera = {IS_CLASS(camera, UVC_VC_INPUT_TERMINAL), .bTerminalID = CAMERA,
		   .wTerminalType = UVC_ITT_CAMERA, .bControlSize = 3,
		   .bmControls = {0x0a}}, /* exposure mode, exposure time */
	.processing = {IS_CLASS(processing, UVC_VC_PROCESSING_UNIT), .bUnitID = PROCESSING,
		       .bSourceID = CAMERA, .bControlSize = 2, .bmControls = {0x00, 0x02}}, /* gain */
	.output = {IS_CLASS(output, UVC_VC_OUTPUT_TERMINAL), .bTerminalID = OUTPUT,
		   .wTerminalType = UVC_TT_STREAMING, .bSourceID = PROCESSING},
	.streaming = {IS(streaming, USB_DT_INTERFACE), .bInterfaceNumber = STREAM_INTERFACE,
		      .bNumEndpoints = 1, .bInterfaceClass = USB_CLASS_VIDEO,
		      .bInterfaceSubClass = UVC_SC_VIDEOSTREAMING},
	.input = {IS_CLASS(input, UVC_VS_INPUT_HEADER), .bNumFormats = 2,
		  .wTotalLength = sizeof(configuration.input) + sizeof(configuration.mjpeg) +
				  sizeof(configuration.mjpeg_frame) + sizeof(configuration.yuyv) +
				  sizeof(configuration.yuyv_frame),
		  .bEndpointAddress = USB_DIR_IN | 1, .bTerminalLink = OUTPUT, .bControlSize = 1},
	.mjpeg = {IS_CLASS(mjpeg, UVC_VS_FORMAT_MJPEG), .bFormatIndex = UVC_MJPEG, .bNumFrameDescriptors = 1,
		  .bmFlags = 1, .bDefaultFrameIndex = 1},
	.mjpeg_frame = {IS_CLASS(mjpeg_frame, UVC_VS_FRAME_MJPEG), .bFrameIndex = 1, .bFrameIntervalType = 1},
	.yuyv = {IS_CLASS(yuyv, UVC_VS_FORMAT_UNCOMPRESSED), .bFormatIndex = UVC_YUYV,
		 .bNumFrameDescriptors = 1, .guidFormat = YUYV_GUID, .bBitsPerPixel = 16,
		 .bDefaultFrameIndex = 1},
	.yuyv_frame = {IS_CLASS(yuyv_frame, UVC_VS_FRAME_UNCOMPRESSED), .bFrameIndex = 1,
		       .bFrameIntervalType = 1},
	.endpoint = {USB_DT_ENDPOINT_SIZE, USB_DT_ENDPOINT, USB_DIR_IN | 1, USB_ENDPOINT_XFER_BULK, 0, 2, 0},
};

#define SET_FRAME(frame, width, height, fps)                                                                \
	do {                                                                                                \
		(frame)->wWidth = htole16((uint16_t)(width));                                               \
		(frame)->wHeight = htole16((uint16_t)(height));                                             \
		(frame)->dwMinBitRate = (frame)->dwMaxBitRate =                                             \
			htole32((uint32_t)(width) * (height)*16 * (fps));                                   \
		(frame)->dwMaxVideoFrameBufferSize = htole32((uint32_t)(width) * (height)*2);               \
		(frame)->dwDefaultFrameInterval = (frame)->dwFrameInterval[0] = htole32(10000000u / (fps)); \
	} while (0)

/* Accepts any request of the host. There is one size and one rate, so the host chooses only the format. */
static void agree(struct uvc_streaming_control *s)
{
	if (s->bFormatIndex != UVC_YUYV)
		s->bFormatIndex = UVC_MJPEG;
	s->bFrameIndex = 1;
	s->dwFrameInterval = configuration.yuyv_frame.dwFrameInterval[0];
	s->dwMaxVideoFrameSize = configuration.yuyv_frame.dwMaxVideoFrameBufferSize;
	s->dwMaxPayloadTransferSize = htole32(UVC_PAYLOAD_BYTES);
}

void uvc_function_init(struct uvc_function *u, int width, int height, int fps, const char *product,
		       const char *serial)
{
	*u = (struct uvc_function){
		.product = product, .serial = serial, .auto_exposure = 8, .exposure = 156, .gain = 16};
	SET_FRAME(&configuration.mjpeg_frame, width, height, (unsigned)fps);
	SET_FRAME(&configuration.yuyv_frame, width, height, (unsigned)fps);
	agree(&u->stream);
}

/* Writes a text in UTF-16. Returns the number of bytes. */
static int put_text(uint8_t *to, const char *text)
{
	size_t n = strnlen(text, 60);

	for (size_t i = 0; i < n; i++) {
		to[2 + 2 * i] = (uint8_t)text[i];
		to[3 + 2 * i] = 0;
	}
	to[0] = (uint8_t)(2 + 2 * n);
	to[1] = USB_DT_STRING;
	return to[0];
}

static int put_descriptor(const struct uvc_function *u, int type, int index, uint8_t *to)
{
	static const uint8_t languages[] = {4, USB_DT_STRING, ENGLISH & 0xff, ENGLISH >> 8};

	if (type == USB_DT_DEVICE) {
		memcpy(to, &device, sizeof(device));
		return sizeof(device);
	}
	if (type == USB_DT_CONFIG) {
		memcpy(to, &configuration, sizeof(configuration));
		return sizeof(configuration);
	}
	if (type == USB_DT_STRING && index == TEXT_LANGUAGES) {
		memcpy(to, languages, sizeof(languages));
		return sizeof(languages);
	}
	if (type == USB_DT_STRING)
		return put_text(to, index == TEXT_PRODUCT ? u->product : u->serial);
	return -EPIPE;
}

/* Handles the standard requests of a device. Writes the answer to `to` and returns its bytes, or -EPIPE. */
static int standard(const struct uvc_function *u, const struct usb_ctrlrequest *q, uint8_t *to)
{
	switch (q->bRequest) {
	case USB_REQ_GET_DESCRIPTOR:
		return put_descriptor(u, le16toh(q->wValue) >> 8, le16toh(q->wValue) & 0xff, to);
	case USB_REQ_GET_STATUS:
		to[0] = to[1] = 0;
		return 2;
	case USB_REQ_SET_CONFIGURATION:
	case USB_REQ_SET_INTERFACE:
	case USB_REQ_CLEAR_FEATURE: /* the host sends this when a stream ends */
		return 0;
	default:
		return -EPIPE;
	}
}

static int stream_parameters(struct uvc_function *u, const struct usbip_request *r, uint8_t *to)
{
	const int size = sizeof(u->stream) - 8; /* version 1.0 ends with dwMaxPayloadTransferSize */

	switch (r->setup.bRequest) {
	case UVC_SET_CUR:
		memcpy(&u->stream, r->data, (size_t)(r->length < size ? r->length : size));
		agree(&u->stream);
		return 0;
	case UVC_GET_LEN:
		to[0] = (uint8_t)size;
		to[1] = 0;
		return 2;
	case UVC_GET_INFO:
		to[0] = UVC_CONTROL_CAP_GET | UVC_CONTROL_CAP_SET;
		return 1;
	default: /* current, minimum, maximum, default: all equal */
		memcpy(to, &u->stream, (size_t)size);
		return size;
	}
}

struct setting {
	int unit, selector, bytes;
	uint32_t least, most, step, first;
};

static const struct setting settings[] = {
	{CAMERA, UVC_CT_AE_MODE_CONTROL, 1, 1, 8, 1 | 8, 8}, /* its step lists the available modes */
	{CAMERA, UVC_CT_EXPOSURE_TIME_ABSOLUTE_CONTROL, 4, 1, 10000, 1, 156},
	{PROCESSING, UVC_PU_GAIN_CONTROL, 2, 0, 255, 1, 16},
};

static int put_number(uint8_t *to, uint32_t value, int bytes)
{
	value = htole32(value);
	memcpy(to, &value, (size_t)bytes);
	return bytes;
}

static int unit_setting(struct uvc_function *u, const struct usbip_request *r, uint8_t *to)
{
	uint32_t *const values[] = {&u->auto_exposure, &u->exposure, &u->gain};
	const struct usb_ctrlrequest *q = &r->setup;

	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct setting *s = &settings[i];

		if (le16toh(q->wIndex) >> 8 != s->unit || le16toh(q->wValue) >> 8 != s->selector)
			continue;
		switch (q->bRequest) {
		case UVC_SET_CUR:
			if (r->length != s->bytes)
				return -EPIPE;
			*values[i] = 0;
			memcpy(values[i], r->data, (size_t)s->bytes);
			*values[i] = le32toh(*values[i]);
			return 0;
		case UVC_GET_CUR:
			return put_number(to, *values[i], s->bytes);
		case UVC_GET_MIN:
			return put_number(to, s->least, s->bytes);
		case UVC_GET_MAX:
			return put_number(to, s->most, s->bytes);
		case UVC_GET_RES:
			return put_number(to, s->step, s->bytes);
		case UVC_GET_DEF:
			return put_number(to, s->first, s->bytes);
		case UVC_GET_LEN:
			return put_number(to, (uint32_t)s->bytes, 2);
		case UVC_GET_INFO:
			return put_number(to, UVC_CONTROL_CAP_GET | UVC_CONTROL_CAP_SET, 1);
		default:
			return -EPIPE;
		}
	}
	return -EPIPE;
}

int uvc_function_control(struct uvc_function *u, int fd, const struct usbip_request *r)
{
	const struct usb_ctrlrequest *q = &r->setup;
	int wanted = le16toh(q->wLength), n;
	uint8_t to[512];

	if ((q->bRequestType & USB_TYPE_MASK) == USB_TYPE_STANDARD)
		n = standard(u, q, to);
	else if ((le16toh(q->wIndex) & 0xff) == STREAM_INTERFACE)
		n = stream_parameters(u, r, to);
	else
		n = unit_setting(u, r, to);
	if (n < 0)
		return usbip_answer(fd, r, n, NULL, 0);
	if (!r->in)
		return usbip_answer(fd, r, 0, NULL, (size_t)r->length);
	return usbip_answer(fd, r, 0, to, (size_t)(n < wanted ? n : wanted));
}
