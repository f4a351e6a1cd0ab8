/*
 * Text for people: error messages and version of libstixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "include/stixel.h"

#define QUOTE_AS_IT_IS(number) #number
#define QUOTE(number) QUOTE_AS_IT_IS(number)
#define OTHER_MAJOR                                                                                \
	"its layout has another major version or byte order: this libstixel reads version " QUOTE( \
		STIXEL_ABI_MAJOR) "; update the older of the two"

const char *stixel_strerror(int error)
{
	static const struct {
		int error;
		const char *text;
	} texts[] = {
		{0, "no error"},
		{EINVAL, "not a valid instance name or argument"},
		{ENOENT, "no stixel publisher of this name is running"},
		{EACCES, "not allowed to read this publisher's frames (join its group)"},
		{EPERM, "the ring belongs to a user that is not trusted"},
		{EPROTO, "not a stixel ring or socket, or a damaged one"},
		{EPROTONOSUPPORT, OTHER_MAJOR},
		{EBADMSG, "a frame was damaged and is skipped"},
		{ESTALE, "a newer publisher took the name"},
		{EPIPE, "the publisher has ended or died"},
		{EINTR, "interrupted by a signal"},
		{ENOTCONN, "the publisher has no frame socket to wait on"},
		{EAGAIN, "the publisher has too many clients"},
		{ENOMEM, "out of memory"},
		{EMFILE, "too many open files in this process"},
		{ENFILE, "too many open files in the system"},
		{ENAMETOOLONG, "the path is too long"},
		{ENOBUFS, "the system has no memory for sockets"},
	};
	int e = error < 0 ? -error : error;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].error == e)
			return texts[i].text;
	return strerror(e);
}

const char *stixel_version(void)
{
	return SX_VERSION;
}
