/*
 * A program that handles a failed call wrongly, in the way that its argument names, so that the judge itself
 * is tested: tests/torture/run --self-check. "good" handles all failures correctly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/torture/torture.h"

static const char *how;

static bool how_is(const char *name)
{
	return strcmp(how, name) == 0;
}

static int say(int code, const char *what)
{
	fprintf(stderr, "planted: %s: %s\n", what, strerror(errno));
	return code;
}

/* Allocates in a thread that looks like one of the pipeline in its steady state. */
static void *allocate(void *nothing)
{
	void *volatile p; /* volatile, so that the compiler keeps the allocation */

	pthread_setname_np(pthread_self(), "frame");
	torture_forbid_allocation();
	p = malloc(100);
	free(p);
	return NULL;
}

static void run_frame_thread(void)
{
	pthread_t thread;

	if (!how_is("allocates"))
		return;
	if (pthread_create(&thread, NULL, allocate, NULL) == 0)
		pthread_join(thread, NULL);
}

static int write_file(void)
{
	static const char text[] = "a whole file";
	int fd = open("whole", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ssize_t n;

	while (fd < 0 && how_is("hangs"))
		usleep(1000);
	if (fd < 0 && how_is("ends"))
		return 0;
	if (fd < 0)
		return how_is("wrong-code") ? say(78, "cannot open") : say(73, "cannot open");
	do {
		n = write(fd, text, sizeof(text));
	} while (n < 0 && errno == EINTR);
	close(fd);
	if (n == sizeof(text) || how_is("leaves")) {
		if (n == sizeof(text)) {
			unlink("whole");
			torture_note("mark terminated"); /* same mark as in phases.c */
		}
		return n == sizeof(text) ? 0 : say(73, "cannot write");
	}
	unlink("whole");
	return say(73, "cannot write");
}

/* Reads a file that exists. If the call fails, the user has made no error. */
static int read_file(void)
{
	int code = 0, fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	char text[16];

	if (fd < 0)
		return say(73, "cannot open");
	if (read(fd, text, sizeof(text)) < 0 && errno == EIO)
		code = how_is("wrong-code-read") ? say(78, "cannot read") : say(73, "cannot read");
	close(fd);
	return code;
}

__attribute__((noinline)) static bool read_one(int fd)
{
	char c;

	return pread(fd, &c, 1, 0) == 1;
}

/* Reads in one place again and again, as frames do. Then another place calls the same function. */
static void read_often(void)
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC), whole = 0;

	for (int i = 0; fd >= 0 && i < 100; i++)
		whole += read_one(fd);
	if (fd >= 0 && whole >= 99 && !read_one(fd))
		abort();
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	char *volatile first, *volatile second; /* allocated, but never read */
	int code = 70;

	how = argc > 1 ? argv[1] : "good";
	if (how_is("silent-later"))
		fprintf(stderr, "12:00:00.000 notice  daemon: running\n");
	if (how_is("rare"))
		read_often();
	first = malloc(1000);
	second = malloc(1000);
	if (how_is("crashes"))
		*second = 1;
	if (first && second) {
		run_frame_thread();
		code = write_file();
		code = code ? code : read_file();
	} else if (strncmp(how, "silent", 6) != 0) {
		say(code, "no memory");
	}
	if (!how_is("leaks") || second)
		free(first);
	first = NULL;
	free(second);
	return code;
}
