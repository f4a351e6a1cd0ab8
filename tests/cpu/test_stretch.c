/*
 * Tests the grey range of a Y16 pair whose images another process changes meanwhile (source.kind = shared).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cpu/stretch.h"

#define W 64
#define H 48
#define BYTES ((size_t)2 * W * H)
#define TRY_NS (SX_NS_PER_S / 2)

struct find {
	struct sx_pool *pool;
	struct sx_image image[2];
	uint32_t *counts;
	long found;
};

static void find(void *arg)
{
	struct find *f = arg;
	const int64_t until_ns = sx_now_ns() + TRY_NS;

	while (sx_now_ns() < until_ns) {
		const struct sx_stretch s = sx_stretch_find(f->pool, &f->image[0], &f->image[1], f->counts);

		assert_true(s.min <= s.max);
		f->found++;
	}
}

/* Fills the images with one grey after the other, so that the two rounds of a search count different ones. */
static void keep_changing(uint8_t *memory)
{
	for (unsigned grey = 0;; grey += 37)
		memset(memory, (int)(grey & 255), 2 * BYTES);
}

/* Returns memory behind which nothing can be read. It stays to the end of the test. */
static uint32_t *counts_before_a_gap(size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
	uint8_t *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	assert_int_equal(mprotect(at + room, page, PROT_NONE), 0);
	return (uint32_t *)(void *)(at + room - bytes);
}

static void changing_images(void **state)
{
	uint8_t *memory = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct find f = {0};
	struct sx_pool_job job = {.run = find, .arg = &f};
	pid_t other;

	(void)state;
	assert_true(memory != MAP_FAILED);
	other = fork();
	assert_true(other >= 0);
	if (other == 0)
		keep_changing(memory);
	assert_int_equal(sx_pool_create(&f.pool, 2), 0);
	f.counts = counts_before_a_gap(sx_stretch_count_bytes(2));
	for (int i = 0; i < 2; i++)
		f.image[i] = (struct sx_image){.data = memory + (size_t)i * BYTES,
					       .width = W,
					       .height = H,
					       .pitch = 2 * W,
					       .pixel = SX_PIXEL_Y16};
	sx_pool_submit(f.pool, &job);
	sx_pool_drain(f.pool);
	assert_true(f.found > 0);
	sx_pool_destroy(f.pool);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	munmap(memory, 2 * BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(changing_images)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("cpu stretch", tests, NULL, NULL);
}
