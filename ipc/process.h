/*
 * Identity of a process. A pid alone is not enough: the kernel reuses it, and it differs between containers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_PROCESS_H
#define SX_IPC_PROCESS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* Returns the inode of this process's pid namespace; 0 if unknown. */
static inline uint64_t sx_process_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/*
 * Returns the start time of a process in clock ticks since boot (field 22 of /proc/PID/stat, proc(5)); 0 if
 * unknown.
 */
static inline uint64_t sx_process_start(pid_t pid)
{
	char path[64], text[1024], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	/*
	 * Field 2 is the name in parentheses and may contain any character: count fields from the last
	 * parenthesis.
	 */
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* Finds the effective user of a process. False: unknown, or the process has ended and is a zombie. */
static inline bool sx_process_user(pid_t pid, uid_t *user)
{
	char path[64], text[2048], *p;
	unsigned real, effective;
	ssize_t n;
	int fd;

	/* The owner of /proc/PID would be wrong: it is root for a process that must not be dumped. */
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	p = strstr(text, "\nUid:");
	if (!p || strstr(text, "\nState:\tZ") || sscanf(p, "\nUid: %u %u", &real, &effective) != 2)
		return false;
	*user = (uid_t)effective;
	return true;
}

#endif
