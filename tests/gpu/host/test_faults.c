/*
 * Host side of the CUDA engine on the emulated device: its behaviour if calls and kernels fail, the resources
 * that it takes and frees, and the copies and allocations of a frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>
#include <cmocka.h>

#include "gpu/host/engine_priv.h"
#include "stages/context.h"
#include "stages/device_facts.h"
#include "tests/check.h"
#include "tests/gpu/emulate/emulate.h"
#include "tests/gpu/host/frame_calls.h"
#include "tests/gpu/host/small_case.h"

enum { WAIT_MS = 20000 };

static const struct sx_engine_params two_contexts = {.backend = SX_BACKEND_CUDA, .contexts = 2};

/* Resources in use, which a failed attempt must leave unchanged. */
struct holdings {
	unsigned long long device, pinned, streams, events, graphs;
	int descriptors;
};

static struct holdings holdings(void)
{
	return (struct holdings){
		sx_emulate_count("device bytes"), sx_emulate_count("pinned bytes"),
		sx_emulate_count("streams held"), sx_emulate_count("events held"),
		sx_emulate_count("graphs held"),  check_descriptors(),
	};
}

static void assert_held(const struct holdings *before)
{
	const struct holdings now = holdings();

	assert_int_equal(now.device, before->device);
	assert_int_equal(now.pinned, before->pinned);
	assert_int_equal(now.streams, before->streams);
	assert_int_equal(now.events, before->events);
	assert_int_equal(now.graphs, before->graphs);
	assert_int_equal(now.descriptors, before->descriptors);
}

static void fail_at(const char *name, int nth, int code)
{
	char order[96];

	snprintf(order, sizeof(order), code ? "%s:%d=%d" : "%s:%d", name, nth, code);
	sx_emulate_reset();
	setenv("SX_EMULATE_FAIL", order, 1);
}

static void fail_nothing(void)
{
	unsetenv("SX_EMULATE_FAIL");
	unsetenv("SX_EMULATE_DEVICE");
	sx_emulate_reset();
}

static struct sx_device *open_device(const struct sx_engine_params *p)
{
	struct sx_device *d = NULL;
	struct sx_why why = {""};
	int r = sx_backend_cuda.open(&d, p, &why);

	if (r < 0)
		fail_msg("open: %d, %s", r, why.text);
	return d;
}

static struct sx_context *make_context(struct sx_device *d, const struct sx_context_config *c)
{
	struct sx_context *x = NULL;
	struct sx_why why = {""};
	int r = sx_backend_cuda.context_create(&x, d, c, &why);

	if (r < 0)
		fail_msg("context: %d, %s", r, why.text);
	return x;
}

/* Checks that open refuses with this errno and with a sentence that contains these words. */
static void assert_refused(const struct sx_engine_params *p, int error, const char *words)
{
	const struct holdings before = holdings();
	struct sx_device *d = NULL;
	struct sx_why why = {""};

	assert_int_equal(sx_backend_cuda.open(&d, p, &why), error);
	assert_null(d);
	if (!strstr(why.text, words) || !strstr(why.text, "engine cuda: "))
		fail_msg("'%s' does not say '%s'", why.text, words);
	fail_nothing();
	assert_held(&before);
}

