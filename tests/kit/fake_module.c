/*
 * A module in place of stixel-cuda.so, for programs that load an engine. It computes what the reference
 * engine computes and lacks what the CUDA engine lacks. The test controls it by environment variables:
 *
 *	FAKE_MODULE_OPEN	"none", "memory", "wrong": opening the device fails
 *	FAKE_MODULE_CREATE	"memory", "cannot": making a context fails
 *	FAKE_MODULE_FAIL_AT	number of the frame that fails
 *	FAKE_MODULE_DEVICE	text in place of "fake device"
 *	FAKE_MODULE_FACTS	"SMS CAPABILITY": an integrated GPU with SMS multiprocessors
 *	FAKE_MODULE_PIN		"no": memory cannot be pinned
 *	FAKE_MODULE_REPORT	a file that gets one line of counters when the device is closed
 *
 * Aborts when the contract of tests/kit/fake_engine.h is broken.
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
#include "tests/kit/fake_engine.h"

#if defined(FAKE_OTHER_VERSION)
const struct sx_module sx_module_cuda = {.version = "0.0.9-other"};
#elif defined(FAKE_OTHER_SIZES)
const struct sx_module sx_module_cuda = {.version = SX_VERSION, .sizes = {1, 2, 3}};
#else
const struct sx_module sx_module_cuda = SX_MODULE_OF_THIS_BUILD;
#endif

struct module {
	struct sx_device *inner;
	struct sx_transfers transfers;
};

struct module_frame {
	struct sx_context *inner;
	bool fails;
};

static bool is_set(const char *name, const char *word)
{
	const char *text = getenv(name);

	return text && strcmp(text, word) == 0;
}

static int module_open(struct sx_device *d, const struct sx_engine_params *p, struct sx_why *why)
{
	struct module *m;

	if (is_set("FAKE_MODULE_OPEN", "none"))
		return sx_why_fail(-ENODEV, why, "no CUDA device");
	if (is_set("FAKE_MODULE_OPEN", "memory"))
		return sx_why_fail(-ENOMEM, why, "device 0 (fake): 1 MB of 2 MB are free");
	if (is_set("FAKE_MODULE_OPEN", "wrong"))
		return sx_why_fail(-EINVAL, why, "engine.device = %d: there is one", p->device);
	d->own = m = calloc(1, sizeof(*m));
	FAKE_MUST(m && sx_backend_reference.open(&m->inner, p, why) == 0);
	m->transfers.path = p->input == SX_INPUT_MAPPED ? "mapped" : "copy";
	return 0;
}

static void module_close(struct sx_device *d)
{
	const char *path = getenv("FAKE_MODULE_REPORT");
	FILE *report = path ? fopen(path, "a") : NULL;
	struct module *m = d->own;

	if (report) {
		fprintf(report, "frames %llu pins %u unpins %u staged %llu\n",
			(unsigned long long)m->transfers.frames, d->pins, d->unpins,
			(unsigned long long)m->transfers.staged);
		fclose(report);
	}
	sx_backend_reference.close(m->inner);
	free(m);
}

static const char *module_words(void)
{
	const char *words = getenv("FAKE_MODULE_DEVICE");

	return words ? words : "fake device";
}

static int module_create(struct sx_context *x, const struct sx_context_config *c, struct sx_why *why)
{
	struct module *m = x->device->own;
	struct module_frame *own;
	int r;

	if (is_set("FAKE_MODULE_CREATE", "memory"))
		return sx_why_fail(-ENOMEM, why, "a frame of %dx%d needs more memory than the device has",
				   c->width, c->height);
	if (is_set("FAKE_MODULE_CREATE", "cannot"))
		return sx_why_fail(-ENOTSUP, why, "the cuda engine has no zncc");
	r = sx_context_check(c, "cuda", SX_CUDA_ABILITIES, why);
	if (r < 0)
		return r;
	x->own = own = calloc(1, sizeof(*own));
	FAKE_MUST(own);
	r = sx_backend_reference.context_create(&own->inner, m->inner, c, why);
	if (r < 0)
		free(own);
	else
		x->fd = sx_backend_reference.event_fd(own->inner);
	return r;
}

static void module_destroy(struct sx_context *x)
{
	struct module_frame *own = x->own;

	sx_backend_reference.context_destroy(own->inner);
	free(own);
}

static bool is_staged(const struct sx_device *d, const struct sx_image *img)
{
	return !fake_pinned(d, img->data, (size_t)(img->height - 1) * img->pitch + 1);
}

static int module_begin(struct sx_context *x, const struct sx_road *previous)
{
	const char *fail = getenv("FAKE_MODULE_FAIL_AT");
	struct sx_device *d = x->device;
	struct sx_transfers *t = &((struct module *)d->own)->transfers;
	struct module_frame *own = x->own;

	t->frames = d->frames;
	t->copies_in += 2;
	t->copies_out++;
	t->copied_bytes += 2 * (uint64_t)x->pair->left.height * x->pair->left.pitch;
	t->staged += (uint64_t)is_staged(d, &x->pair->left) + (uint64_t)is_staged(d, &x->pair->right);
	own->fails = fail && strtoull(fail, NULL, 10) == d->frames;
	return sx_backend_reference.submit(own->inner, x->pair, previous, x->images_read, x->user);
}

static int module_look(struct sx_context *x, int timeout_ms)
{
	struct module_frame *own = x->own;
	int r = sx_backend_reference.wait(own->inner, timeout_ms);

	if (r == 1)
		x->result = *sx_backend_reference.result(own->inner);
	return r != 0 && own->fails ? -EIO : r;
}

static int module_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view)
{
	const struct module_frame *own = x->own;

	return sx_backend_reference.peek(own->inner, tap, view);
}

static int module_pin(struct sx_device *d, void *memory, size_t bytes)
{
	return is_set("FAKE_MODULE_PIN", "no") ? -EPERM : 0;
}

static void module_transfers(const struct sx_device *d, struct sx_transfers *t)
{
	*t = ((const struct module *)d->own)->transfers;
}

static const char *module_volume(const struct sx_context *x)
{
	return "engine.volume = auto: stored, as this is a fake";
}

static void module_facts(const struct sx_device *d, struct sx_device_facts *f)
{
	const char *facts = getenv("FAKE_MODULE_FACTS");

	*f = (struct sx_device_facts){.code = "sm_87",
				      .clock_hz = 918e6,
				      .memory_bytes = (size_t)8 << 30,
				      .runtime = 11040,
				      .driver = 12060,
				      .integrated = true};
	snprintf(f->name, sizeof(f->name), "%s", module_words());
	if (facts)
		FAKE_MUST(sscanf(facts, "%d %d", &f->sms, &f->capability) == 2);
}

const struct fake_play fake_play = {
	.words = module_words,
	.memory_bytes = 123456789,
	.open = module_open,
	.close = module_close,
	.create = module_create,
	.destroy = module_destroy,
	.begin = module_begin,
	.look = module_look,
	.peek = module_peek,
	.pin = module_pin,
};

const struct sx_backend sx_backend_cuda = {
	.name = "cuda",
	FAKE_ENGINE,
	FAKE_ENGINE_PINS,
	.facts = module_facts,
	.volume = module_volume,
	.transfers = module_transfers,
};
