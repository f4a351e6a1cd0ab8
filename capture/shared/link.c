/*
 * Connection to a writer of pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/shared/link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "capture/v4l2/dmabuf.h"

#ifndef DMA_BUF_MAGIC
#define DMA_BUF_MAGIC 0x444d4142
#endif

#define PATIENCE_NS (SX_NS_PER_S / 2)  /* timeout for hello and buffers */
#define BYTES_MOST (UINT64_C(1) << 30) /* largest sum of the sizes of a writer's buffers, bytes */

static int lose(struct sx_why *why, const char *what)
{
	return sx_why_fail(-ENODEV, why, "%s", what);
}

/* ---- messages ---- */

/* Takes the descriptors that came with a message, and closes all but the first (*fd). Returns their number. */
static int take_descriptors(struct msghdr *m, int *fd)
{
	int n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		const int count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (int i = 0; i < count; i++) {
			int next;

			memcpy(&next, CMSG_DATA(c) + (size_t)i * sizeof(next), sizeof(next));
			if (n++ == 0)
				*fd = next;
			else
				close(next);
		}
	}
	return n;
}

/*
 * Receives a message, with a descriptor (*fd) if fd is not NULL. A newer writer's messages may be longer: their
 * first `bytes` bytes are taken. Returns 1; 0: none is there; -EPIPE: the writer has closed; -EPROTO: another
 * message.
 */
static int receive(const struct sx_shared_link *l, void *to, size_t bytes, int *fd)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(4 * sizeof(int))];
	struct iovec part = {.iov_base = to, .iov_len = bytes};
	struct msghdr m = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	ssize_t n;
	int got = -1, count;

	do
		n = recvmsg(l->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -EPIPE;
	count = take_descriptors(&m, &got);
	if (n == 0 && count == 0)
		return -EPIPE;
	if ((size_t)n < bytes || m.msg_flags & MSG_CTRUNC || count != (fd ? 1 : 0)) {
		if (got >= 0)
			close(got);
		return -EPROTO;
	}
	if (fd)
		*fd = got;
	return 1;
}

/* Waits for a message until the deadline. Returns as receive(), and -ETIMEDOUT. */
static int await(const struct sx_shared_link *l, void *to, size_t bytes, int *fd, int64_t until_ns)
{
	for (;;) {
		struct pollfd p = {.fd = l->fd, .events = POLLIN};
		const int r = receive(l, to, bytes, fd);
		const int64_t left_ns = until_ns - sx_now_ns();

		if (r != 0)
			return r;
		if (left_ns <= 0)
			return -ETIMEDOUT;
		poll(&p, 1, (int)(left_ns / 1000000) + 1);
	}
}

static int answer(const struct sx_shared_link *l, enum stixel_pairs_kind kind, uint64_t number,
		  enum stixel_pairs_fate fate, const char *text)
{
	struct stixel_pairs_answer a = {
		.magic = STIXEL_PAIRS_MAGIC,
		.kind = (uint32_t)kind,
		.number = number,
		.fate = (uint32_t)fate,
		.text_bytes = (uint32_t)strnlen(text, STIXEL_PAIRS_TEXT_BYTES),
	};
	char message[sizeof(a) + STIXEL_PAIRS_TEXT_BYTES];