static void test_open(void **state)
{
	struct sx_engine_params p = two_contexts;

	fail_nothing();
	setenv("SX_EMULATE_DEVICE", "devices=0", 1);
	assert_refused(&p, -ENODEV, "no CUDA device");
	fail_at("cudaGetDeviceCount", 1, cudaErrorInsufficientDriver);
	assert_refused(&p, -ENODEV, "the driver is for CUDA");
	fail_at("cudaGetDeviceCount", 1, cudaErrorInitializationError);
	assert_refused(&p, -ENODEV, "looking for devices");
	fail_at("cudaLaunchKernel", 1, cudaErrorNoKernelImageForDevice);
	assert_refused(&p, -ENODEV, "no code for");
	fail_at("kernel", 1, cudaErrorIllegalAddress);
	assert_refused(&p, -ENODEV, "does not run a kernel");
	setenv("SX_EMULATE_FAIL", "kernel:1=skip", 1);
	assert_refused(&p, -ENODEV, "does not run a kernel");
	fail_at("cudaSetDevice", 1, cudaErrorDevicesUnavailable);
	assert_refused(&p, -ENODEV, "cannot be used");
	setenv("SX_EMULATE_DEVICE", "map=0", 1);
	assert_refused(&p, -ENODEV, "host's memory");
	p.device = 3;
	assert_refused(&p, -ENODEV, "no device 3");
	p.device = -1;
	assert_refused(&p, -ENODEV, "no device -1");
	p.device = 0;
	p.sms = 100000;
	assert_refused(&p, -EINVAL, "100000 multiprocessors");
	p.sms = 1;
	assert_refused(&p, -ENOTSUP, "12.5");
}

static void test_describe(void **state)
{
	struct sx_engine_params p = two_contexts;
	struct sx_device_facts f;
	struct sx_transfers t;
	struct sx_device *d;

	fail_nothing();
	setenv("SX_EMULATE_DEVICE", "integrated=1,sms=8,cc=87", 1);
	d = open_device(&p);
	assert_non_null(strstr(sx_backend_cuda.describe(d), "sm_87, 8 SMs, input mapped"));
	assert_null(sx_backend_cuda.bus_id(d)); /* an integrated GPU has no bus address */
	sx_backend_cuda.facts(d, &f);
	assert_int_equal(f.capability, 87);
	assert_int_equal(f.sms, 8);
	assert_true(f.integrated && f.memory_bytes > 0 && f.runtime > 0 && f.driver >= f.runtime);
	assert_true(f.bytes_per_s == 0.0); /* the driver reports no memory bandwidth */
	sx_backend_cuda.close(d);
	setenv("SX_EMULATE_DEVICE", "integrated=0,sms=132,cc=90", 1);
	d = open_device(&p);
	assert_non_null(strstr(sx_backend_cuda.describe(d), "sm_90, 132 SMs, input by copy"));
	assert_string_equal(sx_backend_cuda.bus_id(d), "000a:1b:00.0");
	sx_backend_cuda.facts(d, &f);
	assert_true(!f.integrated && f.clock_hz > 0 && f.bytes_per_s > 0);
	assert_true(strstr(sx_backend_cuda.describe(d), f.name) == sx_backend_cuda.describe(d));
	sx_backend_cuda.close(d);
	p.input = SX_INPUT_MAPPED;
	d = open_device(&p);
	assert_non_null(strstr(sx_backend_cuda.describe(d), "input mapped"));
	sx_backend_cuda.transfers(d, &t);
	assert_string_equal(t.path, "mapped");
	assert_int_equal(t.frames, 0);
	sx_backend_cuda.close(d);
	fail_nothing();
}

/* Creates a context while the nth call of this name fails. Returns false if there are fewer calls. */
static bool fault_context(const char *name, int nth, int code)
{
	const struct sx_context_config config = small();
	struct sx_device *d = open_device(&two_contexts); /* a new device, because some errors lose it */
	const struct holdings before = holdings();
	struct sx_context *x = NULL;
	struct sx_why why = {""};
	bool failed;
	int r;

	fail_at(name, nth, code);
	r = sx_backend_cuda.context_create(&x, d, &config, &why);
	failed = sx_emulate_count(name) >= (unsigned long long)nth;
	fail_nothing();
	if (failed != (r < 0))
		fail_msg("%s number %d, error %d: %s", name, nth, code,
			 failed ? "its failure went unnoticed" : why.text);
	if (failed) {
		assert_null(x);
		assert_int_equal(r, strcmp(name, "cudaMalloc") == 0 || strcmp(name, "cudaHostAlloc") == 0
					    ? -ENOMEM
					    : -EIO);
		if (r == -ENOMEM)
			assert_non_null(strstr(why.text, "MB are needed for each of 2 contexts of 40x36"));
		assert_non_null(strstr(why.text, "engine cuda: "));
	}
	sx_backend_cuda.context_destroy(x);
	assert_held(&before);
	assert_int_equal(sx_backend_cuda.memory(d), sizeof(struct sx_device));
	sx_backend_cuda.close(d);
	return failed;
}

