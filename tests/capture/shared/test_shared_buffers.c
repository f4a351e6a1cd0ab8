/*
 * Tests the buffers of a writer of pairs: memory that the daemon may map, and what lies in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/capture/image_files.h"
#include "tests/capture/shared/shared_case.h"

enum { NO_DESCRIPTOR, TWO, UNSEALED, FILE_ON_DISK, FILE_IN_TMPFS, ZERO, PIPE, HUGE, PATH_ONLY, KINDS };

static int odd_descriptor(int kind, const char *folder)
{
	char path[64];
	int both[2], fd, memory;

	switch (kind) {
	case UNSEALED:
		return memory_of(BYTES, 0, 0);
	case FILE_ON_DISK:
		write_bytes(in_folder(folder, "buffer"), "", 0);
		fd = open(in_folder(folder, "buffer"), O_RDWR | O_CLOEXEC);
		assert_int_equal(ftruncate(fd, BYTES), 0);
		return fd;
	case FILE_IN_TMPFS:
		fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		assert_int_equal(ftruncate(fd, BYTES), 0);
		return fd;
	case ZERO:
		return open("/dev/zero", O_RDWR | O_CLOEXEC);
	case PIPE:
		assert_int_equal(pipe2(both, O_CLOEXEC), 0);
		close(both[1]);
		return both[0];
	case HUGE:
		return memfd_create("pair", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	case PATH_ONLY:
		memory = memory_of(BYTES, F_SEAL_SHRINK, 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
		fd = open(path, O_PATH | O_CLOEXEC);
		close(memory);
		return fd;
	default:
		return memory_of(BYTES, F_SEAL_SHRINK, 0);
	}
}

static void descriptors(void **state)
{
	static const char neither[] = "neither a memory file", other[] = "another message than a buffer";
	static const char *const sentence[KINDS] = {
		[NO_DESCRIPTOR] = other,
		[TWO] = other,
		[UNSEALED] = "not sealed with F_SEAL_SHRINK",
		[FILE_ON_DISK] = "a buffer is neither", /* or unsealed, if the folder is a tmpfs */
		[FILE_IN_TMPFS] = "not sealed with F_SEAL_SHRINK",
		[ZERO] = neither,
		[PIPE] = neither,
		[HUGE] = neither,
		[PATH_ONLY] = neither,
	};
	const struct stixel_pairs_hello hello = good_hello();

	for (int kind = 0; kind < KINDS; kind++) {
		int fd = connect_writer(), odd = odd_descriptor(kind, *state);
		const struct stixel_pairs_buffer first = good_buffer(0, BYTES), b = good_buffer(1, BYTES);
		int good = memory_of(BYTES, F_SEAL_SHRINK, 0);

		assert_true(odd >= 0);
		give_message(fd, &hello, sizeof(hello), -1, 0);
		give_buffer(fd, &first, good); /* the daemon has to unmap this buffer */
		give_message(fd, &b, sizeof(b), odd, kind == NO_DESCRIPTOR ? 0 : kind == TWO ? 2 : 1);
		close(good);
		close(odd);
		expect_not_open(-ENODEV, kind == FILE_ON_DISK ? "memory file" : sentence[kind]);
		expect_refused(fd);
		close(fd);
	}
}

static void sizes(void **state)
{
	static const struct {
		uint64_t there, declared;
		const char *sentence;
	} broken[] = {
		{BYTES - 1, BYTES, "should have 16384 bytes and has 16383"},
		{BYTES, 0, "should have 0 bytes"},
		{0, BYTES, "and has 0"},
		{BYTES, UINT64_MAX, "more than 1 GB"},
		{BYTES, UINT64_MAX / 2, "more than 1 GB"},
		{BYTES, (UINT64_C(1) << 30) + 1, "more than 1 GB"},
	};
	const struct stixel_pairs_hello hello = good_hello();

	(void)state;
	for (int i = 0; i < COUNT(broken); i++) {
		int fd = connect_writer(), memory = memory_of(broken[i].there, F_SEAL_SHRINK, 0);
		const struct stixel_pairs_buffer b = good_buffer(0, broken[i].declared);

		give_message(fd, &hello, sizeof(hello), -1, 0);
		give_buffer(fd, &b, memory);
		close(memory);
		expect_not_open(-ENODEV, broken[i].sentence);
		expect_refused(fd);
		close(fd);
	}
}

static void sum_of_sizes(void **state)
{
	const uint64_t large = (UINT64_C(1) << 30) - BYTES;
	const struct stixel_pairs_hello hello = good_hello();
	struct stixel_pairs_buffer b = good_buffer(0, BYTES);
	int fd = connect_writer(), memory = memory_of(BYTES, F_SEAL_SHRINK, 0);

	(void)state;
	give_message(fd, &hello, sizeof(hello), -1, 0);
	give_buffer(fd, &b, memory);
	b = good_buffer(1, large + 1);
	give_buffer(fd, &b, memory);
	close(memory);
	expect_not_open(-ENODEV, "more than 1 GB");
	expect_refused(fd);
	close(fd);
}