	memcpy(message, &a, sizeof(a));
	memcpy(message + sizeof(a), text, a.text_bytes);
	return send(l->fd, message, sizeof(a) + a.text_bytes, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void sx_shared_refuse(struct sx_shared_link *l, const char *sentence)
{
	struct stixel_pairs_pair unread;
	int r = 1;

	answer(l, STIXEL_PAIRS_REFUSED, 0, STIXEL_PAIR_TAKEN, sentence);
	/* the end of a connection with unread messages is an error for the writer, not a sentence */
	for (int i = 0; i < 2 * STIXEL_PAIRS_BUFFERS_MAX && (r > 0 || r == -EPROTO); i++)
		r = receive(l, &unread, sizeof(unread), NULL);
	shutdown(l->fd, SHUT_RDWR);
}

/* Ends the connection. The next sx_shared_take() reports why, and the writer gets the sentence. */
__attribute__((format(printf, 2, 3))) static void end(struct sx_shared_link *l, const char *format, ...)
{
	va_list args;

	if (*l->end)
		return;
	va_start(args, format);
	vsnprintf(l->end, sizeof(l->end), format, args);
	va_end(args);
	sx_shared_refuse(l, l->end);
}

void sx_shared_return(struct sx_shared_link *l, uint64_t number, enum stixel_pairs_fate fate)
{
	const int r = answer(l, STIXEL_PAIRS_RETURNED, number, fate, "");

	if (r == -EAGAIN)
		end(l, "the writer %s does not take its pairs back", l->name);
	else if (r < 0)
		end(l, "the writer %s has ended", l->name);
}

/* ---- buffers ---- */

/*
 * Finds out what a descriptor is, and how many bytes it has. Refuses everything that could shrink or fail
 * under a reader: other files, unsealed memory files, huge pages (which may run out).
 */
static int inspect(int fd, bool *dmabuf, uint64_t *bytes, struct sx_why *why)
{
	struct statfs system;
	struct stat st;
	off_t end;
	int seals;

	if (fstatfs(fd, &system) < 0 || fstat(fd, &st) < 0)
		return lose(why, "the descriptor of a buffer cannot be read");
	*dmabuf = system.f_type == DMA_BUF_MAGIC;
	if (*dmabuf) {
		end = lseek(fd, 0, SEEK_END);
		*bytes = end > 0 ? (uint64_t)end : 0;
		return 0;
	}
	seals = fcntl(fd, F_GET_SEALS);
	if (!S_ISREG(st.st_mode) || system.f_type != TMPFS_MAGIC || seals < 0)
		return lose(
			why,
			"a buffer is neither a memory file (memfd_create, without huge pages) nor a dma-buf");
	if (!(seals & F_SEAL_SHRINK))
		return lose(why,
			    "a memory file is not sealed with F_SEAL_SHRINK, so it could be cut while it "
			    "is read");
	*bytes = (uint64_t)st.st_size;
	return 0;
}

static int map_buffer(struct sx_shared_buffer *b, int fd, uint64_t declared, struct sx_why *why)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	bool dmabuf = false;
	uint64_t there = 0;
	int r = inspect(fd, &dmabuf, &there, why);

	if (r < 0)
		return r;
	if (declared == 0 || declared > there)
		return sx_why_fail(-ENODEV, why, "a buffer should have %llu bytes and has %llu",
				   (unsigned long long)declared, (unsigned long long)there);
	b->bytes = (size_t)declared;
	b->block.bytes = (size_t)((declared + page - 1) / page * page);
	/* writable although nothing writes: CUDA cannot register memory that is only readable */
	b->block.memory =
		mmap(NULL, b->block.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (b->block.memory == MAP_FAILED)
		b->block.memory = mmap(NULL, b->block.bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (b->block.memory == MAP_FAILED) {
		b->block = (struct sx_block){0};
		return sx_why_fail(-ENODEV, why, "a buffer cannot be mapped: %s", strerror(errno));
	}
	b->dmabuf_fd = dmabuf ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (!dmabuf || b->dmabuf_fd >= 0)
		return 0;
	munmap(b->block.memory, b->block.bytes);
	return sx_why_fail(-ENODEV, why, "a buffer cannot be kept: %s", strerror(errno));
}

/* Receives and maps the buffers of a hello. */
static int take_buffers(struct sx_shared_link *l, uint32_t count, int64_t until_ns, struct sx_why *why)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct stixel_pairs_buffer b;
		int fd = -1, r = await(l, &b, sizeof(b), &fd, until_ns);

		if (r < 0)
			return lose(why, r == -ETIMEDOUT ? "the writer has not sent all its buffers in time"
					 : r == -EPIPE	 ? "the writer has ended before it sent its buffers"
						       : "the writer has sent another message than a buffer");
		if (b.magic != STIXEL_PAIRS_MAGIC || b.kind != STIXEL_PAIRS_BUFFER || b.index != i)
			r = lose(why, "the writer has sent another message than its next buffer");
		else if (b.bytes > BYTES_MOST || (sum += b.bytes) > BYTES_MOST)
			r = lose(why, "the buffers have more than 1 GB");
		else
			r = map_buffer(&l->buffers[i], fd, b.bytes, why);
		close(fd);
		if (r < 0)
			return r;
		l->count++;
	}
	return 0;
}

/* ---- the connection ---- */

static void name_writer(struct sx_shared_link *l, const char *declared)
{
	char name[STIXEL_PAIRS_NAME_BYTES];
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);

	getsockopt(l->fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1, declared);
	for (char *c = name; *c; c++) /* the name goes into the log */
		if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127)
			*c = '?';
	snprintf(l->name, sizeof(l->name), "%s (process %d)", *name ? name : "without a name", (int)peer.pid);
}

static int take_hello(struct sx_shared_link *l, struct sx_why *why)
{
	const int64_t until_ns = sx_now_ns() + PATIENCE_NS;
	struct stixel_pairs_hello hello;
	int r = await(l, &hello, sizeof(hello), NULL, until_ns);

	if (r < 0)
		return lose(why, r == -ETIMEDOUT ? "a writer has connected and said nothing"
				 : r == -EPIPE	 ? "a writer has connected and ended"
						 : "a writer has begun with another message than a hello");
	if (hello.magic != STIXEL_PAIRS_MAGIC || hello.kind != STIXEL_PAIRS_HELLO ||
	    hello.bytes < sizeof(hello))
		return lose(why, "a writer has begun with another message than a hello");
	if (hello.abi_major != STIXEL_ABI_MAJOR)
		return sx_why_fail(-ENODEV, why, "the writer has version %u of the interface, this daemon %u",
				   hello.abi_major, STIXEL_ABI_MAJOR);
	name_writer(l, hello.format.name);
	if (hello.buffers < 1 || hello.buffers > STIXEL_PAIRS_BUFFERS_MAX)
		return sx_why_fail(-ENODEV, why, "%u buffers, allowed are 1 to %d", hello.buffers,
				   STIXEL_PAIRS_BUFFERS_MAX);
	if (sx_shared_format(&l->format, &hello.format, why) < 0)
		return -ENODEV;
	return take_buffers(l, hello.buffers, until_ns, why);
}

