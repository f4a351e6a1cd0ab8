/*
 * Tests error cases of publishers, feeds and their names: rings left by other processes, parameters out of
 * range, clients that leave early, groups, locks, sockets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "ipc/feed/feed.h"
#include "ipc/feed/scores.h"
#include "ipc/feed/trust.h"
#include "ipc/instance.h"
#include "ipc/listener.h"
#include "ipc/process.h"
#include "ipc/writers.h"
#include "tests/ipc/help.h"

#define EPOCH 77
#define NOBODY 65534
#define STRANGER 4711

static const struct help_shape small = {.columns = 8};
static char dir[64], ring_path[100], socket_path[100];
static struct sx_why why;

/*
 * Replaces libc's getgrnam_r(). The group of writers is the one that a test sets; -1: the group does not
 * exist.
 */
static gid_t writers_group;
static int group_error;

int getgrnam_r(const char *name, struct group *entry, char *text, size_t bytes, struct group **found)
{
	*found = NULL;
	if (group_error || writers_group == (gid_t)-1)
		return group_error;
	*entry = (struct group){.gr_gid = writers_group};
	*found = entry;
	return 0;
}

static bool no_memory;
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	return no_memory ? NULL : __real_malloc(bytes);
}

/* Replaces libc's getpwuid_r(): no user has a name. */
static int user_error;

int getpwuid_r(uid_t user, struct passwd *entry, char *text, size_t bytes, struct passwd **found)
{
	*found = NULL;
	return user_error;
}

static int setup(void **state)
{
	writers_group = (gid_t)-1;
	group_error = 0;
	help_dir_make(dir, sizeof(dir));
	snprintf(ring_path, sizeof(ring_path), "%s/stixeld.a", dir);
	snprintf(socket_path, sizeof(socket_path), "%s/s", dir);
	return 0;
}

static int teardown(void **state)
{
	unsetenv("RUNTIME_DIRECTORY");
	help_dir_remove(dir);
	return 0;
}

/*
 * Runs a function as an unprivileged user. Returns its exit status, or 0 if the test is not root and cannot
 * change the user.
 */
