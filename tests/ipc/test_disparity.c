/*
 * Tests what is specific to disparity maps between two processes. Properties that maps share with class
 * scores, the feed and the ring are tested in test_scores.c and test_scores_bad.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "include/stixel_disparity.h"
#include "ipc/feed/disparity.h"
#include "ipc/feed/feed.h"
#include "tests/ipc/help.h"

#define WIDTH 101 /* px; rows of 208 bytes (disparity) and 112 bytes (confidence) */
#define HEIGHT 67
#define COPY_BYTES ((208 + 112) * HEIGHT)
#define MS INT64_C(1000000)

static char dir[64], path[128];
static int64_t t0; /* base of the capture times, ns: some seconds ago; maps are 100 ms apart */

static int setup(void **state)
{
	help_dir_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/" SX_DISPARITY_PREFIX "a", dir);
	t0 = sx_now_ns() - 5000 * MS;
	return 0;
}

static int teardown(void **state)
{
	help_dir_remove(dir);
	return 0;
}

static struct stixel_disparity_format format(bool confidence)
{
	return (struct stixel_disparity_format){
		.width = WIDTH, .height = HEIGHT, .confidence = confidence, .slots = 4, .folder = dir};
}

static struct stixel_disparity *writer(bool confidence)
{
	const struct stixel_disparity_format f = format(confidence);
	struct stixel_disparity *w = NULL;

	assert_int_equal(stixel_disparity_create(&w, "a", &f, sizeof(f)), 0);
	return w;
}

static uint16_t value(int i, uint32_t y, uint32_t x)
{
	return (uint16_t)(1000 * i + 131 * y + 7 * x);
}

static void give(struct stixel_disparity *w, int i)
{
	struct stixel_disparity_map m;

	assert_int_equal(stixel_disparity_begin(w, &m), 0);
	for (uint32_t y = 0; y < m.height; y++)
		for (uint32_t x = 0; x < m.width; x++) {
			m.data[y * m.pitch / 2 + x] = value(i, y, x);
			if (m.confidence)
				m.confidence[y * m.confidence_pitch + x] = (uint8_t)value(i, y, x);
		}
	assert_int_equal(stixel_disparity_commit(w, t0 + i * 100 * MS, 7, 8), 0);
}

static struct sx_feed *feed(void)
{
	const struct sx_feed_params p = {.kind = SX_FEED_DISPARITY,
					 .name = "a",
					 .shm_dir = dir,
					 .image_width = WIDTH,
					 .image_height = HEIGHT,
					 .tolerance_ns = 20 * MS};
	struct sx_feed *f = NULL;

	assert_int_equal(sx_feed_bytes(&p), COPY_BYTES);
	assert_int_equal(sx_feed_create(&f, &p), 0);
	return f;
}

/* Lets the feed look later than any pause between attempts, so that it finds a ring that is present. */
static void look(struct sx_feed *f)
{
	static int64_t later;

	later += SX_NS_PER_S / 2;
	sx_feed_look(f, sx_now_ns() + later);
}

static bool whole(const struct sx_disparity *d, int i)
{
	bool same = d->captured_ns == t0 + i * 100 * MS;

	for (uint32_t y = 0; y < HEIGHT; y++)
		for (uint32_t x = 0; x < WIDTH; x++)
			same = same && d->data[y * d->pitch / 2 + x] == value(i, y, x) &&
			       (!d->confidence ||
				d->confidence[y * d->confidence_pitch + x] == (uint8_t)value(i, y, x));
	return same;
}

static void numbers_out_of_range_are_refused(void **state)
{
	const struct stixel_disparity_format good = format(true);
	struct stixel_disparity_format f;
	struct stixel_disparity *w = NULL;

#define BAD(field, number)                                                                  \
	do {                                                                                \
		f = good;                                                                   \
		f.field = (number);                                                         \
		assert_int_equal(stixel_disparity_create(&w, "a", &f, sizeof(f)), -EINVAL); \
	} while (0)
	BAD(width, 0);
	BAD(width, 4097);
	BAD(height, 2161);
	BAD(confidence, 2);
	BAD(slots, 3);
	BAD(slots, 128);
	assert_int_equal(stixel_disparity_create(&w, "../a", &good, sizeof(good)), -EINVAL);
	assert_int_equal(stixel_disparity_create(NULL, "a", &good, sizeof(good)), -EINVAL);
	assert_int_equal(stixel_disparity_create(&w, "a", NULL, 0), -EINVAL);
	assert_null(w);
	assert_int_equal(stixel_disparity_commit(NULL, 1, 0, 0), -EINVAL);
	stixel_disparity_close(NULL);
	w = writer(true);
	assert_int_equal(stixel_disparity_commit(w, 1, 0, 0), -EINVAL); /* no map was begun */
	stixel_disparity_close(w);
	assert_int_equal(help_dir_count(dir), 0);
}

static void a_map_with_and_without_confidence(void **state)
{
	uint64_t to[COPY_BYTES / 8];
	struct sx_feed *f = feed();
	struct sx_disparity d;

	for (int confidence = 0; confidence < 2; confidence++) {
		struct stixel_disparity *w = writer(confidence);

		look(f); /* leaves the ring of the previous writer */
		give(w, 1);
		look(f);
		assert_int_equal(sx_feed_take_disparity(f, t0 + 100 * MS, to, &d), SX_FEED_SAME);
		assert_true(whole(&d, 1) && (d.confidence != NULL) == confidence);
		assert_int_equal(sx_feed_take_disparity(f, t0 + 200 * MS, to, &d), SX_FEED_NONE);
		stixel_disparity_close(w);
	}
	sx_feed_destroy(f);
	assert_int_equal(help_dir_count(dir), 0);
}

