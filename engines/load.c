/*
 * Finds and loads the module of the CUDA engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engines/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program_place.h"
#include "gpu/module.h"

#define MODULE_NAME "stixel-cuda.so"

static void find_module(char *path, size_t bytes)
{
	const char *override = secure_getenv("STIXEL_MODULE_PATH");
	char top[PATH_MAX - 32];

	if (override && *override)
		snprintf(path, bytes, "%s", override);
	else if (sx_program_build_tree(top, sizeof(top)))
		snprintf(path, bytes, "%s/gpu/" MODULE_NAME, top);
	else
		snprintf(path, bytes, "%s/%s", SX_MODULE_DIR, MODULE_NAME);
}

static int check(void *handle, const char *path, const struct sx_backend **ret, struct sx_why *why)
{
	static const struct sx_module mine = SX_MODULE_OF_THIS_BUILD;
	const struct sx_module *its = dlsym(handle, SX_MODULE_SYMBOL);
	const struct sx_backend *backend = dlsym(handle, SX_MODULE_BACKEND_SYMBOL);

	if (!its || !backend)
		return sx_why_fail(-ENOEXEC, why, "%s is not an engine of this program: it has no %s", path,
				   its ? SX_MODULE_BACKEND_SYMBOL : SX_MODULE_SYMBOL);
	if (strncmp(its->version, mine.version, sizeof(mine.version)) != 0)
		return sx_why_fail(-ENOEXEC, why, "%s belongs to version %.*s, this is %s", path,
				   (int)sizeof(its->version), its->version, mine.version);
	if (memcmp(its->sizes, mine.sizes, sizeof(mine.sizes)) != 0)
		return sx_why_fail(-ENOEXEC, why,
				   "%s was built from other sources of version %s than this program", path,
				   mine.version);
	*ret = backend;
	return 0;
}

bool sx_cuda_installed(void)
{
	const char *override = secure_getenv("STIXEL_MODULE_PATH");
	char path[PATH_MAX];

	find_module(path, sizeof(path));
	return (override && *override) || access(path, F_OK) == 0;
}

int sx_cuda_load(const struct sx_backend **ret, struct sx_why *why)
{
	char path[PATH_MAX];
	void *handle;

	find_module(path, sizeof(path));
	if (access(path, F_OK) < 0)
		return sx_why_fail(-ENOENT, why, "the CUDA engine is not installed (%s: %s)", path,
				   strerror(errno));
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		const char *error = dlerror();

		return sx_why_fail(-ENOEXEC, why, "the CUDA engine cannot be loaded: %s",
				   error ? error : path);
	}
	/* Never closed: a CUDA runtime that has run cannot be unloaded. */
	return check(handle, path, ret, why);
}