/*
 * Every call that creating a context needs fails once: the first, the second, ... Nothing may be left behind.
 * Each call fails with its usual error. Calls whose usual error loses the device fail once more with an error
 * that does not, so that no later call fails because of it.
 */
static void test_context_faults(void **state)
{
	static const struct {
		const char *name;
		int code;
	} calls[] = {
		{"cudaMalloc", 0},
		{"cudaHostAlloc", 0},
		{"cudaHostGetDevicePointer", cudaErrorInvalidValue},
		{"cudaMemsetAsync", cudaErrorInvalidValue},
		{"cudaMemcpyAsync", cudaErrorInvalidValue},
		{"cudaStreamSynchronize", cudaErrorInvalidValue},
		{"cudaEventCreateWithFlags", cudaErrorInvalidValue},
		{"cudaStreamCreateWithPriority", cudaErrorInvalidValue},
		{"cudaStreamWaitEvent", cudaErrorInvalidValue},
		{"cudaStreamBeginCapture", cudaErrorInvalidValue},
		{"cudaStreamEndCapture", cudaErrorInvalidValue},
		{"cudaEventRecordWithFlags", cudaErrorInvalidValue},
		{"cudaGraphInstantiateWithFlags", cudaErrorInvalidValue},
		{"cudaGraphUpload", cudaErrorInvalidValue},
		{"cudaGraphLaunch", cudaErrorInvalidValue},
		{"cudaEventRecord", cudaErrorInvalidValue},
		{"cudaEventSynchronize", cudaErrorInvalidValue},
		{"cudaLaunchKernel", cudaErrorInvalidConfiguration},
		{"cudaStreamSynchronize", 0},
		{"cudaGraphLaunch", 0},
		{"cudaEventSynchronize", 0},
		{"kernel", 0},
		{"copy", 0},
	};

	fail_nothing();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int nth = 1;

		while (fault_context(calls[i].name, nth, calls[i].code))
			nth++;
		/* the function was called at least once, or its row of the table is wrong */
		assert_true(nth > 1);
	}
}

static struct sx_context_config small_moving(void)
{
	struct sx_context_config c = small();

	c.params.motion.mode = SX_MOTION_MODE_PAIR;
	c.params.camera.fx = c.params.camera.fy = 60;
	c.params.camera.baseline_m = 0.3;
	return c;
}

/* Creates a chain of motion while the nth call of this name fails. Returns false if there are fewer calls. */
static bool fault_chain(const char *name, int nth)
{
	const struct sx_context_config config = small_moving();
	struct sx_device *d = open_device(&two_contexts);
	const struct holdings before = holdings();
	struct sx_chain *chain = NULL;
	struct sx_why why = {""};
	bool failed;
	int r;

	fail_at(name, nth, strcmp(name, "cudaMalloc") == 0 ? 0 : cudaErrorInvalidValue);
	r = sx_chain_create(&chain, &sx_backend_cuda, d, &config, &why);
	failed = sx_emulate_count(name) >= (unsigned long long)nth;
	fail_nothing();
	assert_int_equal(failed, r < 0);
	if (failed) {
		assert_null(chain);
		assert_int_equal(r, strcmp(name, "cudaMalloc") == 0 ? -ENOMEM : -EIO);
		assert_non_null(strstr(why.text, "engine cuda: taking memory for motion"));
	}
	sx_backend_cuda.chain_destroy(chain);
	assert_held(&before);
	assert_int_equal(sx_backend_cuda.memory(d), sizeof(struct sx_device));
	sx_backend_cuda.close(d);
	return failed;
}

