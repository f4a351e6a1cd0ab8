/*
 * Functions shared by the fuzz targets: limits, input, files in memory, findings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/fuzz/fuzz.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static void fuzz_input_late(int signal)
{
	(void)signal;
	fuzz_fail("the input took more than %s seconds of a processor", getenv("FUZZ_INPUT_S"));
}

/* Returns the limit of CPU time for an input from the environment. Without the variable there is no limit. */
static struct itimerval fuzz_input_limit(void)
{
	const char *s = getenv("FUZZ_INPUT_S");

	if (s)
		signal(SIGPROF, fuzz_input_late);
	return (struct itimerval){.it_value.tv_sec = s ? strtol(s, NULL, 10) : 0};
}

int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
/* Limits the CPU time of an input (-Wl,--wrap). A busy machine does not cause a finding. */
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct itimerval limit;
	static bool known;

	if (!known)
		limit = fuzz_input_limit();
	known = true;
	setitimer(ITIMER_PROF, &limit, NULL);
	return __real_LLVMFuzzerTestOneInput(data, bytes);
}

uint64_t fuzz_number(struct fuzz_input *in, int bytes)
{
	uint8_t raw[8] = {0};
	uint64_t n = 0;

	fuzz_copy(in, raw, (size_t)bytes);
	for (int i = bytes; i-- > 0;)
		n = n << 8 | raw[i];
	return n;
}

unsigned fuzz_choice(struct fuzz_input *in, unsigned count)
{
	return (unsigned)fuzz_number(in, 1) % count;
}

size_t fuzz_copy(struct fuzz_input *in, void *to, size_t bytes)
{
	size_t n = bytes < in->left ? bytes : in->left;

	if (n)
		memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
	return n;
}

char *fuzz_text(struct fuzz_input *in)
{
	const uint8_t *end = in->left ? memchr(in->at, 0, in->left) : NULL;
	size_t n = end ? (size_t)(end - in->at) : in->left;
	char *text;

	if (!in->left)
		return NULL;
	text = malloc(n + 1);
	if (!text)
		fuzz_fail("out of memory");
	fuzz_copy(in, text, n);
	text[n] = 0;
	if (end) {
		in->at++;
		in->left--;
	}
	return text;
}

const char *fuzz_file(int which, const void *data, size_t bytes)
{
	static int fd[2] = {-1, -1};
	static char path[2][32];

	if (fd[which] < 0) {
		fd[which] = memfd_create("input", MFD_CLOEXEC);
		snprintf(path[which], sizeof(path[which]), "/proc/self/fd/%d", fd[which]);
	}
	if (fd[which] < 0 || ftruncate(fd[which], 0) < 0 ||
	    pwrite(fd[which], data, bytes, 0) != (ssize_t)bytes)
		fuzz_fail("no file in memory");
	return path[which];
}

FILE *fuzz_null(void)
{
	static FILE *null;

	if (!null)
		null = fopen("/dev/null", "we");
	if (!null)
		fuzz_fail("no /dev/null");
	return null;
}

void fuzz_touch(const void *data, size_t bytes)
{
	static volatile uint8_t sum;
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		sum = (uint8_t)(sum + p[i]);
}

/* Replaces base/contract.c (-Wl,--wrap), which would end the process before the input is kept. */
void __wrap_sx_contract_broken(const char *file, int line, const char *what, long long a, long long b)
	__attribute__((noreturn));
void __wrap_sx_contract_broken(const char *file, int line, const char *what, long long a, long long b)
{
	fuzz_fail("%s:%d: %s: %lld, %lld", file, line, what, a, b);
}

void __wrap_sx_contract_broken_state(const char *file, int line, const char *what) __attribute__((noreturn));
void __wrap_sx_contract_broken_state(const char *file, int line, const char *what)
{
	fuzz_fail("%s:%d: %s", file, line, what);
}

void fuzz_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}
