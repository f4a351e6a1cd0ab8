/*
 * Tests class scores of writers that lie: the result is a message and a count, never a crash.
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
#include "ipc/feed/scores.h"
#include "ipc/feed/trust.h"
#include "ipc/ring.h"
#include "tests/ipc/help.h"
#include "tests/ipc/scores_case.h"

/* ---- writers that lie ---- */

static void refused(struct sx_feed *f, int64_t captured_ns, const char *why)
{
	uint64_t before = counters(f).refused;

	none(f, captured_ns);
	if (!strstr(sx_feed_why(f), why))
		fail_msg("'%s' is not about '%s'", sx_feed_why(f), why);
	assert_int_equal(sx_feed_state(f, sx_now_ns()), SX_FEED_REFUSED);
	assert_true(counters(f).refused >= before);
}

static void other_sizes_are_refused(void **state)
{
	struct stixel_scores_format f;
	struct stixel_scores *w;
	struct sx_feed *in = feed();
	uint64_t n = 0;

#define OTHER(field, value, text)                                      \
	do {                                                           \
		f = format();                                          \
		f.field = (value);                                     \
		w = writer_of(f);                                      \
		look(in); /* leaves the ring of the previous writer */ \
		give(w, at(0));                                        \
		refused(in, at(0), text);                              \
		assert_int_equal(counters(in).refused, ++n);           \
		stixel_scores_close(w);                                \
	} while (0)
	OTHER(classes, 4, "scores of 4 classes for images of 101x67 at scale 4: expected are 3 classes");
	OTHER(image_width, 102, "102x67");
	OTHER(image_height, 66, "101x66");
	OTHER(scale, 3, "at scale 3: expected are 3 classes, 101x67, scale 4 or coarser");
	assert_int_equal(counters(in).received, 0);
	f = format();
	f.scale = 32; /* coarser scores fit */
	w = writer_of(f);
	look(in);
	give(w, at(0));
	assert_int_equal(take(in, at(0)), 0);
	assert_string_equal(sx_feed_why(in), "");
	stixel_scores_close(w);
	sx_feed_destroy(in);
}

/* Readers of frames are not writers. The feed trusts only the writers' group, which the reason names. */
static void readers_are_no_writers(void **state)
{
	enum { READERS = 4241, WRITERS = 4242 };
	struct sx_feed_params p = params();
	struct stixel_scores *w = writer_of(format());
	struct sx_feed *in;

	if (geteuid() != 0) /* only root can give files away */
		skip();
	p.writers = WRITERS;
	assert_int_equal(chown(scores_path, READERS, READERS), 0);
	assert_int_equal(sx_feed_create(&in, &p), 0);
	look(in);
	assert_int_equal(sx_feed_state(in, sx_now_ns()), SX_FEED_REFUSED);
	assert_non_null(strstr(sx_feed_why(in),
			       "group stixel-feed (make the writer a member: usermod -aG stixel-feed NAME)"));
	sx_feed_destroy(in);
	assert_int_equal(chown(scores_path, READERS, WRITERS), 0);
	assert_int_equal(sx_feed_create(&in, &p), 0);
	look(in);
	assert_string_equal(sx_feed_why(in), "");
	sx_feed_destroy(in);
	/* root's own ring is trusted, whatever group may read it */
	assert_int_equal(chown(scores_path, 0, READERS), 0);
	assert_int_equal(sx_feed_create(&in, &p), 0);
	look(in);
	assert_string_equal(sx_feed_why(in), "");
	sx_feed_destroy(in);
	stixel_scores_close(w);
}

/* If the daemon's user may not open the ring, the reason says which user must join which group. */
static void what_may_not_be_opened(void **state)
{
	enum { DAEMON = 4243, OTHER = 4244, WRITERS = 4242 };
	static const struct {
		uid_t owner;
		gid_t group;
		const char *why;
	} cases[] = {
		{OTHER, OTHER, "(make the writer a member: usermod -aG stixel-feed NAME)"},
		{OTHER, WRITERS,
		 "user 4243 may not read it: make stixeld's user a member of group stixel-feed"},
		{0, OTHER, "user 4243 may not read it: make stixeld's user a member of group stixel-feed"}};
	struct sx_feed_params p = params();
	struct stixel_scores *w = writer_of(format());
	struct sx_why why;
	struct sx_feed *in;
	struct stat st;

	if (geteuid() != 0)
		skip();
	p.writers = WRITERS;
	assert_int_equal(chmod(scores_dir, 0755), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(chown(scores_path, cases[i].owner, cases[i].group), 0);
		assert_int_equal(sx_feed_create(&in, &p), 0);
		assert_int_equal(seteuid(DAEMON), 0);
		look(in);
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(sx_feed_state(in, sx_now_ns()), SX_FEED_REFUSED);
		if (!strstr(sx_feed_why(in), cases[i].why))
			fail_msg("'%s' is not about '%s'", sx_feed_why(in), cases[i].why);
		sx_feed_destroy(in);
	}
	/* a machine without the group */
	assert_int_equal(stat(scores_path, &st), 0);
	st.st_uid = OTHER;
	assert_int_equal(sx_feed_trust(&st, 0, scores_path, &why), -EPERM);
	assert_non_null(
		strstr(why.text, "or group stixel-feed (which is not known here: groupadd -r stixel-feed)"));
	stixel_scores_close(w);
}