static int as_nobody_in(size_t count, int (*what)(void))
{
	pid_t pid;
	int status;

	if (geteuid() != 0)
		return 0;
	CHILD(pid, {
		const gid_t groups[] = {NOBODY, 77, 88};

		if (setgroups(count, groups) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
			_exit(99);
		_exit(what());
	});
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static int as_nobody(int (*what)(void))
{
	return as_nobody_in(3, what);
}

/* ---- rings ---- */

static void ring_parameters(void **state)
{
	struct sx_ring_params p = help_params(dir, EPOCH);
	char far[700];
	struct sx_ring *r = NULL;
	uint64_t words[200] = {0};

	memset(far, 'x', sizeof(far) - 1);
	far[sizeof(far) - 1] = 0;
	p.stream_path = far;
	assert_int_equal(sx_ring_create(&r, &p, &why), -ENAMETOOLONG);
	p.stream_path = NULL;
	p.shm_dir = far;
	assert_int_equal(sx_ring_create(&r, &p, &why), -ENAMETOOLONG);
	far[495] = 0; /* the name fits, but the longer name used during creation does not */
	assert_int_equal(sx_ring_create(&r, &p, NULL), -ENAMETOOLONG);
	p.shm_dir = dir;
	assert_int_equal(sx_ring_create(&r, &p, NULL), 0);
	assert_int_equal(sx_ring_publish(r, words, 8), -EINVAL);
	assert_int_equal(sx_ring_publish(r, words, STIXEL_HEADER_BYTES_LEAST + 1), -EINVAL);
	sx_ring_set_state(r, STIXEL_STATE_RUNNING);
	sx_ring_set_state(r, STIXEL_STATE_RUNNING);
	sx_ring_destroy(r);
}

/* Writes a forged ring with this header and live part, cut to `bytes`, under the ring's name. */
static void forge(const struct stixel_ring_header *h, const struct stixel_ring_live *live, size_t bytes)
{
	const int fd = open(ring_path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	assert_int_equal(pwrite(fd, h, sizeof(*h), 0), sizeof(*h));
	assert_int_equal(pwrite(fd, live, sizeof(*live), STIXEL_RING_LIVE_OFFSET), sizeof(*live));
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	close(fd);
}

/*
 * Tries to create a ring beside the forged one, with a request for exclusive use of the name. Returns the
 * error.
 */
static int make_beside(const struct stixel_ring_header *h, const struct stixel_ring_live *live, size_t bytes)
{
	struct sx_ring_params p = help_params(dir, EPOCH);
	struct sx_ring *r = NULL;
	int e;

	forge(h, live, bytes);
	p.exclusive = true;
	e = sx_ring_create(&r, &p, &why);
	sx_ring_destroy(r);
	unlink(ring_path);
	return e;
}

/* Changes one word after the other such that the forged publisher no longer counts as alive. */
static void who_keeps_a_name(void **state)
{
	struct stixel_ring_header h = {.magic = STIXEL_RING_MAGIC,
				       .abi_major = STIXEL_ABI_MAJOR,
				       .live_offset = STIXEL_RING_LIVE_OFFSET,
				       .pid_namespace = sx_process_namespace(),
				       .heartbeat_period_ms = 60000},
				  good;
	struct stixel_ring_live live = {.state = STIXEL_STATE_RUNNING, .heartbeat_ns = sx_now_ns()};
	const size_t whole = STIXEL_RING_SLOTS_OFFSET;
	pid_t pid;
	int status;

	CHILD(pid, pause());
	h.pid = (uint32_t)pid;
	h.pid_start_ticks = sx_process_start(pid);
	good = h;
	assert_int_equal(make_beside(&h, &live, whole), -EADDRINUSE);
	assert_non_null(strstr(why.text, "which is running"));
	h.pid = 0;
	assert_int_equal(make_beside(&h, &live, whole), 0);
	h.pid = UINT32_MAX;
	assert_int_equal(make_beside(&h, &live, whole), 0);
	h = good;
	h.pid_namespace++; /* processes of another namespace are not visible, so the heartbeat decides */
	assert_int_equal(make_beside(&h, &live, whole), -EADDRINUSE);
	assert_non_null(strstr(why.text, "of another pid namespace"));
	h.pid_namespace = 0; /* a publisher that could not determine its namespace */
	assert_int_equal(make_beside(&h, &live, whole), 0);
	h = good;
	h.pid_start_ticks = 0;
	assert_int_equal(make_beside(&h, &live, whole), 0);
	h.pid_start_ticks = good.pid_start_ticks + 1;
	assert_int_equal(make_beside(&h, &live, whole), 0);
	h = good;
	h.magic++;
	assert_int_equal(make_beside(&h, &live, whole), 0);
	h = good;
	h.abi_major++;
	assert_int_equal(make_beside(&h, &live, whole), 0);
	h = good;
	h.live_offset += 64;
	assert_int_equal(make_beside(&h, &live, whole), 0);
	assert_int_equal(make_beside(&good, &live, STIXEL_RING_LIVE_OFFSET + 1), 0);
	live.state = STIXEL_STATE_REPLACED;
	assert_int_equal(make_beside(&good, &live, whole), 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static void what_belongs_to_strangers(void **state)
{
	struct sx_ring_params p = help_params(dir, EPOCH);
	struct sx_ring *r = NULL;
	char orphan[128];

	if (geteuid() != 0)
		skip();
	snprintf(orphan, sizeof(orphan), "%s/.stixeld.a.0123456789abcdef", dir);
	close(open(orphan, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(chown(orphan, STRANGER, (gid_t)-1), 0);
	assert_int_equal(sx_ring_create(&r, &p, &why), 0);
	assert_int_equal(access(orphan, F_OK), 0); /* a file of another user is not swept */
	unlink(ring_path);
	close(open(ring_path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(chown(ring_path, STRANGER, (gid_t)-1), 0);
	assert_int_equal(sx_ring_look(r, &why), SX_RING_TAKEN);
	assert_non_null(strstr(why.text, "of user unknown (uid 4711)"));
	user_error = EIO;
	assert_int_equal(sx_ring_look(r, &why), SX_RING_TAKEN);
	assert_non_null(strstr(why.text, "of user unknown (uid 4711)"));
	sx_ring_destroy(r);
	assert_int_equal(access(ring_path, F_OK), 0);
}

static const struct stixel_ring_live *live_of(void)
{
	const int fd = open(ring_path, O_RDONLY);
	uint8_t *map = mmap(NULL, STIXEL_RING_SLOTS_OFFSET, PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	return (const struct stixel_ring_live *)(map + STIXEL_RING_LIVE_OFFSET);
}

static atomic_int sleepers;

static void *sleep_on_bell(void *live)
{
	const struct stixel_ring_live *l = live;

	atomic_fetch_add(&sleepers, 1);
	/* a thread that comes too late does not sleep */
	syscall(SYS_futex, &l->bell, FUTEX_WAIT, 0, NULL, NULL, 0);
	return NULL;
}

/*
 * As long as the sleepers are few and quick to wake, the publisher wakes them itself. If they are many, it
 * passes the wake-up on through the eventfd.
 */
static void many_readers_at_the_bell(void **state)
{
	const int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	struct sx_ring_params p = help_params(dir, EPOCH);
	const struct stixel_ring_live *live;
	pthread_t sleeper[12];
	struct sx_ring *r = NULL;
	uint64_t wakes = 0;

	assert_int_equal(sx_ring_create(&r, &p, NULL), 0);
	live = live_of();
	sx_ring_set_waker(r, bell);
	for (int i = 0; i < 3 * SX_RING_CALM; i++)
		assert_false(sx_ring_wake_few(r));
	for (int i = 0; i < 12; i++)
		assert_int_equal(pthread_create(&sleeper[i], NULL, sleep_on_bell, (void *)(uintptr_t)live),
				 0);
	while (atomic_load(&sleepers) < 12)
		usleep(1000);
	usleep(50000); /* the threads are asleep now */
	help_publish(r, &small, EPOCH, 1);
	sx_ring_pass_wake(r);
	assert_int_equal(read(bell, &wakes, sizeof(wakes)), sizeof(wakes));
	assert_int_equal(wakes, 1);
	sx_ring_wake(r, INT_MAX);
	sx_ring_destroy(r);
	for (int i = 0; i < 12; i++)
		pthread_join(sleeper[i], NULL);
	munmap((void *)((uintptr_t)live - STIXEL_RING_LIVE_OFFSET), STIXEL_RING_SLOTS_OFFSET);
	close(bell);
}

/* ---- the frame socket ---- */

static int dial(unsigned want)
{
	const struct stixel_hello hello = {STIXEL_HELLO_MAGIC, want};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", socket_path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	if (want)
		assert_int_equal(send(fd, &hello, sizeof(hello), 0), sizeof(hello));
	return fd;
}

static struct sx_stream *stream_of(const struct sx_stream_params *p)
{
	struct sx_stream *s = NULL;

	assert_int_equal(sx_stream_create(&s, p, &why), 0);
	return s;
}

/* A publisher without the right to exceed the system's buffer limit has smaller packets. */
static int make_a_stream_of_large_frames(void)
{
	struct sx_stream_params p = help_stream_params(socket_path, &small, EPOCH);
	struct sx_stream *s = NULL;
	size_t most;

	p.frame_bytes = 1u << 20;
	if (sx_stream_create(&s, &p, &why) < 0)
		return 1;
	most = sx_stream_packet_bytes(s);
	sx_stream_destroy(s);
	return most >= 4096 && most <= p.frame_bytes && most % 8 == 0 ? 0 : 2;
}

static void stream_parameters(void **state)
{
	struct sx_stream_params p = help_stream_params(socket_path, &small, EPOCH);
	const struct help_shape wide = {.columns = 400};
	struct sx_stream_counters c;
	struct sx_stream *s;
	struct stat st;

	p.clients = SX_STREAM_CLIENTS_MAX + 1;
	p.heartbeat_period_ms = 5;
	p.frame_bytes = STIXEL_FRAME_BYTES_MAX;
	p.mode = 0600;
	s = stream_of(&p);
	assert_true(sx_stream_packet_bytes(s) <= 1u << 20);
	assert_int_equal(stat(socket_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	sx_stream_destroy(s);
	sx_stream_destroy(NULL);
	chmod(dir, 0777);
	assert_int_equal(as_nobody(make_a_stream_of_large_frames), 0);
	p.frame_bytes = 0;
	s = stream_of(&p);
	help_stream_publish(s, &wide, EPOCH, 1);
	help_pump(s);
	sx_stream_counters(s, &c);
	assert_int_equal(c.shrunk, 1);
	sx_stream_set_state(s, STIXEL_STATE_RUNNING);
	sx_stream_set_state(s, STIXEL_STATE_RUNNING);
	sx_stream_destroy(s);
}

/* Publishes until each of the clients, which do not read, has a frame pending. */
static uint64_t fill(struct sx_stream *s, uint64_t number)
{
	for (int i = 0; i < 200; i++) {
		help_stream_publish(s, &small, EPOCH, ++number);
		sx_stream_dispatch(s);
	}
	return number;
}

static void clients_that_do_not_read(void **state)
{
	struct sx_stream_params p = help_stream_params(socket_path, &small, EPOCH);
	struct sx_stream_client who[8];
	struct sx_stream_counters c;
	struct sx_stream *s;
	uint64_t number = 0;
	uint8_t frame[4096];
	int fd[5];

	p.clients = 3;
	p.stall_ms = 100;
	s = stream_of(&p);
	for (int i = 0; i < 3; i++) {
		fd[i] = dial(STIXEL_WANT_FRAMES | STIXEL_WANT_NOTICES);
		help_pump(s);
		number = fill(s, number);
	}
	assert_int_equal(sx_stream_clients(s, who, 1), 3); /* the caller's array has room for one client */
	fd[3] = dial(STIXEL_WANT_FRAMES);
	help_pump(s);
	sx_stream_counters(s, &c);
	assert_int_equal(c.refused, 1); /* no client has been idle for long enough */
	close(fd[3]);
	sx_stream_set_state(s, STIXEL_STATE_DEGRADED); /* a notice is pending: frames are not sent */
	sx_stream_dispatch(s);
	help_stream_publish(s, &small, EPOCH, 1);
	sx_stream_dispatch(s);
	sx_stream_counters(s, &c);
	assert_int_equal(c.clients, 3);
	usleep(150000);
	fd[3] = dial(STIXEL_WANT_FRAMES);
	help_pump(s);
	sx_stream_counters(s, &c);
	assert_int_equal(c.accepted, 4);
	assert_int_equal(c.clients, 3);
	/* the newcomer got the first place; the second client has been idle for longer */
	fill(s, number);
	usleep(150000);
	fd[4] = dial(STIXEL_WANT_FRAMES);
	help_pump(s);
	assert_int_equal(recv(fd[3], frame, sizeof(frame), MSG_PEEK) > 0, 1);
	sx_stream_counters(s, &c);
	assert_int_equal(c.accepted, 5);
	for (int i = 0; i < 5; i++)
		close(fd[i]);
	sx_stream_destroy(s);
}

static void the_same_frame_again(void **state)
{
	struct sx_stream_params p = help_stream_params(socket_path, &small, EPOCH);
	struct sx_stream *s = stream_of(&p);
	const int fd = dial(STIXEL_WANT_FRAMES);
	struct sx_stream_counters c;

	help_pump(s);
	for (int i = 0; i < 2; i++) {
		help_stream_publish(s, &small, EPOCH, 1);
		help_pump(s);
	}
	sx_stream_counters(s, &c);
	assert_int_equal(c.sent, 1);
	/* the client leaves after the frame is published and before it is sent */
	help_stream_publish(s, &small, EPOCH, 2);
	close(fd);
	sx_stream_dispatch(s);
	sx_stream_counters(s, &c);
	assert_int_equal(c.clients, 0);
	sx_stream_destroy(s);
}

static void more_connections_than_places(void **state)
{
	struct sx_stream_params p = help_stream_params(socket_path, &small, EPOCH);
	struct sx_stream *s = stream_of(&p);
	struct sx_stream_counters c;
	int fd[SX_STREAM_CLIENTS_MAX + 6];

	for (int i = 0; i < SX_STREAM_CLIENTS_MAX + 6; i++)
		fd[i] = dial(0);
	sx_stream_dispatch(s); /* one dispatch does not accept all of them */
	sx_stream_counters(s, &c);
	assert_int_equal(c.accepted + c.refused, SX_STREAM_CLIENTS_MAX);
	help_pump(s);
	sx_stream_counters(s, &c);
	assert_int_equal(c.accepted + c.refused, SX_STREAM_CLIENTS_MAX + 6);
	for (int i = 0; i < SX_STREAM_CLIENTS_MAX + 6; i++)
		close(fd[i]);
	sx_stream_destroy(s);
}

static int meet_a_dead_socket(void)
{
	return sx_listener_make(socket_path, 0600, (gid_t)-1, &why) == -EACCES &&
			       strstr(why.text, "cannot remove the dead socket")
		       ? 0
		       : 1;
}

static void listeners(void **state)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(sx_listener_make(NULL, 0600, (gid_t)-1, &why), -ENAMETOOLONG);
	assert_non_null(strstr(why.text, "none"));
	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(sx_listener_check(fd, &why), -EINVAL);
	close(fd);
	close(sx_listener_make(socket_path, 0666, (gid_t)-1, &why));
	chmod(dir, 0755);
	assert_int_equal(as_nobody(meet_a_dead_socket), 0);
}

/* ---- instances ---- */

static int find_folders(void)
{
	char folder[256], want[256];

	setenv("XDG_RUNTIME_DIR", dir, 1);
	setenv("RUNTIME_DIRECTORY", "relative", 1);
	snprintf(want, sizeof(want), "%s/stixeld/cam", dir);
	if (sx_runtime_dir("cam", folder, sizeof(folder), &why) != 0 || strcmp(folder, want) != 0)
		return 1;
	rmdir(folder);
	*strrchr(want, '/') = 0;
	rmdir(want);
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("RUNTIME_DIRECTORY");
	if (sx_runtime_dir("cam", folder, sizeof(folder), &why) >= 0)
		return 2;
	setenv("RUNTIME_DIRECTORY", "/x", 1); /* shorter than the instance name */
	return sx_runtime_dir("camera", folder, sizeof(folder), &why) < 0 ? 0 : 3;
}

static void folders(void **state)
{
	char text[128], folder[256];

	chmod(dir, 0777);
	assert_int_equal(as_nobody(find_folders), 0);
	snprintf(text, sizeof(text), "%s/rig", dir); /* a folder with another name of the same length */
	setenv("RUNTIME_DIRECTORY", text, 1);
	assert_int_equal(sx_runtime_dir("cam", folder, sizeof(folder), &why), 0);
	assert_int_equal(strcmp(folder + strlen(folder) - 8, "/rig/cam"), 0);
	rmdir(folder);
	rmdir(text);
	close(open(text, O_CREAT | O_WRONLY, 0600));
	snprintf(text, sizeof(text), "%s", dir);
	setenv("RUNTIME_DIRECTORY", text, 1);
	assert_int_equal(sx_runtime_dir("rig", folder, sizeof(folder), &why), -ENOTDIR);
}

static void locks(void **state)
{
	static const char *const owners[] = {"-5\n", "0\n", "99999999999\n"};
	static char far[5000];
	char path[128];
	pid_t owner = 5;
	int fd;

	memset(far, 'x', sizeof(far) - 1);
	assert_int_equal(sx_instance_lock(far, NULL, &why), -ENAMETOOLONG);
	snprintf(path, sizeof(path), "%s/lock", dir);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, owners[i], strlen(owners[i]), 0), strlen(owners[i]));
		assert_int_equal(sx_instance_lock(dir, &owner, &why), -EADDRINUSE);
		assert_int_equal(owner, 0);
	}
	close(fd);
}

/* ---- feeds ---- */

static int make_a_ring_of_scores(void)
{
	const struct stixel_scores_format f = {
		.classes = 1, .image_width = 8, .image_height = 8, .scale = 4, .folder = dir};
	struct stixel_scores *w = NULL;
	struct stat st;
	char path[128];
	int e = stixel_scores_create(&w, "a", &f, sizeof(f));

	snprintf(path, sizeof(path), "%s/" SX_SCORES_PREFIX "a", dir);
	if (e == 0 && stat(path, &st) == 0)
		e = (int)st.st_gid;
	stixel_scores_close(w);
	return e < 0 ? 97 : e == NOBODY ? 1 : e; /* groups in these tests have small numbers */
}

static int trust_ourselves(void)
{
	const struct stat st = {.st_uid = geteuid(), .st_mode = S_IFREG | 0600};
	const struct stat other = {.st_uid = STRANGER, .st_gid = 0, .st_mode = S_IFREG | 0600};
	const struct stat shared = {.st_uid = geteuid(), .st_gid = 77, .st_mode = S_IFREG | 0660};
	const struct stat of_root = {.st_uid = geteuid(), .st_gid = 0, .st_mode = S_IFREG | 0660};

	return sx_feed_trust(&st, 0, "x", NULL) == 0 && sx_feed_trust(&other, 0, "x", NULL) == -EPERM &&
			       sx_feed_trust(&shared, 78, "x", NULL) == -EPERM &&
			       sx_feed_trust(&shared, 0, "x", NULL) == -EPERM &&
			       sx_feed_trust(&shared, 77, "x", NULL) == 0 &&
			       sx_feed_trust(&of_root, 77, "x", NULL) == 0
		       ? 0
		       : 1;
}

/* Run as an unprivileged user: first without memory for the list of the user's groups, then with it. */
static int groups_that_are_not_known(void)
{
	int r;

	no_memory = true;
	r = sx_writers_member(88);
	no_memory = false;
	return r == -ENOMEM && sx_writers_member(88) == 1 && sx_writers_member(89) == 0 ? 0 : 1;
}

static int no_groups(void)
{
	return getgroups(0, NULL) == 0 && sx_writers_member(88) == 0 ? 0 : 1;
}

static gid_t group_of_writers(void)
{
	gid_t group = 1;

	assert_int_equal(sx_writers_group(&group), 0);
	return group;
}

static void groups_of_writers(void **state)
{
	gid_t group;

	assert_int_equal(trust_ourselves(), 0);
	assert_int_equal(as_nobody(trust_ourselves), 0);
	assert_int_equal(group_of_writers(), 0);
	writers_group = 88;
	assert_int_equal(group_of_writers(), 88);
	group_error = EIO;
	assert_int_equal(group_of_writers(), 0);
	group_error = ERANGE; /* ERANGE whatever room is given */
	assert_int_equal(group_of_writers(), 0);
	group_error = ENOMEM;
	assert_int_equal(sx_writers_group(&group), -ENOMEM);
	group_error = 0;
	if (geteuid() != 0)
		skip();
	assert_int_equal(make_a_ring_of_scores(), 88); /* root may give a file to any group */
	chmod(dir, 0777);
	assert_int_equal(as_nobody(make_a_ring_of_scores), 88); /* a member of the group */
	writers_group = 89;
	/* not a member: the file keeps the user's own group */
	assert_int_equal(as_nobody(make_a_ring_of_scores), 1);
	writers_group = NOBODY;
	/* the user's own group is the writers' group */
	assert_int_equal(as_nobody(make_a_ring_of_scores), 1);
	group_error = EIO;
	assert_int_equal(as_nobody(make_a_ring_of_scores), 1);
	assert_int_equal(as_nobody(groups_that_are_not_known), 0);
	assert_int_equal(as_nobody_in(0, no_groups), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(ring_parameters),
		TEST(who_keeps_a_name),
		TEST(what_belongs_to_strangers),
		TEST(many_readers_at_the_bell),
		TEST(stream_parameters),
		TEST(clients_that_do_not_read),
		TEST(the_same_frame_again),
		TEST(more_connections_than_places),
		TEST(listeners),
		TEST(folders),
		TEST(locks),
		TEST(groups_of_writers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
