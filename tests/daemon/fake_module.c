/*
 * A module in place of stixel-cuda.so, for programs that load one: computes what the reference computes,
 * lacks what the CUDA engine lacks, and does what the test wants, told by the environment:
 *
 *	FAKE_MODULE_OPEN	"none", "memory", "wrong": opening the device fails
 *	FAKE_MODULE_CREATE	"memory", "cannot": making a context fails
 *	FAKE_MODULE_FAIL_AT	this frame fails
 *	FAKE_MODULE_DEVICE	words in place of "fake device"
 *	FAKE_MODULE_FACTS	"SMS CAPABILITY": it is an integrated GPU with so many multiprocessors
 *	FAKE_MODULE_PIN		"no": memory cannot be pinned
 *	FAKE_MODULE_REPORT	a file that gets one line when the device is closed: what was counted
 *
 * Aborts when the contract is broken: a block pinned twice, unpinned without having been pinned, or gone
 * while it is pinned; pinning while a frame is in flight; a device closed with contexts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/host/engine.h"
#include "gpu/module.h"
#include "stages/device_facts.h"

#if defined(FAKE_OTHER_VERSION)
const struct sx_module sx_module_cuda = {.version = "0.0.9-other"};
#elif defined(FAKE_OTHER_SIZES)
const struct sx_module sx_module_cuda = {.version = SX_VERSION, .sizes = {1, 2, 3}};
#else
const struct sx_module sx_module_cuda = SX_MODULE_OF_THIS_BUILD;
#endif

#define BLOCKS_MAX 64
#define MUST(x)                                                             \
	do {                                                                \
		if (!(x)) {                                                 \
			fprintf(stderr, "fake: contract broken: %s\n", #x); \
			abort();                                            \
		}                                                           \
	} while (0)

struct block {
	unsigned char *memory;
	size_t bytes;
};

struct sx_device {
	struct sx_device *inner;
	struct block blocks[BLOCKS_MAX];
	int count, contexts, in_flight;
	unsigned pins, unpins;
	struct sx_transfers transfers;
};

struct sx_context {
	struct sx_context *inner;
	struct sx_device *device;
	bool busy, fails;
};

static bool told(const char *name, const char *word)
{
	const char *text = getenv(name);

	return text && strcmp(text, word) == 0;
}

/* Reads each page: memory that is gone is seen by the sanitizer, or by the processor. */
static void touch(const struct block *b)
{
	long page = sysconf(_SC_PAGESIZE);
	volatile unsigned char sink = 0;

	for (size_t i = 0; i < b->bytes; i += (size_t)page)
		sink = b->memory[i];
	(void)sink;
}

static int module_open(struct sx_device **ret, const struct sx_engine_params *p, char *why, size_t why_bytes)
{
	struct sx_device *d;

	if (told("FAKE_MODULE_OPEN", "none")) {
		snprintf(why, why_bytes, "no CUDA device");
		return -ENODEV;
	}
	if (told("FAKE_MODULE_OPEN", "memory")) {
		snprintf(why, why_bytes, "device 0 (fake): 1 MB of 2 MB are free");
		return -ENOMEM;
	}
	if (told("FAKE_MODULE_OPEN", "wrong")) {
		snprintf(why, why_bytes, "engine.device = %d: there is one", p->device);
		return -EINVAL;
	}
	d = calloc(1, sizeof(*d));
	MUST(d && sx_backend_reference.open(&d->inner, p, why, why_bytes) == 0);
	d->transfers.path = p->input == SX_INPUT_MAPPED ? "mapped" : "copy";
	*ret = d;
	return 0;
}

static void module_close(struct sx_device *d)
{
	const char *path = getenv("FAKE_MODULE_REPORT");
	FILE *report = path ? fopen(path, "a") : NULL;

	MUST(d->count == 0 && d->contexts == 0 && d->in_flight == 0);
	if (report) {
		fprintf(report, "frames %llu pins %u unpins %u staged %llu\n",
			(unsigned long long)d->transfers.frames, d->pins, d->unpins,
			(unsigned long long)d->transfers.staged);
		fclose(report);
	}
	sx_backend_reference.close(d->inner);
	free(d);
}

static const char *module_describe(const struct sx_device *d)
{
	const char *words = getenv("FAKE_MODULE_DEVICE");

	return words ? words : "fake device";
}

static int module_context_create(struct sx_context **ret, struct sx_device *d,
				 const struct sx_context_config *c, char *why, size_t why_bytes)
{
	struct sx_context *x;
	int r;

	if (told("FAKE_MODULE_CREATE", "memory")) {
		snprintf(why, why_bytes, "a frame of %dx%d needs more memory than the device has", c->width,
			 c->height);
		return -ENOMEM;
	}
	if (told("FAKE_MODULE_CREATE", "cannot")) {
		snprintf(why, why_bytes, "the cuda engine has no zncc");
		return -ENOTSUP;
	}
	r = sx_context_check(c, "cuda", SX_CUDA_ABILITIES, why, why_bytes);
	if (r < 0)
		return r;
	x = calloc(1, sizeof(*x));
	MUST(x);
	x->device = d;
	r = sx_backend_reference.context_create(&x->inner, d->inner, c, why, why_bytes);
	if (r < 0) {
		free(x);
		return r;
	}
	d->contexts++;
	*ret = x;
	return 0;
}

