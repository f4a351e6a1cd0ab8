/*
 * Tests the name of a ring: which publisher holds it, which may take it, and a process of the same user that
 * writes into the map.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/why.h"
#include "tests/emulated.h"
#include "tests/ipc/ring_case.h"

static void publish_for_ever(uint64_t epoch, int pause_us)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 8, epoch);

	if (!ring)
		_exit(1);
	for (uint64_t n = 1;; n++) {
		help_publish(ring, &small, epoch, n);
		usleep((useconds_t)pause_us);
	}
}

/* Two daemons of one user that do not share a lock: the second must find the first. */
static void a_live_publisher_keeps_the_name_from_who_asks_for_it_alone(void **state)
{
	struct sx_ring_params p = help_params(dir, 9);
	struct sx_ring *mine = NULL;
	char pid_text[32];
	struct sx_why why = {""};
	pid_t pid;

	if (EMULATED("its /proc/PID/stat has another start time than that of the kernel"))
		return;
	CHILD(pid, publish_for_ever(1, 1000));
	while (access(path, F_OK) < 0)
		usleep(1000);
	p.exclusive = true;
	assert_int_equal(sx_ring_create(&mine, &p, &why), -EADDRINUSE);
	snprintf(pid_text, sizeof(pid_text), "process %d,", (int)pid);
	assert_non_null(strstr(why.text, pid_text));
	kill(pid, SIGKILL); /* the process is a zombie, or about to be one */
	assert_int_equal(sx_ring_create(&mine, &p, &why), 0);
	waitpid(pid, NULL, 0);
	sx_ring_destroy(mine);
}

static void a_ring_knows_where_its_name_leads(void **state)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1), *other;
	char pid_text[32];
	struct sx_why why = {""};

	assert_int_equal(sx_ring_look(ring, &why), SX_RING_NAMED);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(sx_ring_look(ring, &why), SX_RING_LOST);
	assert_non_null(strstr(why.text, path));
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(sx_ring_look(ring, &why), SX_RING_TAKEN);
	assert_non_null(strstr(why.text, "something else"));
	other = help_ring(dir, "a", &small, 4, 2);
	assert_int_equal(sx_ring_look(ring, &why), SX_RING_TAKEN);
	snprintf(pid_text, sizeof(pid_text), "process %d", (int)getpid());
	assert_non_null(strstr(why.text, pid_text));
	sx_ring_unname(ring); /* the name belongs to another ring */
	sx_ring_destroy(ring);
	assert_int_equal(sx_ring_look(other, &why), SX_RING_NAMED);
	sx_ring_destroy(other);
	assert_int_equal(help_dir_count(dir), 0);
}

/* Containers that share /dev/shm cannot see each other's processes, so only the heartbeat shows life. */
static void another_pid_namespace_keeps_the_name_while_it_beats(void **state)
{
	const off_t live_at = STIXEL_RING_LIVE_OFFSET;
	struct sx_ring_params p = help_params(dir, 9);
	struct sx_ring *mine = NULL;
	struct sx_why why = {""};
	uint64_t elsewhere = 4711;
	int64_t beat_ns;
	pid_t pid;
	int fd;

	CHILD(pid, publish_for_ever(1, 1000));
	while (access(path, F_OK) < 0)
		usleep(1000);
	fd = open(path, O_RDWR);
	assert_true(pwrite(fd, &elsewhere, 8, offsetof(struct stixel_ring_header, pid_namespace)) == 8);
	p.exclusive = true;
	assert_int_equal(sx_ring_create(&mine, &p, &why), -EADDRINUSE);
	assert_non_null(strstr(why.text, "of another pid namespace, which is running"));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* the new publisher waits until this last heartbeat is too old */
	beat_ns = sx_now_ns() - 2900 * INT64_C(1000000);
	assert_true(pwrite(fd, &beat_ns, 8,
			   live_at + (off_t)offsetof(struct stixel_ring_live, heartbeat_ns)) == 8);
	close(fd);
	assert_int_equal(sx_ring_create(&mine, &p, &why), 0);
	sx_ring_destroy(mine);
}

/* An empty folder under the ring's name is replaced. A folder with content is refused by name. */
static void a_folder_at_the_name(void **state)
{
	struct sx_ring_params p = help_params(dir, 9);
	struct sx_ring *ring = NULL;
	char inside[160];
	struct sx_why why = {""};

	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(sx_ring_create(&ring, &p, &why), 0);
	sx_ring_destroy(ring);
	assert_int_equal(help_dir_count(dir), 0);
	snprintf(inside, sizeof(inside), "%s/x", path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(mkdir(inside, 0700), 0);
	assert_int_equal(sx_ring_create(&ring, &p, &why), -EISDIR);
	assert_non_null(strstr(why.text, path));
	assert_int_equal(help_dir_count(dir), 1); /* no unfinished object is left either */
	assert_int_equal(rmdir(inside), 0);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(help_dir_count(dir), 0);
}

/*
 * A process of the same user writes into the map between begin and commit. The publisher must rely on its own
 * values.
 */
static void the_publisher_reads_nothing_of_the_map(void **state)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1);
	const size_t bytes = sx_ring_bytes(ring);
	struct stixel_reader *r;
	const struct stixel_frame *frame;
	struct stixel_ring_header *h;
	struct stixel_ring_slot *slot;
	uint64_t n;
	uint8_t *map;
	int fd = open(path, O_RDWR);

	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	close(fd);
	h = (struct stixel_ring_header *)map;
	help_frame(sx_ring_begin(ring, &n), &small, 1, 1);
	assert_int_equal(n, 1);
	slot = (struct stixel_ring_slot *)(map + h->slots_offset + h->slot_stride);
	slot->sequence = 4711;
	sx_ring_commit(ring, ((struct stixel_frame_header *)(slot + 1))->frame_bytes);
	munmap(map, bytes);
	assert_int_equal(stixel_open_path(&r, path, 0), 0);
	assert_int_equal(stixel_latest(r, &frame), 1);
	stixel_close(r);
	sx_ring_destroy(ring);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_live_publisher_keeps_the_name_from_who_asks_for_it_alone),
		T(another_pid_namespace_keeps_the_name_while_it_beats),
		T(a_ring_knows_where_its_name_leads),
		T(a_folder_at_the_name),
		T(the_publisher_reads_nothing_of_the_map),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
