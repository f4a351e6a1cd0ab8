/*
 * Engines under test, opened with each kind of vectors that this machine has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/cpu/simd_case.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/why.h"
#include "cpu/engine/engine.h"

const char *const simd_names[SIMD_COUNT] = {"plain", "sse4", "avx2", "avx512", "neon"};
const char *simds[SIMD_COUNT];
int simd_count;

bool run_open(struct run *r, const struct sx_backend *backend, const char *simd, int threads)
{
	struct sx_engine_params p = {.threads = threads};
	struct sx_why why = {""};
	int result;

	*r = (struct run){.backend = backend};
	if (simd)
		setenv("SX_SIMD", simd, 1);
	result = backend->open(&r->device, &p, &why);
	unsetenv("SX_SIMD");
	if (simd && result == -EINVAL && strstr(why.text, "SX_SIMD"))
		return false;
	if (result < 0)
		fail_msg("open: %s", why.text);
	return true;
}

int find_simds(void **state)
{
	(void)state;
	for (int i = 0; i < SIMD_COUNT; i++) {
		struct run r;

		if (!run_open(&r, &sx_backend_cpu, simd_names[i], 1))
			continue;
		r.backend->close(r.device);
		simds[simd_count++] = simd_names[i];
	}
	return simd_count ? 0 : -1;
}
