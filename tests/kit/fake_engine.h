/*
 * A fake engine: it fulfils its part of the contract of stages/engine.h, aborts with a sentence when the
 * caller breaks the other part, and computes nothing.
 *
 * A test links fake_engine_sources (tests/kit/meson.build) and defines fake_play, which determines the cost,
 * the time and the content of a frame. The test also defines the engine that the program looks for:
 *
 *	const struct sx_backend sx_backend_cpu = {.name = "fake", FAKE_ENGINE, FAKE_ENGINE_PINS};
 *
 * Contract of the caller: Contexts are destroyed before their device is closed. A context has one frame at a
 * time. A pair has the context's size; it has a disparity map if and only if matcher = external. Memory is
 * pinned by whole pages, once, and while no frame is in flight. It exists while it is pinned, and is unpinned
 * before the device is closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_KIT_FAKE_ENGINE_H
#define SX_TESTS_KIT_FAKE_ENGINE_H

#include "base/why.h"
#include "capture/source.h"
#include "stages/engine.h"
#include "stixel.h"
#include "tests/kit/fake_abort.h"

#define FAKE_COLUMNS 256
#define FAKE_BLOCKS 64

struct sx_device {
	uint64_t frames; /* number of frames submitted so far, including the one that begins */
	int contexts;
	/* number of contexts with a frame; atomic, because any thread may destroy a context */
	_Atomic int busy;
	struct sx_block blocks[FAKE_BLOCKS]; /* pinned memory */
	int block_count;
	unsigned pins, unpins;
	void *own; /* data of the test */
};

struct sx_context {
	struct sx_device *device;
	int fd; /* descriptor of event_fd; create() opens it, destroy() closes it */
	int width, height, columns;
	bool busy, external;
	const struct sx_pair *pair; /* valid while `busy` */
	sx_images_read_fn *images_read;
	void *user;
	struct sx_result result;
	struct stixel stixels[FAKE_COLUMNS];
	uint32_t offsets[FAKE_COLUMNS + 1];
	void *own; /* data of the test */
};

/*
 * Functions and values that the test supplies. Functions may be NULL, except words, create, destroy, begin
 * and look.
 */
struct fake_play {
	const char *(*words)(void); /* text that describe() returns */
	size_t memory_bytes;	    /* value that memory() returns */
	bool never_waits;	    /* wait() aborts unless the context has a frame and timeout_ms is 0 */
	int (*open)(struct sx_device *d, const struct sx_engine_params *p, struct sx_why *why);
	void (*close)(struct sx_device *d);
	int (*create)(struct sx_context *x, const struct sx_context_config *c, struct sx_why *why);
	void (*destroy)(struct sx_context *x); /* called even with a frame in flight */
	/*
	 * Called when a pair has been submitted. `result` contains only the address for the stixels. A
	 * negative errno leaves the context without a frame.
	 */
	int (*begin)(struct sx_context *x, const struct sx_road *previous);
	/* Like wait() of stages/engine.h. The context has a frame. */
	int (*look)(struct sx_context *x, int timeout_ms);
	int (*peek)(const struct sx_context *x, enum sx_tap tap, struct sx_image *view);
	/* returns a negative errno if the memory cannot be pinned */
	int (*pin)(struct sx_device *d, void *memory, size_t bytes);
	void (*unpin)(struct sx_device *d, void *memory);
};
extern const struct fake_play fake_play;

/*
 * Adds the next column (0, 1, ...): one object that reaches down to the image's last row, or nothing. Call
 * from begin().
 */
void fake_column(struct sx_context *x, bool has_object, uint16_t support, uint8_t label);
/* Returns the pinned block that contains all of this memory, or NULL. */
const struct sx_block *fake_pinned(const struct sx_device *d, const void *memory, size_t bytes);

int fake_engine_open(struct sx_device **ret, const struct sx_engine_params *p, struct sx_why *why);
void fake_engine_close(struct sx_device *d);
const char *fake_engine_describe(const struct sx_device *d);
int fake_engine_context_create(struct sx_context **ret, struct sx_device *d,
			       const struct sx_context_config *c, struct sx_why *why);
void fake_engine_context_destroy(struct sx_context *x);
int fake_engine_submit(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
		       sx_images_read_fn *images_read, void *user);
int fake_engine_event_fd(const struct sx_context *x);
int fake_engine_wait(struct sx_context *x, int timeout_ms);
const struct sx_result *fake_engine_result(const struct sx_context *x);
int fake_engine_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view);
size_t fake_engine_memory(const struct sx_device *d);
int fake_engine_pin(struct sx_device *d, void *memory, size_t bytes);
void fake_engine_unpin(struct sx_device *d, void *memory);

/* Members of a struct sx_backend. */
#define FAKE_ENGINE                                                                                   \
	.open = fake_engine_open, .close = fake_engine_close, .describe = fake_engine_describe,       \
	.context_create = fake_engine_context_create, .context_destroy = fake_engine_context_destroy, \
	.submit = fake_engine_submit, .event_fd = fake_engine_event_fd, .wait = fake_engine_wait,     \
	.result = fake_engine_result, .peek = fake_engine_peek, .memory = fake_engine_memory
#define FAKE_ENGINE_PINS .pin = fake_engine_pin, .unpin = fake_engine_unpin

#endif