static void impossible_times_are_refused(void **state)
{
	struct stixel_scores *w = writer();
	struct sx_feed *f = feed();

	give(w, sx_clock_ns(CLOCK_REALTIME));
	refused(f, at(0), "times are CLOCK_MONOTONIC");
	give(w, INT64_MIN);
	give(w, -1);
	give(w, 0);
	refused(f, at(0), "times are CLOCK_MONOTONIC");
	give(w, INT64_MAX);
	refused(f, at(0), "times are CLOCK_MONOTONIC");
	assert_int_equal(counters(f).refused, 5);
	give(w, at(0));
	assert_int_equal(take(f, at(0)), 0);
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

/* Maps the ring, so that the test can change it as a writer of another implementation would. */
static uint8_t *map(size_t *bytes)
{
	int fd = open(scores_path, O_RDWR | O_CLOEXEC);
	struct stat st;
	void *p;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	*bytes = (size_t)st.st_size;
	p = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	close(fd);
	return p;
}

static void every_field_of_the_scores(void **state)
{
	static const struct {
		size_t at, bytes;
	} fields[] = {
#define FIELD(name) \
	{offsetof(struct stixel_scores_header, name), sizeof(((struct stixel_scores_header *)0)->name)}
		FIELD(magic),	    FIELD(abi_major), FIELD(header_bytes), FIELD(data_offset),
		FIELD(frame_bytes), FIELD(epoch),     FIELD(number),	   FIELD(capture_ns),
		FIELD(classes),	    FIELD(scale),     FIELD(image_width),  FIELD(image_height),
		FIELD(width),	    FIELD(height),    FIELD(pitch),	   FIELD(plane_bytes)};
	static const uint64_t values[] = {
		0, 1, 7, 0x80, 0xffff, 0x7fffffff, 0xffffffff, 0xfffffffffffffff8, UINT64_MAX};
	struct stixel_scores_header *h;
	size_t bytes;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			struct stixel_scores *w = writer();
			struct sx_feed *f = feed();
			uint8_t *base, before[8];

			give(w, at(0));
			base = map(&bytes);
			h = (struct stixel_scores_header *)(base + STIXEL_RING_SLOTS_OFFSET +
							    (bytes - STIXEL_RING_SLOTS_OFFSET) / 4 + 64);
			memcpy(before, (uint8_t *)h + fields[i].at, fields[i].bytes);
			memcpy((uint8_t *)h + fields[i].at, &values[v], fields[i].bytes);
			if (memcmp(before, (uint8_t *)h + fields[i].at, fields[i].bytes) != 0) {
				if (fields[i].at == offsetof(struct stixel_scores_header, capture_ns))
					none(f, at(0));
				else
					refused(f, at(0), "");
			}
			munmap(base, bytes);
			stixel_scores_close(w);
			sx_feed_destroy(f);
		}
}

static void every_word_of_ring_and_slot(void **state)
{
	static const uint32_t values[] = {0, 1, 3, 63, 0x10000, 0x7fffffff, 0xfffffff8, 0xffffffff};
	size_t slot;

	for (size_t word = 0; word < 128 / 4 + 4 + 4; word++)
		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			struct stixel_scores *w = writer();
			struct sx_feed *f = feed();
			struct sx_scores s;
			uint8_t to[COPY_BYTES];
			size_t bytes;
			uint8_t *base;

			give(w, at(0));
			base = map(&bytes);
			slot = STIXEL_RING_SLOTS_OFFSET + (bytes - STIXEL_RING_SLOTS_OFFSET) / 4;
			/* header, live part, start of the slot */
			memcpy(base + (word < 32   ? 4 * word
				       : word < 36 ? STIXEL_RING_LIVE_OFFSET + 4 * (word - 32)
						   : slot + 4 * (word - 36)),
			       &values[v], 4);
			/*
			 * whatever the word says, the feed does not crash or read outside, and returns only
			 * scores that fit
			 */
			look(f);
			if (sx_feed_take(f, at(0), true, to, &s) != SX_FEED_NONE)
				assert_true(s.classes == CLASSES && s.width == 26 && s.height == 17);
			munmap(base, bytes);
			stixel_scores_close(w);
			sx_feed_destroy(f);
		}
}