/* Every call that creating a chain needs fails once. Nothing may be left behind. */
static void test_chain_faults(void **state)
{
	static const char *const calls[] = {"cudaMalloc",
					    "cudaMemsetAsync",
					    "cudaMemcpyAsync",
					    "cudaStreamSynchronize",
					    "cudaEventCreateWithFlags",
					    "cudaStreamCreateWithPriority"};

	fail_nothing();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int nth = 1;

		while (fault_chain(calls[i], nth))
			nth++;
		assert_true(nth > 1);
	}
}

/* The device skips kernels without an error. The record of the frame reveals it. */
static void test_skipped_kernels(void **state)
{
	const struct sx_context_config config = small();
	struct sx_device *d = open_device(&two_contexts);
	const struct holdings before = holdings();
	struct sx_context *x = NULL;
	struct sx_why why = {""};

	setenv("SX_EMULATE_FAIL", "kernel:1+=skip", 1);
	assert_int_equal(sx_backend_cuda.context_create(&x, d, &config, &why), -EIO);
	assert_non_null(strstr(why.text, "was not computed"));
	fail_nothing();
	assert_held(&before);
	sx_backend_cuda.close(d);
}

static void test_errno(void **state)
{
	static const struct {
		cudaError_t error;
		int errno_is;
	} codes[] = {
		{cudaSuccess, 0},
		{cudaErrorMemoryAllocation, -ENOMEM},
		{cudaErrorNoDevice, -ENODEV},
		{cudaErrorInvalidDevice, -ENODEV},
		{cudaErrorInsufficientDriver, -ENODEV},
		{cudaErrorInitializationError, -ENODEV},
		{cudaErrorSystemDriverMismatch, -ENODEV},
		{cudaErrorDevicesUnavailable, -ENODEV},
		{cudaErrorNoKernelImageForDevice, -ENODEV},
		{cudaErrorUnsupportedPtxVersion, -ENODEV},
		{cudaErrorIllegalAddress, -EIO},
		{cudaErrorLaunchFailure, -EIO},
		{cudaErrorECCUncorrectable, -EIO},
		{cudaErrorUnknown, -EIO},
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct sx_device d = {0};
		struct sx_why why;

		assert_int_equal(sx_cuda_errno(codes[i].error), codes[i].errno_is);
		assert_int_equal(sx_cuda_complain(&why, codes[i].error, "this"), codes[i].errno_is);
		assert_non_null(strstr(why.text, "engine cuda: this: "));
		assert_non_null(strstr(why.text, cudaGetErrorName(codes[i].error)));
		/* the device has already computed a frame, so a failure now is an engine failure */
		assert_int_equal(sx_cuda_fail(&d, codes[i].error, "that"),
				 codes[i].errno_is == -ENOMEM ? -ENOMEM : -EIO);
		assert_non_null(strstr(d.failure.text, "engine cuda: that: "));
	}
}

/*
 * Checks the memory that a context needs, from the sentence that refuses it: at most `bytes` per cell and 64 MB.
 * Nothing is allocated for this.
 */
static void assert_limit(struct sx_context_config c, int width, int height, double bytes, const char *device)
{
	const double cells = (double)width * height * c.params.stereo.disparities;
	const double most = bytes * cells + 64e6;
	struct sx_context *x = NULL;
	char *at;
	struct sx_why why = {""};
	struct sx_device *d;
	double mb;

	fail_nothing();
	setenv("SX_EMULATE_DEVICE", device, 1);
	d = open_device(&two_contexts);
	c.width = width;
	c.height = height;
	sx_emulate_reset();
	assert_int_equal(sx_backend_cuda.context_create(&x, d, &c, &why), -ENOMEM);
	assert_int_equal(sx_emulate_count("cudaMalloc"), 0);
	assert_int_equal(sx_emulate_count("cudaHostAlloc"), 0);
	at = strstr(why.text, "engine cuda: ");
	assert_non_null(at);
	mb = strtod(at + strlen("engine cuda: "), NULL) - 1; /* the sentence rounds up */
	if (mb * 1e6 < cells || mb * 1e6 > most)
		fail_msg("%s: %s, at most %.0f are allowed", device, why.text, most / 1e6);
	sx_backend_cuda.close(d);
	fail_nothing();
}