static void module_context_destroy(struct sx_context *x)
{
	if (!x)
		return;
	x->device->in_flight -= x->busy;
	x->device->contexts--;
	sx_backend_reference.context_destroy(x->inner);
	free(x);
}

static bool is_pinned(const struct sx_device *d, const struct sx_image *img)
{
	const unsigned char *first = img->data, *end = first + (size_t)(img->height - 1) * img->pitch + 1;

	for (int i = 0; i < d->count; i++)
		if (first >= d->blocks[i].memory && end <= d->blocks[i].memory + d->blocks[i].bytes)
			return true;
	return false;
}

static int module_submit(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
			 sx_images_read_fn *images_read, void *user)
{
	struct sx_device *d = x->device;
	const char *fail = getenv("FAKE_MODULE_FAIL_AT");

	MUST(!x->busy);
	d->transfers.frames++;
	d->transfers.copies_in += 2;
	d->transfers.copies_out++;
	d->transfers.copied_bytes += 2 * (uint64_t)pair->left.height * pair->left.pitch;
	d->transfers.staged += (uint64_t)!is_pinned(d, &pair->left) + (uint64_t)!is_pinned(d, &pair->right);
	x->fails = fail && strtoull(fail, NULL, 10) == d->transfers.frames;
	x->busy = true;
	d->in_flight++;
	return sx_backend_reference.submit(x->inner, pair, previous, images_read, user);
}

static int module_event_fd(const struct sx_context *x)
{
	return sx_backend_reference.event_fd(x->inner);
}

static int module_wait(struct sx_context *x, int timeout_ms)
{
	int r = sx_backend_reference.wait(x->inner, timeout_ms);

	if (r == 0)
		return 0;
	x->device->in_flight -= x->busy;
	x->busy = false;
	return x->fails ? -EIO : r;
}

static const struct sx_result *module_result(const struct sx_context *x)
{
	return sx_backend_reference.result(x->inner);
}

static int module_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view)
{
	return sx_backend_reference.peek(x->inner, tap, view);
}

static size_t module_memory(const struct sx_device *d)
{
	return 123456789;
}

static int module_pin(struct sx_device *d, void *memory, size_t bytes)
{
	struct block b = {memory, bytes};

	if (told("FAKE_MODULE_PIN", "no"))
		return -EPERM;
	MUST(d->in_flight == 0 && d->count < BLOCKS_MAX);
	for (int i = 0; i < d->count; i++)
		MUST(b.memory + bytes <= d->blocks[i].memory ||
		     b.memory >= d->blocks[i].memory + d->blocks[i].bytes);
	MUST((uintptr_t)memory % (uintptr_t)sysconf(_SC_PAGESIZE) == 0);
	touch(&b);
	d->blocks[d->count++] = b;
	d->pins++;
	return 0;
}

static void module_unpin(struct sx_device *d, void *memory)
{
	int i = 0;

	while (i < d->count && d->blocks[i].memory != memory)
		i++;
	MUST(i < d->count && d->in_flight == 0);
	touch(&d->blocks[i]);
	d->blocks[i] = d->blocks[--d->count];
	d->unpins++;
}

static void module_transfers(const struct sx_device *d, struct sx_transfers *t)
{
	*t = d->transfers;
}

static const char *module_volume(const struct sx_context *x)
{
	return "engine.volume = auto: stored, as this is a fake";
}

static void module_facts(const struct sx_device *d, struct sx_device_facts *f)
{
	const char *told_facts = getenv("FAKE_MODULE_FACTS");

	*f = (struct sx_device_facts){.code = "sm_87",
				      .clock_hz = 918e6,
				      .memory_bytes = (size_t)8 << 30,
				      .runtime = 11040,
				      .driver = 12060,
				      .integrated = true};
	snprintf(f->name, sizeof(f->name), "%s", module_describe(d));
	if (told_facts)
		MUST(sscanf(told_facts, "%d %d", &f->sms, &f->capability) == 2);
}

const struct sx_backend sx_backend_cuda = {
	.name = "cuda",
	.facts = module_facts,
	.volume = module_volume,
	.open = module_open,
	.close = module_close,
	.describe = module_describe,
	.context_create = module_context_create,
	.context_destroy = module_context_destroy,
	.submit = module_submit,
	.event_fd = module_event_fd,
	.wait = module_wait,
	.result = module_result,
	.peek = module_peek,
	.memory = module_memory,
	.pin = module_pin,
	.unpin = module_unpin,
	.transfers = module_transfers,
};