static void a_ring_cut_short(void **state)
{
	struct sx_feed *f = feed();
	uint8_t to[COPY_BYTES];
	struct stixel_scores *next;
	struct sx_scores s;
	int ready[2];
	pid_t pid;

	/* in a child, because a process that cuts its own ring must not touch it any more */
	assert_int_equal(pipe(ready), 0);
	CHILD(pid, {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		struct stixel_scores *w = writer();

		give(w, at(0));
		give(w, at(100));
		if (write(ready[1], "", 1) == 1)
			pause();
	});
	assert_int_equal(read(ready[0], to, 1), 1);
	assert_int_equal(take(f, at(100)), 100);
	/*
	 * cut between look and take, in the middle of the slots: a reader with a mapping would die of SIGBUS
	 * here
	 */
	assert_int_equal(truncate(scores_path, STIXEL_RING_SLOTS_OFFSET + 100), 0);
	assert_int_equal(sx_feed_take(f, at(100), false, to, &s), SX_FEED_NONE);
	none(f, at(100));
	assert_int_equal(truncate(scores_path, 1025), 0);
	refused(f, at(100), "cut short");
	assert_int_equal(truncate(scores_path, 0), 0);
	refused(f, at(100), "no ring of scores");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	/* the next writer is read as if nothing had happened */
	unlink(scores_path);
	look(f);
	assert_int_equal(sx_feed_state(f, sx_now_ns()), SX_FEED_ABSENT);
	next = writer();
	give(next, at(200));
	assert_int_equal(take(f, at(200)), 200);
	stixel_scores_close(next);
	sx_feed_destroy(f);
}

static void write_live(size_t at, uint64_t value, size_t bytes)
{
	const int fd = open(scores_path, O_WRONLY);

	assert_int_equal(pwrite(fd, &value, bytes, (off_t)(STIXEL_RING_LIVE_OFFSET + at)), bytes);
	close(fd);
}