static void test_memory_limit(void **state)
{
	static const char *const devices[] = {
		"memory=1000000,sms=8",
		"memory=1000000,sms=16",
		"memory=1000000,sms=132",
	};

	struct sx_context_config c = small();

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		c.params.stereo.disparities = 128;
		assert_limit(c, 1024, 440, 5, devices[i]);
		assert_limit(c, 1242, 375, 5, devices[i]);
		assert_limit(c, 1280, 720, 5, devices[i]);
		assert_limit(c, 2048, 1024, 5, devices[i]);
		c.params.stereo.disparities = 256;
		assert_limit(c, 2048, 1024, 5, devices[i]);
	}
}

/*
 * FastDT takes one byte each for costs and A, 2 bytes for everything else. Planes take less than a fifth of a
 * byte.
 */
static void test_memory_limit_fastdt(void **state)
{
	struct sx_context_config c = small();

	c.params.stereo.aggregation = SX_AGGREGATION_FASTDT;
	c.params.stereo.disparities = 128;
	for (int variant = SX_FASTDT_INT16; variant <= SX_FASTDT_INT8; variant++) {
		c.params.stereo.fastdt = (enum sx_fastdt)variant;
		c.params.stereo.cost = SX_COST_CSCT;
		assert_limit(c, 1280, 720, 3.2, "memory=1000000,sms=16");
		c.params.stereo.cost = SX_COST_ZNCC;
		c.params.stereo.zncc_window = 5;
		assert_limit(c, 1280, 720, 3.2, "memory=1000000,sms=16");
		assert_limit(c, 1280, 720, 3.2, "memory=1000000,sms=132");
	}
}

static void test_memory_reported(void **state)
{
	const struct sx_context_config config = small();
	struct holdings before;
	struct sx_context *x;
	struct sx_device *d;
	struct sx_image view;
	size_t taken, reported;

	fail_nothing();
	before = holdings();
	d = open_device(&two_contexts);
	x = make_context(d, &config);
	assert_int_equal(sx_backend_cuda.peek(x, SX_TAP_DISPARITY, &view), 0);
	taken = (size_t)(holdings().device - before.device + holdings().pinned - before.pinned);
	reported = sx_backend_cuda.memory(d);
	assert_true(reported >= taken && reported < taken + sizeof(*x) + sizeof(*d) + 65536);
	sx_backend_cuda.context_destroy(x);
	sx_backend_cuda.close(d);
	assert_held(&before);
}

/* Two separate images, and one image that holds both. */
struct pairs {
	struct check_image left, right, whole;
	struct sx_pair apart, side_by_side;
};

static void pairs_init(struct pairs *p)
{
	struct check_rng r = check_rng_seed(3);

	check_image_init(&p->left, SX_PIXEL_U8, WIDTH, HEIGHT, 5);
	check_image_init(&p->right, SX_PIXEL_U8, WIDTH, HEIGHT, 9);
	check_image_init(&p->whole, SX_PIXEL_U8, 2 * WIDTH, HEIGHT, 0);
	check_fill_pair(&p->left.image, &p->right.image, CHECK_NOISE, 5, 9, &r);
	p->apart = (struct sx_pair){.left = p->left.image, .right = p->right.image};
	p->side_by_side.left = p->whole.image;
	p->side_by_side.left.width = WIDTH;
	p->side_by_side.right = p->side_by_side.left;
	p->side_by_side.right.data = (uint8_t *)p->whole.image.data + WIDTH;
	check_copy(&p->apart.left, &p->side_by_side.left);
	check_copy(&p->apart.right, &p->side_by_side.right);
}

static void pairs_finish(struct pairs *p)
{
	check_image_finish(&p->left);
	check_image_finish(&p->right);
	check_image_finish(&p->whole);
}