static void every_field_of_a_map(void **state)
{
	static const struct {
		size_t at, bytes;
	} fields[] = {
#define FIELD(name) \
	{offsetof(struct stixel_disparity_header, name), sizeof(((struct stixel_disparity_header *)0)->name)}
		FIELD(magic),
		FIELD(abi_major),
		FIELD(header_bytes),
		FIELD(data_offset),
		FIELD(frame_bytes),
		FIELD(epoch),
		FIELD(number),
		FIELD(capture_ns),
		FIELD(width),
		FIELD(height),
		FIELD(pitch),
		FIELD(confidence_pitch),
		FIELD(confidence_offset)};
	static const uint64_t values[] = {0, 1, 7, 0x80, 0xffff, 0x7fffffff, 0xfffffff8, UINT64_MAX};
	uint64_t to[COPY_BYTES / 8];
	struct sx_disparity d;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			struct stixel_disparity *w = writer(true);
			struct sx_feed *f = feed();
			struct stat st;
			uint8_t *base, *at;
			bool other;
			int fd = open(path, O_RDWR | O_CLOEXEC);

			give(w, 1);
			assert_true(fd >= 0 && fstat(fd, &st) == 0);
			base = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			assert_true(base != MAP_FAILED);
			at = base + STIXEL_RING_SLOTS_OFFSET +
			     ((size_t)st.st_size - STIXEL_RING_SLOTS_OFFSET) / 4 + 64 + fields[i].at;
			other = memcmp(at, &values[v], fields[i].bytes) != 0;
			memcpy(at, &values[v], fields[i].bytes);
			look(f);
			assert_int_equal(sx_feed_take_disparity(f, t0 + 100 * MS, to, &d),
					 other ? SX_FEED_NONE : SX_FEED_SAME);
			munmap(base, (size_t)st.st_size);
			close(fd);
			stixel_disparity_close(w);
			sx_feed_destroy(f);
		}
}

/* The feed refuses a ring of scores under this name, and a map of another size. */
static void what_is_no_map(void **state)
{
	const struct stixel_scores_format other = {
		.classes = 1, .image_width = WIDTH, .image_height = HEIGHT, .scale = 1, .folder = dir};
	struct stixel_disparity_format wide = format(false);
	struct stixel_disparity *w;
	struct stixel_scores *s;
	struct sx_feed *f = feed();
	char scores[128];

	look(f);
	assert_non_null(strstr(sx_feed_why(f), "no process writes disparity maps: there is no "));
	assert_int_equal(stixel_scores_create(&s, "a", &other, sizeof(other)), 0);
	snprintf(scores, sizeof(scores), "%s/stixel-scores.a", dir);
	assert_int_equal(rename(scores, path), 0);
	look(f);
	assert_non_null(strstr(sx_feed_why(f), "no ring of disparity maps"));
	unlink(path);
	stixel_scores_close(s);
	wide.width++;
	assert_int_equal(stixel_disparity_create(&w, "a", &wide, sizeof(wide)), 0);
	give(w, 1);
	look(f);
	assert_string_equal(sx_feed_why(f),
			    "disparity maps of 102x67 pixels: expected are 101x67, as the left image has");
	assert_int_equal(sx_feed_state(f, sx_now_ns()), SX_FEED_REFUSED);
	stixel_disparity_close(w);
	wide = format(false);
	wide.height++;
	assert_int_equal(stixel_disparity_create(&w, "a", &wide, sizeof(wide)), 0);
	give(w, 1);
	look(f);
	look(f);
	assert_non_null(strstr(sx_feed_why(f), "disparity maps of 101x68 pixels: expected are 101x67"));
	stixel_disparity_close(w);
	sx_feed_destroy(f);
}

/* Kills writers at random moments, again and again, while a feed takes what it finds. */
static void killed_writers(void **state)
{
	uint64_t to[COPY_BYTES / 8];
	struct sx_feed_counters count;
	struct sx_feed *f = feed();
	struct sx_disparity d;
	unsigned seed = 1, taken = 0;
	pid_t pid;

	for (int life = 0; life < 40; life++) {
		const int64_t until = sx_now_ns() + (3 + rand_r(&seed) % 12) * MS;

		CHILD(pid, {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			struct stixel_disparity *w = writer(life % 2);

			for (int i = 0;; i = (i + 1) % 40)
				give(w, i);
		});
		while (sx_now_ns() < until) {
			look(f);
			for (int i = 0; i < 40; i++)
				if (sx_feed_take_disparity(f, t0 + i * 100 * MS, to, &d) == SX_FEED_SAME) {
					assert_true(whole(&d, i));
					taken++;
				}
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	sx_feed_counters(f, &count);
	assert_true(taken > 100 && count.restarts > 10);
	assert_int_equal(count.refused, 0);
	sx_feed_destroy(f);
	stixel_disparity_close(writer(false)); /* a new writer sweeps what the killed ones left */
	assert_int_equal(help_dir_count(dir), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(numbers_out_of_range_are_refused),
		TEST(a_map_with_and_without_confidence),
		TEST(every_field_of_a_map),
		TEST(what_is_no_map),
		TEST(killed_writers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