static void a_ring_that_runs_backwards(void **state)
{
	struct stixel_scores *w = writer();
	struct sx_feed *f = feed();

	give(w, at(0));
	give(w, at(100));
	assert_int_equal(take(f, at(100)), 100);
	write_live(offsetof(struct stixel_ring_live, head), 1, sizeof(uint64_t));
	refused(f, at(100), "runs backwards");
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

/* Head may jump to any number: the difference counts as lost, and no counter decreases. */
static void a_ring_with_any_number(void **state)
{
	static const uint64_t heads[] = {UINT64_MAX / 2, UINT64_MAX, 1, UINT64_MAX - 2, 1, UINT64_MAX};
	struct stixel_scores *w = writer();
	struct sx_feed *f = feed();
	struct sx_feed_counters before = {0}, now;
	int64_t at_ns = sx_now_ns();

	give(w, at(0));
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		write_live(offsetof(struct stixel_ring_live, head), heads[i], sizeof(heads[i]));
		/* a ring whose head goes backwards is left and opened again */
		sx_feed_look(f, at_ns += SX_NS_PER_S);
		sx_feed_counters(f, &now);
		assert_true(now.lost >= before.lost && now.lost <= INT64_MAX);
		before = now;
	}
	assert_int_equal(now.lost, INT64_MAX);
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

/* The feed leaves a ring whose writer reports a successor, even if there is none. */
static void a_ring_that_is_replaced_by_none(void **state)
{
	struct stixel_scores *w = writer();
	struct sx_feed *f = feed();

	give(w, at(0));
	assert_int_equal(take(f, at(0)), 0);
	unlink(scores_path);
	look(f);
	assert_int_equal(take(f, at(0)), 0);
	stixel_scores_close(w);
	w = writer();
	look(f); /* looks at the new ring */
	write_live(offsetof(struct stixel_ring_live, state), STIXEL_STATE_REPLACED, sizeof(uint32_t));
	unlink(scores_path);
	look(f);
	look(f);
	assert_int_equal(sx_feed_state(f, sx_now_ns()), SX_FEED_ABSENT);
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

static void a_ring_of_too_many_slots(void **state)
{
	struct sx_ring_params p = {.prefix = SX_SCORES_PREFIX,
				   .magic = STIXEL_SCORES_RING_MAGIC,
				   .instance = "a",
				   .shm_dir = scores_dir,
				   .epoch = 1,
				   .frame_bytes = 4096,
				   .slots = 2 * STIXEL_SCORES_SLOTS_MAX,
				   .group = (gid_t)-1};
	struct sx_ring *ring = NULL;
	struct sx_feed *f = feed();

	assert_int_equal(sx_ring_create(&ring, &p, NULL), 0);
	refused(f, at(0), "no ring of scores");
	sx_ring_destroy(ring);
	sx_feed_destroy(f);
}

/*
 * Of two equally near scores the newer one counts, in whatever slot it is. The feed does not wait for a
 * writer whose scores do not fit.
 */
static void which_of_two(void **state)
{
	struct stixel_scores_format other = format();
	struct stixel_scores *w = writer();
	struct sx_feed *f = feed();

	give(w, at(1000));
	give(w, at(0));
	give(w, at(2000));
	give(w, at(0)); /* the fourth set is in the first slot, before the second set */
	assert_int_equal(take(f, at(0)), 0);
	stixel_scores_close(w);
	sx_feed_destroy(f);

	other.classes++;
	w = writer_of(other);
	f = feed();
	give(w, at(0));
	refused(f, at(0), "expected are");
	assert_false(sx_feed_expects(f, at(0), sx_now_ns()));
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

static void parameters_of_a_feed(void **state)
{
	struct sx_feed_params p = params();
	struct sx_feed *f = NULL;
	char far[600];

	memset(far, 'x', sizeof(far) - 1);
	far[sizeof(far) - 1] = 0;
	p.shm_dir = far;
	assert_int_equal(sx_feed_create(&f, &p), -ENAMETOOLONG);
	p.shm_dir = NULL;
	p.name = "a-name-that-nobody-has";
	f = feed_of(p);
	sx_feed_look(f, sx_now_ns());
	sx_feed_look(f, sx_now_ns()); /* too soon for another look */
	assert_non_null(strstr(sx_feed_why(f), "/dev/shm/" SX_SCORES_PREFIX "a-name-that-nobody-has"));
	sx_feed_destroy(f);
	sx_feed_destroy(NULL);
	p.name = "";
	assert_int_equal(sx_feed_create(&f, &p), -EINVAL);
	p.name = "a";
	p.image_width = 0;
	assert_int_equal(sx_feed_create(&f, &p), -EINVAL);
}

static void what_is_no_ring(void **state)
{
	struct stixel_scores *w;
	struct sx_feed *f = feed();
	char other[160];
	int fd;

	none(f, at(0));
	assert_int_equal(sx_feed_state(f, sx_now_ns()), SX_FEED_ABSENT);
	assert_non_null(strstr(sx_feed_why(f), "no process writes scores: there is no "));
	assert_int_equal(mkfifo(scores_path, 0600), 0);
	refused(f, at(0), "not a regular file");
	unlink(scores_path);
	assert_int_equal(symlink("/dev/zero", scores_path), 0);
	refused(f, at(0), "cannot open");
	unlink(scores_path);
	assert_int_equal(mkdir(scores_path, 0700), 0);
	refused(f, at(0), "not a regular file");
	rmdir(scores_path);
	fd = open(scores_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	refused(f, at(0), "no ring of scores");
	assert_int_equal(write(fd, "STIXSCOR", 8), 8);
	refused(f, at(0), "no ring of scores");
	close(fd);
	unlink(scores_path);
	/* a ring of frames under this name */
	{
		struct sx_ring_params p = help_params(scores_dir, 5);
		struct sx_ring *ring;

		assert_int_equal(sx_ring_create(&ring, &p, NULL), 0);
		snprintf(other, sizeof(other), "%s/stixeld.a", scores_dir);
		assert_int_equal(rename(other, scores_path), 0);
		refused(f, at(0), "no ring of scores");
		sx_ring_destroy(ring);
	}
	unlink(scores_path);
	/* a ring that all users may write to */
	w = writer();
	give(w, at(0));
	assert_int_equal(chmod(scores_path, 0646), 0);
	refused(f, at(0), "only they may write");
	assert_int_equal(chmod(scores_path, 0640), 0);
	assert_int_equal(take(f, at(0)), 0);
	stixel_scores_close(w);
	sx_feed_destroy(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scores_setup, scores_teardown)
	const struct CMUnitTest tests[] = {
		TEST(other_sizes_are_refused),	 TEST(impossible_times_are_refused),
		TEST(every_field_of_the_scores), TEST(every_word_of_ring_and_slot),
		TEST(a_ring_cut_short),		 TEST(what_is_no_ring),
		TEST(readers_are_no_writers),	 TEST(a_ring_that_runs_backwards),
		TEST(a_ring_with_any_number),	 TEST(a_ring_that_is_replaced_by_none),
		TEST(a_ring_of_too_many_slots),	 TEST(which_of_two),
		TEST(parameters_of_a_feed),	 TEST(what_may_not_be_opened),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
