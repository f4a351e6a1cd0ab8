/*
 * Helpers shared by the tests of the whole CUDA engine: a device for each flow of data, a device of the
 * reference, and a frame on them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/gpu/host/engine_flows.h"
#ifdef SX_EMULATE
#include "base/why.h"
#include "tests/gpu/emulate/emulate.h"
#endif

const struct engine_flow engine_flows[ENGINE_FLOWS] = {
	{"stored, copy", SX_VOLUME_STORED, SX_INPUT_COPY},
	{"checkpoint, copy", SX_VOLUME_CHECKPOINT, SX_INPUT_COPY},
	{"stored, mapped", SX_VOLUME_STORED, SX_INPUT_MAPPED},
	{"checkpoint, mapped", SX_VOLUME_CHECKPOINT, SX_INPUT_MAPPED},
	{"counted, copy", SX_VOLUME_RECOMPUTE, SX_INPUT_COPY},
};

const struct sx_backend *const cuda = &sx_backend_cuda;
struct sx_device *reference, *devices[ENGINE_FLOWS];
bool full;
int repeat = REPEAT;
unsigned long checks;

static int open_flow(int flow, struct sx_why *why)
{
	struct sx_engine_params p = {.contexts = 4,
				     .threads = 1,
				     .volume = engine_flows[flow].volume,
				     .input = engine_flows[flow].input};

	return cuda->open(&devices[flow], &p, why);
}

int open_devices(void **state)
{
	struct sx_engine_params p = {.threads = 1};
	struct sx_why why = {""};

	if (sx_backend_reference.open(&reference, &p, &why) < 0)
		fail_msg("reference: %s", why.text);
	for (int flow = 0; flow < ENGINE_FLOWS; flow++)
		if (!devices[flow] && open_flow(flow, &why) < 0)
			fail_msg("%s: %s", engine_flows[flow].name, why.text);
	return 0;
}

/* Closes the devices. Fails if resources of a context are left. */
int close_devices(void **state)
{
	for (int flow = 0; flow < ENGINE_FLOWS; flow++) {
		cuda->close(devices[flow]);
		devices[flow] = NULL;
	}
	sx_backend_reference.close(reference);
#ifdef SX_EMULATE
	assert_int_equal(sx_emulate_count("device bytes"), 0);
	assert_int_equal(sx_emulate_count("pinned bytes"), 0);
#endif
	return 0;
}

struct sx_context *context_of(const struct sx_backend *backend, struct sx_device *device,
			      const struct engine_case *t, bool keep_volume)
{
	struct sx_context *x = engine_case_context(backend, device, t, keep_volume);

	assert_non_null(x);
	return x;
}

void run_frame(const struct sx_backend *backend, struct sx_context *x, const struct engine_frame *f,
	       const struct sx_road *previous)
{
	assert_int_equal(backend->submit(x, &f->pair, previous, NULL, NULL), 0);
	assert_int_equal(backend->wait(x, -1), 1);
}

bool same(const struct engine_case *t, const struct sx_context *want, const struct sx_context *got,
	  const char *how, bool volume)
{
	checks++;
	return engine_case_same(t, (struct engine_output){&sx_backend_reference, want},
				(struct engine_output){cuda, got}, how, volume);
}

struct engine_case small_one(uint64_t seed)
{
	struct engine_case t = engine_case_small(seed);

	t.params.stereo.disparities = 32;
	return t;
}

int read_arguments(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (strcmp(argv[i], "--full") == 0)
			full = true;
		else if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc)
			repeat = (int)strtol(argv[++i], NULL, 10);
		else
			exit(64);
	}
	return i;
}
