/*
 * Table of kernel sets, widest first, and the choice among them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/kernel_sets.h"

#include <stdlib.h>
#include <string.h>

static bool every_machine(void)
{
	return true;
}

#ifdef SX_HAVE_AVX2
static bool machine_runs_sse4(void)
{
	return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("popcnt");
}

static bool machine_runs_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
	       __builtin_cpu_supports("fma");
}
#endif

#ifdef SX_HAVE_AVX512
static bool machine_runs_avx512(void)
{
	return machine_runs_avx2() && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
	       __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512dq");
}
#endif

/*
 * The kernel sets. The segmenter has its own vectors for AVX2; its other sets are the same source, compiled
 * for each instruction set.
 */
static const struct sx_kernels kernel_sets[] = {
#ifdef SX_HAVE_AVX512
	{"avx512", &sx_matcher_kernels_avx512, &sx_search_kernels_avx512, &sx_segment_kernels_avx512,
	 &sx_motion_kernels_avx512, machine_runs_avx512},
#endif
#ifdef SX_HAVE_AVX2
	{"avx2", &sx_matcher_kernels_avx2, &sx_search_kernels_avx2, &sx_segment_kernels_avx2,
	 &sx_motion_kernels_avx2, machine_runs_avx2},
	{"sse4", &sx_matcher_kernels_sse4, &sx_search_kernels_sse4, &sx_segment_kernels_sse4,
	 &sx_motion_kernels_sse4, machine_runs_sse4},
#endif
#ifdef SX_HAVE_NEON
	{"neon", &sx_matcher_kernels_neon, &sx_search_kernels_neon, &sx_segment_kernels_plain,
	 &sx_motion_kernels_neon, every_machine},
#endif
	{"plain", &sx_matcher_kernels_plain, &sx_search_kernels_plain, &sx_segment_kernels_plain,
	 &sx_motion_kernels_plain, every_machine},
};
#define KERNEL_SETS (sizeof(kernel_sets) / sizeof(kernel_sets[0]))

const struct sx_kernels *sx_kernels_choose(const char *name)
{
	for (size_t i = 0; i < KERNEL_SETS; i++)
		if ((!name || strcmp(name, kernel_sets[i].name) == 0) && kernel_sets[i].machine_runs())
			return &kernel_sets[i];
	return NULL;
}

const struct sx_kernels *sx_kernels_wanted(const char **name)
{
	const char *simd = getenv("SX_SIMD");

	*name = simd && *simd ? simd : NULL;
	return sx_kernels_choose(*name);
}

const struct sx_kernels *sx_kernels_for(const struct sx_kernels *k, int disparities)
{
	while (disparities % k->matcher->bytes || !k->machine_runs())
		k++; /* ends at plain, whose vectors divide every number of disparities */
	return k;
}