static void run_frame(struct sx_context *x, const struct sx_pair *pair)
{
	assert_int_equal(sx_backend_cuda.submit(x, pair, NULL, NULL, NULL), 0);
	assert_int_equal(sx_backend_cuda.submit(x, pair, NULL, NULL, NULL), -EBUSY);
	assert_int_equal(sx_backend_cuda.wait(x, WAIT_MS), 1);
}

enum { FRAMES = 5 };

/* Checks the cost of FRAMES frames after the first one. */
static void assert_cost(struct sx_context *x, struct sx_device *d, const struct sx_pair *pair,
			unsigned copies, unsigned staged)
{
	struct sx_transfers before, after;

	run_frame(x, pair);
	sx_emulate_reset();
	sx_backend_cuda.transfers(d, &before);
	for (int i = 0; i < FRAMES; i++)
		run_frame(x, pair);
	sx_backend_cuda.transfers(d, &after);
	if (sx_emulate_other_than(calls_of_a_frame))
		fail_msg("frames need %s", sx_emulate_other_than(calls_of_a_frame));
	assert_int_equal(sx_emulate_count("cudaGraphLaunch"), FRAMES);
	assert_int_equal(sx_emulate_count("copy"), FRAMES * copies);
	assert_int_equal(after.copies_in - before.copies_in, FRAMES * copies);
	assert_int_equal(after.copied_bytes > before.copied_bytes, copies > 0);
	assert_int_equal(after.staged - before.staged, FRAMES * staged);
	assert_int_equal(after.frames - before.frames, FRAMES);
	assert_int_equal(after.copies_out, 0);
}

static void check_costs(enum sx_input_choice input, unsigned apart, unsigned together)
{
	const struct sx_context_config config = small();
	struct sx_engine_params params = two_contexts;
	struct sx_context *x;
	struct sx_device *d;
	struct pairs p;

	fail_nothing();
	params.input = input;
	pairs_init(&p);
	d = open_device(&params);
	x = make_context(d, &config);
	assert_cost(x, d, &p.apart, input == SX_INPUT_COPY, 2);
	assert_int_equal(sx_backend_cuda.pin(d, p.left.memory, p.left.bytes), 0);
	assert_int_equal(sx_backend_cuda.pin(d, p.left.memory + 1, p.left.bytes), -EEXIST);
	assert_int_equal(sx_backend_cuda.pin(d, NULL, 1), -EINVAL);
	assert_cost(x, d, &p.apart, apart, 1);
	assert_int_equal(sx_backend_cuda.pin(d, p.right.memory, p.right.bytes), 0);
	assert_cost(x, d, &p.apart, apart, 0);
	assert_int_equal(sx_backend_cuda.pin(d, p.whole.memory, p.whole.bytes), 0);
	assert_cost(x, d, &p.side_by_side, together, 0);
	sx_backend_cuda.unpin(d, p.left.memory);
	sx_backend_cuda.unpin(d, p.left.memory); /* the second call has no effect */
	assert_cost(x, d, &p.apart, apart, 1);
	sx_backend_cuda.context_destroy(x);
	sx_backend_cuda.close(d); /* closes with buffers that are still pinned */
	pairs_finish(&p);
}

static void test_costs(void **state)
{
	const struct holdings before = holdings();

	check_costs(SX_INPUT_MAPPED, 0, 0);
	check_costs(SX_INPUT_COPY, 2, 1);
	assert_held(&before);
}

