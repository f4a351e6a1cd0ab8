/*
 * The device's side of USB/IP. Requests of a USB host come over a socket, and answers go back. The host is
 * vhci_hcd, a driver of this kernel, which takes the other end of the socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_VM_USBIP_H
#define TESTS_VM_USBIP_H

#include <linux/usb/ch9.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usbip_request {
	bool unlink;	   /* cancels the request number `sequence`; the other members are not set */
	uint32_t sequence; /* number of the request, or of the cancelled request */
	uint32_t answer;   /* number for the answer */
	int endpoint;
	bool in;
	int length;		      /* number of bytes requested, or in data */
	struct usb_ctrlrequest setup; /* for endpoint 0 */
	uint8_t data[512];	      /* data from the host; longer data are refused */
};

/*
 * Connects a high-speed device to a port (0 to 7) of the machine. Returns a socket, or a negative errno.
 * Closing the socket disconnects the device.
 */
int usbip_attach(int port);

/* Waits for the next request. -ENODEV: the host has gone; -EPROTO: the request is invalid. */
int usbip_receive(int fd, struct usbip_request *r);

/*
 * Answers a request. `status`: 0, or a negative errno (-EPIPE: stall). `length`: bytes of data, or how many
 * of the host's bytes were accepted.
 */
int usbip_answer(int fd, const struct usbip_request *r, int status, const void *data, size_t length);
int usbip_answer_unlink(int fd, const struct usbip_request *r, int status);

#endif
