/*
 * Notices that a camera is back. It uses inotify on the folders of the device's name, and on the device
 * itself, which other programs may close or begin to feed. Netlink is not possible: the service allows no
 * address family except AF_UNIX.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "capture/v4l2/watch.h"

#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define FOLDER_EVENTS (IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE)
#define DEVICE_EVENTS (IN_OPEN | IN_CLOSE | IN_ATTRIB)
#define PATH_BYTES 512

/* Watches every folder of the path that exists: /dev/v4l is created with the first camera. */
static void watch_path(int fd, const char *path)
{
	char part[PATH_BYTES];

	sx_must(fd, >=, 0);
	if (strlen(path) >= sizeof(part))
		return;
	inotify_add_watch(fd, path, DEVICE_EVENTS);
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		memcpy(part, path, (size_t)(slash - path));
		part[slash - path] = 0;
		inotify_add_watch(fd, part, FOLDER_EVENTS | IN_ONLYDIR);
	}
}

bool sx_watch_rearm(int fd, const struct sx_source_params *p)
{
	const char *const paths[] = {"/dev/video", p->left, p->right};
	_Alignas(struct inotify_event) char events[4096];
	bool changed = false;
	ssize_t n;

	if (fd < 0)
		return false;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (paths[i] && *paths[i])
			watch_path(fd, paths[i]);
	while ((n = read(fd, events, sizeof(events))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const struct inotify_event *)(events + at);

			/* events of folders; events of the device itself have no name */
			changed = changed || e->len > 0;
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	return changed;
}

int sx_watch_open(const struct sx_source_params *p)
{
	int fd;

	if (p->kind != SX_SOURCE_V4L2)
		return -1;
	fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd >= 0)
		sx_watch_rearm(fd, p);
	return fd;
}