int sx_shared_accept(struct sx_shared_link *l, const struct sx_pairs_socket *socket, struct sx_why *why)
{
	int r;

	*l = (struct sx_shared_link){.fd = accept4(socket->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)};
	if (l->fd < 0)
		return errno == EMFILE || errno == ENFILE
			       ? sx_why_fail(-ENODEV, why, "a writer cannot be accepted: %s", strerror(errno))
			       : sx_why_fail(
					 -ENOENT, why,
					 "no process writes pairs to %s: start the writer, as a member of group stixel-feed",
					 socket->path);
	r = take_hello(l, why);
	if (r < 0) {
		sx_shared_refuse(l, why->text);
		sx_shared_close(l);
	}
	return r;
}

int sx_shared_welcome(struct sx_shared_link *l, int keeps, struct sx_why *why)
{
	return answer(l, STIXEL_PAIRS_WELCOME, (uint64_t)keeps, STIXEL_PAIR_TAKEN, "") < 0
		       ? sx_why_fail(-ENODEV, why, "the writer %s has ended", l->name)
		       : 0;
}

/* Refuses a further writer and ends its connection. */
static void refuse_other(int fd, const char *name)
{
	char sentence[STIXEL_PAIRS_TEXT_BYTES];
	struct sx_shared_link other = {.fd = fd};

	snprintf(sentence, sizeof(sentence), "another writer has this instance: %s", name);
	sx_shared_refuse(&other, sentence);
	sx_shared_close(&other);
}

void sx_shared_refuse_others(const struct sx_shared_link *l, const struct sx_pairs_socket *socket)
{
	struct pollfd mine = {.fd = l->fd};
	int fd;

	/*
	 * A writer that changes its format closes the connection and connects again. The new one may wait
	 * before the daemon has read the end of the old one. The daemon must not refuse it as a second
	 * writer.
	 */
	if (poll(&mine, 1, 0) > 0 && mine.revents & POLLHUP)
		return;
	fd = accept4(socket->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		refuse_other(fd, l->name);
}

int sx_shared_take(struct sx_shared_link *l, struct stixel_pairs_pair *pair, struct sx_why *why)
{
	const int r = *l->end ? 0 : receive(l, pair, sizeof(*pair), NULL);

	if (r == -EPIPE)
		end(l, "the writer %s has ended", l->name);
	else if (r == -EPROTO ||
		 (r > 0 && (pair->magic != STIXEL_PAIRS_MAGIC || pair->kind != STIXEL_PAIRS_PAIR)))
		end(l, "the writer %s has sent another message than a pair", l->name);
	return *l->end ? lose(why, l->end) : r;
}

static const uint8_t *find_image(const struct sx_shared_link *l, uint32_t buffer, uint64_t offset)
{
	const size_t image = l->format.image_bytes;
	const struct sx_shared_buffer *b;

	if (buffer >= (uint32_t)l->count || offset % l->format.step)
		return NULL;
	b = &l->buffers[buffer];
	return b->bytes < image || offset > b->bytes - image ? NULL
							     : (const uint8_t *)b->block.memory + offset;
}

int sx_shared_images(const struct sx_shared_link *l, const struct stixel_pairs_pair *pair,
		     const uint8_t **left, const uint8_t **right, struct sx_why *why)
{
	*left = find_image(l, pair->left_buffer, pair->left_offset);
	*right = find_image(l, pair->right_buffer, pair->right_offset);
	if (*left && *right)
		return 0;
	return sx_why_fail(-EBADMSG, why,
			   "%s: the %s image of pair %llu lies outside of the buffers, or at an odd offset",
			   l->name, *left ? "right" : "left", (unsigned long long)pair->number);
}

void sx_shared_sync(const struct sx_shared_link *l, uint32_t buffer, bool begin)
{
	sx_must_index(buffer, l->count);
	if (l->buffers[buffer].dmabuf_fd >= 0)
		sx_dmabuf_sync(l->buffers[buffer].dmabuf_fd, begin);
}

void sx_shared_close(struct sx_shared_link *l)
{
	for (int i = 0; i < l->count; i++) {
		struct sx_shared_buffer *b = &l->buffers[i];

		munmap(b->block.memory, b->block.bytes);
		if (b->dmabuf_fd >= 0)
			close(b->dmabuf_fd);
	}
	if (l->fd >= 0)
		close(l->fd);
	*l = (struct sx_shared_link){.fd = -1};
}