/* All ways to pass a pair must give the same grey images. */
static void test_ways_agree(void **state)
{
	const struct sx_context_config config = small();
	struct pairs p;

	fail_nothing();
	pairs_init(&p);
	for (int way = 0; way < 8; way++) {
		const struct sx_pair *pair = way & 1 ? &p.side_by_side : &p.apart;
		struct sx_engine_params params = two_contexts;
		struct sx_image view;
		struct sx_context *x;
		struct sx_device *d;

		params.input = way & 2 ? SX_INPUT_MAPPED : SX_INPUT_COPY;
		d = open_device(&params);
		x = make_context(d, &config);
		if (way & 4)
			for (int i = 0; i < 3; i++) {
				const struct check_image *img = i == 0	 ? &p.left
								: i == 1 ? &p.right
									 : &p.whole;

				assert_int_equal(sx_backend_cuda.pin(d, img->memory, img->bytes), 0);
			}
		run_frame(x, pair);
		assert_int_equal(sx_backend_cuda.peek(x, SX_TAP_LEFT, &view), 0);
		assert_true(check_same("left", 3, &p.apart.left, &view, 0));
		assert_int_equal(sx_backend_cuda.peek(x, SX_TAP_RIGHT, &view), 0);
		assert_true(check_same("right", 3, &p.apart.right, &view, 0));
		assert_int_equal(sx_backend_cuda.peek(x, SX_TAP_SUM, &view), -ENOENT);
		sx_backend_cuda.context_destroy(x);
		sx_backend_cuda.close(d);
	}
	pairs_finish(&p);
}

/*
 * Checks that the frame fails, that the descriptor reports it, and that no result is returned, neither for
 * this frame nor for later ones.
 */
static void assert_frame_fails(struct sx_device *d, struct sx_context *x, const struct sx_pair *pair)
{
	struct pollfd fd = {.fd = sx_backend_cuda.event_fd(x), .events = POLLIN};
	int r = sx_backend_cuda.submit(x, pair, NULL, NULL, NULL);

	if (r == 0) {
		assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
		r = sx_backend_cuda.wait(x, 0);
	}
	assert_int_equal(r, -EIO);
	assert_non_null(strstr(sx_backend_cuda.failure(d), "engine cuda: "));
	assert_int_equal(sx_backend_cuda.submit(x, pair, NULL, NULL, NULL), -EIO);
	assert_int_equal(sx_backend_cuda.wait(x, 0), -ENODATA);
}

static void test_frame_faults(void **state)
{
	static const struct {
		const char *what;
		int nth, code;
	} faults[] = {
		{"kernel", 1, cudaErrorLaunchFailure},
		{"kernel", 9, cudaErrorIllegalAddress},
		{"kernel", 12, cudaErrorECCUncorrectable},
		{"cudaGraphLaunch", 1, cudaErrorLaunchFailure},
		{"cudaGraphLaunch", 1, cudaErrorUnknown},
		{"cudaEventSynchronize", 1, cudaErrorLaunchTimeout},
		{"cudaEventRecord", 1, 0},
		{"copy", 1, cudaErrorIllegalAddress},
		{"cudaMemcpyAsync", 1, cudaErrorInvalidValue},
	};
	const struct sx_context_config config = small();
	const struct holdings before = holdings();
	struct pairs p;

	pairs_init(&p);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct sx_context *x[2];
		struct sx_device *d;

		fail_nothing();
		d = open_device(&two_contexts);
		x[0] = make_context(d, &config);
		x[1] = make_context(d, &config);
		run_frame(x[0], &p.apart);
		run_frame(x[1], &p.apart);
		fail_at(faults[i].what, faults[i].nth, faults[i].code);
		assert_frame_fails(d, x[0], &p.apart);
		assert_int_equal(sx_backend_cuda.submit(x[1], &p.apart, NULL, NULL, NULL), -EIO);
		sx_backend_cuda.context_destroy(x[0]);
		sx_backend_cuda.context_destroy(x[1]);
		sx_backend_cuda.close(d);
		fail_nothing();
	}
	pairs_finish(&p);
	assert_held(&before);
}

