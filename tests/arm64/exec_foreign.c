/*
 * Preloaded into tests that start programs of another architecture on a kernel without binfmt_misc. If the
 * kernel refuses a program because of its format (ENOEXEC), this library starts EMULATOR with the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define WORDS 1024 /* between fork and exec nothing may be allocated */

typedef int (*execve_fn)(const char *path, char *const argv[], char *const envp[]);

int execve(const char *path, char *const argv[], char *const envp[])
{
	execve_fn next;
	char *words[WORDS] = {(char *)EMULATOR, (char *)"-0", argv[0], (char *)path}, *kept[WORDS];
	size_t n = 4, k = 0;

	*(void **)&next = dlsym(RTLD_NEXT, "execve");
	next(path, argv, envp);
	if (errno != ENOEXEC)
		return -1;
	for (char *const *a = argv + 1; argv[0] && *a && n < WORDS - 1; a++)
		words[n++] = *a;
	words[n] = NULL;
	/* the emulated program could not load this library */
	for (; *envp && k < WORDS - 1; envp++)
		if (strncmp(*envp, "LD_PRELOAD=", 11) != 0)
			kept[k++] = *envp;
	kept[k] = NULL;
	if (n == WORDS - 1 || k == WORDS - 1) {
		errno = E2BIG;
		return -1;
	}
	return next(EMULATOR, words, kept);
}

/* glibc's own execv() does not call the execve() above */
int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}
