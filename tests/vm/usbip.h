/*
 * The device's side of USB/IP: requests of a USB host come over a socket, and answers go back. The host is
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
	bool unlink;	   /* takes back the request number sequence; nothing of the rest is set */
	uint32_t sequence; /* of the request, or of the one that is taken back */
	uint32_t answer;   /* number that the answer carries */
	int endpoint;
	bool in;
	int length;		      /* bytes wanted, or in data */
	struct usb_ctrlrequest setup; /* of endpoint 0 */
	uint8_t data[512];	      /* from the host; longer is refused */
};

/*
 * Plugs a high-speed device into a port (0 to 7) of the machine: a socket, or negative errno.
 * Closing it unplugs.
 */
int usbip_attach(int port);

/* Waits for the next request. -ENODEV: the host has gone; -EPROTO: it is not understood. */
int usbip_receive(int fd, struct usbip_request *r);

/*
 * status: 0, or negative errno (-EPIPE: stall). length: bytes of data, or how many the host's own were taken.
 */
int usbip_answer(int fd, const struct usbip_request *r, int status, const void *data, size_t length);
int usbip_answer_unlink(int fd, const struct usbip_request *r, int status);

#endif