/* A frame with motion takes no memory and waits for nothing; if motion was not computed, the frame fails. */
static void test_chain_frames(void **state)
{
	static const char *const calls[] = {
		"cudaSetDevice",
		"cudaGraphLaunch",
		"cudaEventRecord",
		"cudaEventRecordWithFlags",
		"cudaEventSynchronize",
		"cudaStreamWaitEvent",
		"kernel",
		"copy",
		"cudaMemcpyAsync",
		NULL,
	};
	struct sx_context_config config = small_moving();
	const struct holdings before = holdings();
	struct sx_device *d;
	struct sx_context *x;
	struct sx_why why;
	struct pairs p;

	fail_nothing();
	pairs_init(&p);
	d = open_device(&two_contexts);
	assert_int_equal(sx_chain_create(&config.chain, &sx_backend_cuda, d, &config, &why), 0);
	x = make_context(d, &config);
	run_frame(x, &p.apart);
	sx_emulate_reset();
	for (int i = 0; i < FRAMES; i++)
		run_frame(x, &p.apart);
	if (sx_emulate_other_than(calls))
		fail_msg("frames with motion need %s", sx_emulate_other_than(calls));
	assert_int_equal(sx_emulate_count("cudaGraphLaunch"), 2 * FRAMES);
	/* the frame is computed, but its motion leaves the number of another frame */
	assert_int_equal(sx_backend_cuda.submit(x, &p.apart, NULL, NULL, NULL), 0);
	cudaStreamSynchronize(x->stream);
	x->motion.shared->done++;
	assert_int_equal(sx_backend_cuda.wait(x, WAIT_MS), -EIO);
	assert_non_null(strstr(sx_backend_cuda.failure(d), "was not computed"));
	sx_backend_cuda.context_destroy(x);
	sx_backend_cuda.chain_destroy(config.chain);
	config.chain = NULL;
	sx_backend_cuda.close(d);
	pairs_finish(&p);
	assert_held(&before);
}

/* A graph ends without an error, but has left the record of another frame. */
static void test_stale_record(void **state)
{
	const struct sx_context_config config = small();
	struct sx_device *d;
	struct sx_context *x;
	struct pairs p;

	fail_nothing();
	pairs_init(&p);
	d = open_device(&two_contexts);
	x = make_context(d, &config);
	run_frame(x, &p.apart);
	assert_int_equal(sx_backend_cuda.submit(x, &p.apart, NULL, NULL, NULL), 0);
	x->number++;
	assert_int_equal(sx_backend_cuda.wait(x, WAIT_MS), -EIO);
	assert_non_null(strstr(sx_backend_cuda.failure(d), "was not computed"));
	sx_backend_cuda.context_destroy(x);
	sx_backend_cuda.close(d);
	pairs_finish(&p);
}

/* Checks the return values of wait, a pair of the wrong format, and destroying a context that computes. */
static void test_manners(void **state)
{
	const struct sx_context_config config = small();
	const struct holdings before = holdings();
	struct sx_device *d;
	struct sx_context *x;
	struct sx_pair wrong;
	struct pairs p;

	fail_nothing();
	pairs_init(&p);
	d = open_device(&two_contexts);
	x = make_context(d, &config);
	assert_int_equal(sx_backend_cuda.wait(x, 0), -ENODATA);
	wrong = p.apart;
	wrong.right.width--;
	assert_int_equal(sx_backend_cuda.submit(x, &wrong, NULL, NULL, NULL), -EINVAL);
	run_frame(x, &p.apart);
	assert_true(sx_backend_cuda.result(x)->finished_ns > sx_backend_cuda.result(x)->started_ns);
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		assert_true(sx_backend_cuda.result(x)->stage_ns[i] >= 0);
	sx_emulate_reset();
	assert_int_equal(sx_backend_cuda.submit(x, &p.apart, NULL, NULL, NULL), 0);
	sx_backend_cuda.context_destroy(x);
	assert_int_equal(sx_emulate_count("freed in flight"), 0);
	sx_backend_cuda.context_destroy(NULL);
	sx_backend_cuda.close(d);
	sx_backend_cuda.close(NULL);
	pairs_finish(&p);
	assert_held(&before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_context_faults),
		cmocka_unit_test(test_chain_faults),
		cmocka_unit_test(test_chain_frames),
		cmocka_unit_test(test_skipped_kernels),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_memory_limit_fastdt),
		cmocka_unit_test(test_memory_reported),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_ways_agree),
		cmocka_unit_test(test_frame_faults),
		cmocka_unit_test(test_stale_record),
		cmocka_unit_test(test_manners),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