static void order_of_buffers(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	int memory = memory_of(BYTES, F_SEAL_SHRINK, 0);

	(void)state;
	for (int how = 0; how < 5; how++) {
		struct stixel_pairs_buffer b = good_buffer(how == 0, BYTES);
		int fd = connect_writer();

		b.magic += how == 1;
		b.kind += how == 2;
		give_message(fd, &hello, sizeof(hello), -1, 0);
		if (how < 3)
			give_buffer(fd, &b, memory);
		else if (how == 3)
			give_pair(fd, 1);
		else
			shutdown(fd, SHUT_WR);
		expect_not_open(-ENODEV, how < 3    ? "another message than its next buffer"
					 : how == 3 ? "another message than a buffer"
						    : "has ended before it sent its buffers");
		expect_refused(fd);
		close(fd);
	}
	close(memory);
}

static void missing_buffers(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	int fd = connect_writer();

	(void)state;
	give_message(fd, &hello, sizeof(hello), -1, 0);
	expect_not_open(-ENODEV, "not sent all its buffers in time");
	expect_refused(fd);
	close(fd);
}

/* A writer may keep its right to write, or give it up: the daemon maps what it gets. */
static void read_only_buffers(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	char path[64];
	int fd, memory = memory_of(BYTES, F_SEAL_SHRINK, 0), read_only;
	struct sx_source *s;

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	read_only = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(read_only >= 0);
	s = open_good(&hello, &fd, read_only, BYTES);
	finish_source(s, fd);
	close(read_only);
	assert_int_equal(fcntl(memory, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_GROW | F_SEAL_SEAL), 0);
	s = open_good(&hello, &fd, memory, BYTES);
	finish_source(s, fd);
	close(memory);
}

static void size_of_the_configuration(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	struct sx_source_params p = shared_params();
	struct sx_source *s = NULL;
	int fd = connect_writer();

	(void)state;
	p.width = 64;
	p.height = 48;
	introduce(fd, &hello, -1, BYTES);
	assert_int_equal(sx_source_open(&s, &p, SLOTS, &why), -ENODEV);
	assert_string_equal(why.text, "the writer has images of 66x34, source.size is 64x48");
	expect_refused(fd);
	close(fd);
	p.socket = NULL;
	assert_int_equal(sx_source_open(&s, &p, SLOTS, &why), -EINVAL);
	assert_non_null(strstr(why.text, "only a daemon takes the pairs of another process"));
}

/* Memory that cannot shrink may lose its content. Then a reader finds zeros. */
static void holes(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	int fd, memory = memory_of(BYTES, F_SEAL_SHRINK, 0);
	struct sx_source *s;
	struct sx_pair pair;

	(void)state;
	assert_int_equal(pwrite(memory, "x", 1, 0), 1);
	s = open_good(&hello, &fd, memory, BYTES);
	give_pair(fd, 1);
	pair = take_pair(s);
	assert_int_equal(*(const uint8_t *)pair.left.data, 'x');
	assert_int_equal(ftruncate(memory, BYTES - 1), -1);
	assert_int_equal(fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BYTES), 0);
	for (size_t i = 0; i < (size_t)PITCH * H; i++)
		assert_int_equal(((const uint8_t *)pair.left.data)[i], 0);
	sx_source_release(s, &pair);
	close(memory);
	finish_source(s, fd);
}

static void blocks(void **state)
{
	struct stixel_pairs_hello hello = good_hello();
	struct sx_source *s;
	struct sx_block block;
	int fd, n = 0;

	(void)state;
	hello.buffers = STIXEL_PAIRS_BUFFERS_MAX;
	s = open_good(&hello, &fd, -1, BYTES - 1);
	while (sx_source_block(s, n, &block)) {
		assert_int_equal(block.bytes, BYTES); /* whole pages */
		n++;
	}
	assert_int_equal(n, STIXEL_PAIRS_BUFFERS_MAX);
	sx_source_refuse(s, "not now");
	sx_why_set(&why, "not now");
	expect_refused(fd);
	finish_source(s, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARED_TEST(descriptors),
		SHARED_TEST(sizes),
		SHARED_TEST(sum_of_sizes),
		SHARED_TEST(order_of_buffers),
		SHARED_TEST(missing_buffers),
		SHARED_TEST(read_only_buffers),
		SHARED_TEST(size_of_the_configuration),
		SHARED_TEST(holes),
		SHARED_TEST(blocks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("shared source: buffers", tests, NULL, NULL);
}
