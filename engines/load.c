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

#include "gpu/module.h"

#define MODULE_NAME "stixel-cuda.so"
#define BUILD_DEPTH 4 /* largest number of folders between a program and the top of its build tree */

/* Replaces path by the folder above it, in place. False: there is none. */
static bool cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

/* Writes the path of the module in the program's build tree. False: the program is not in a build tree. */
static bool find_in_build(char *path, size_t bytes)
{
	char top[PATH_MAX], mark[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", top, sizeof(top) - 1);

	if (n <= 0)
		return false;
	top[n] = '\0';
	for (int i = 0; i < BUILD_DEPTH && cut_last(top); i++) {
		snprintf(mark, sizeof(mark), "%s/build.ninja", top);
		if (access(mark, F_OK) == 0)
			return (size_t)snprintf(path, bytes, "%s/gpu/" MODULE_NAME, top) < bytes;
	}
	return false;
}

static void find_module(char *path, size_t bytes)
{
	const char *override = secure_getenv("STIXEL_MODULE_PATH");

	if (override && *override)
		snprintf(path, bytes, "%s", override);
	else if (!find_in_build(path, bytes))
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
