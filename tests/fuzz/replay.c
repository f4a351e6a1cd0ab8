/*
 * Replays inputs of a fuzz target without libFuzzer: each named file once, in this order. With
 * AddressSanitizer a memory leak is a finding of the input that caused it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sanitizer/allocator_interface.h>
#include <sanitizer/lsan_interface.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "tests/fuzz/fuzz.h"

#define MEMORY_MOST_KB (1024L * 1024) /* limit for the process, including AddressSanitizer's own memory */

static long held; /* number of allocated blocks */

static void replay_taken(const volatile void *p, size_t bytes)
{
	(void)bytes;
	held += p != NULL;
}

static void replay_freed(const volatile void *p)
{
	held -= p != NULL;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t most)
{
	(void)data;
	(void)bytes;
	(void)most;
	abort(); /* replays change no input */
}

/* Returns the file's content in memory of exactly its size, so that each byte after it is out of bounds. */
static uint8_t *replay_read(const char *path, size_t *ret)
{
	FILE *f = fopen(path, "rbe");
	uint8_t *data;
	long bytes;

	if (!f || fseek(f, 0, SEEK_END) < 0 || (bytes = ftell(f)) < 0)
		fuzz_fail("cannot read %s", path);
	rewind(f);
	data = malloc((size_t)bytes);
	if (!data || fread(data, 1, (size_t)bytes, f) != (size_t)bytes)
		fuzz_fail("cannot read %s", path);
	fclose(f);
	*ret = (size_t)bytes;
	return data;
}

static void replay_check_memory(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > MEMORY_MOST_KB)
		fuzz_fail("%ld kB of memory are in use", usage.ru_maxrss);
}

int main(int argc, char **argv)
{
	if (!__sanitizer_install_malloc_and_free_hooks(replay_taken, replay_freed))
		fuzz_fail("memory cannot be counted");
	for (int i = 1; i < argc; i++) {
		size_t bytes;
		uint8_t *data = replay_read(argv[i], &bytes);
		const long before = held;

		fprintf(stderr, "Running: %s\n", argv[i]);
		LLVMFuzzerTestOneInput(data, bytes);
		free(data);
		replay_check_memory();
		/* a leak check takes milliseconds, and memory that is kept for the next input is no leak */
		if (held >= before && __lsan_do_recoverable_leak_check())
			return 1;
		fprintf(stderr, "Executed %s\n", argv[i]);
	}
	return 0;
}
