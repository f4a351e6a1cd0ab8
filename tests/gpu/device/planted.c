/*
 * A module of the CUDA engine with a planted fault: it passes every call to the module that
 * STIXEL_PLANTED_MODULE names, but one variant, checkpoint, changes the lowest bit of one disparity. It shows
 * that check_device finds such a fault and names the variant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/module.h"

#define WRONG_MAX 8

const struct sx_module sx_module_cuda = SX_MODULE_OF_THIS_BUILD;
struct sx_backend sx_backend_planted __asm__(SX_MODULE_BACKEND_SYMBOL);

static const struct sx_backend *real;
static const struct sx_device *wrong_device;
static const struct sx_context *wrong[WRONG_MAX]; /* contexts of wrong_device */

static int planted_open(struct sx_device **ret, const struct sx_engine_params *p, struct sx_why *why)
{
	const int r = real->open(ret, p, why);

	if (r == 0 && p->volume == SX_VOLUME_CHECKPOINT)
		wrong_device = *ret;
	return r;
}

static int planted_context_create(struct sx_context **ret, struct sx_device *d,
				  const struct sx_context_config *c, struct sx_why *why)
{
	const int r = real->context_create(ret, d, c, why);

	for (int i = 0; r == 0 && d == wrong_device && i < WRONG_MAX; i++)
		if (!wrong[i]) {
			wrong[i] = *ret;
			break;
		}
	return r;
}

static void planted_context_destroy(struct sx_context *x)
{
	for (int i = 0; i < WRONG_MAX; i++)
		if (wrong[i] == x)
			wrong[i] = NULL;
	real->context_destroy(x);
}

static int planted_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view)
{
	const int r = real->peek(x, tap, view);

	for (int i = 0; r == 0 && tap == SX_TAP_DISPARITY && i < WRONG_MAX; i++)
		if (wrong[i] == x)
			*(uint8_t *)view->data ^= 1;
	return r;
}

__attribute__((constructor)) static void load(void)
{
	const char *path = getenv("STIXEL_PLANTED_MODULE");
	void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	real = handle ? dlsym(handle, SX_MODULE_BACKEND_SYMBOL) : NULL;
	if (!real) {
		fprintf(stderr, "STIXEL_PLANTED_MODULE: %s\n", path ? dlerror() : "not set");
		abort();
	}
	sx_backend_planted = *real;
	sx_backend_planted.open = planted_open;
	sx_backend_planted.context_create = planted_context_create;
	sx_backend_planted.context_destroy = planted_context_destroy;
	sx_backend_planted.peek = planted_peek;
}
