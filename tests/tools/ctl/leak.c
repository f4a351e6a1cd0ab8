/*
 * Preloaded into a daemon: leaks memory and open files.
 *
 *	LEAK_KIB=N LEAK_FILES=M: KiB and files that a separate thread leaks every 20 ms
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t kib, files;

static void *leak(void *user)
{
	for (;;) {
		void *memory = kib ? malloc(kib * 1024) : NULL;

		if (memory)
			memset(memory, 1, kib * 1024);
		for (size_t i = 0; i < files; i++)
			if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
				return NULL;
		usleep(20000);
	}
	return user;
}

static size_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;
	sigset_t all, before;

	kib = number("LEAK_KIB");
	files = number("LEAK_FILES");
	if (!kib && !files)
		return;
	/* blocks all signals in this thread: the daemon reads them from a descriptor */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&thread, NULL, leak, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
