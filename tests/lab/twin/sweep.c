/*
 * Searches for a load.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/lab/twin/sweep.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "tests/lab/kernels/bench.h"

#define LIMIT_S 3.0 /* s, time limit of the load of one measurement */
#define NEAR 0.03   /* relative distance to the target that is near enough */
#define HALVINGS 6
#define STRENGTHS 7

double twin_sweep_distance(const struct twin_sweep *s, const struct twin_setting *v)
{
	return v->blocks && v->load.lasted ? fabs(v->left.copy / s->target - 1) : 1e9;
}

void twin_sweep_start(const struct twin_sweep *s, const struct twin_setting *v, double seconds)
{
	if (v->blocks) {
		twin_load_keep(s->load, seconds);
		twin_load_start(s->load, v->kind, v->blocks, seconds);
	}
	bench_must(sx_cuda_enter(s->slice), "entering the slice");
}

void twin_sweep_stop(const struct twin_sweep *s, struct twin_load_told *ret)
{
	twin_load_stop(s->load, ret);
	twin_load_release(s->load);
	bench_must(sx_cuda_enter(s->slice), "entering the slice");
}

static void print(const char *name, const struct twin_setting *v)
{
	printf("  %-8s %5d %8.0f | %7.1f %7.1f %7.1f %7.1f %8.0f%s\n", name, v->load.blocks, v->load.gbs,
	       v->left.read, v->left.write, v->left.copy, v->left.cache, v->left.latency_ns,
	       v->load.lasted ? "" : "  (void: the load ended before the probes)");
	fflush(stdout);
}

static void measure(struct twin_sweep *s, struct twin_setting *v)
{
	struct twin_setting *best = &s->best[v->kind < TWIN_FIRST_OF_CACHE ? TWIN_OF_MEMORY : TWIN_OF_CACHE];

	twin_sweep_start(s, v, LIMIT_S);
	twin_probe_all(s->probe, &v->left);
	twin_sweep_stop(s, &v->load);
	print(v->blocks ? twin_kind_name(v->kind) : "none", v);
	if (twin_sweep_distance(s, v) < twin_sweep_distance(s, best))
		*best = *v;
}

/* Measures without a load, and with the held cache alone. */
static void measure_none(struct twin_sweep *s)
{
	struct twin_setting kept = {.load.lasted = true};

	measure(s, &s->none);
	twin_load_keep(s->load, LIMIT_S);
	bench_must(sx_cuda_enter(s->slice), "entering the slice");
	twin_probe_all(s->probe, &kept.left);
	twin_load_release(s->load);
	bench_must(sx_cuda_enter(s->slice), "entering the slice");
	print("kept", &kept);
}

static bool is_late(const struct twin_sweep *s)
{
	return sx_now_ns() > s->end_ns;
}

/* Halves the range between a load that is too weak and one that is too strong. */
static void approach(struct twin_sweep *s, enum twin_kind kind, int weak, int strong)
{
	for (int i = 0; i < HALVINGS && strong - weak > 1 && !is_late(s); i++) {
		struct twin_setting v = {.kind = kind, .blocks = weak + (strong - weak) / 2};

		measure(s, &v);
		if (twin_sweep_distance(s, &v) < NEAR)
			return;
		if (v.left.copy > s->target)
			weak = v.blocks;
		else
			strong = v.blocks;
	}
}

/* Tries stronger and stronger loads until the slice has less than the target. */
static void measure_kind(struct twin_sweep *s, enum twin_kind kind)
{
	const int sms = s->load->sms, most = twin_load_most(s->load, kind);
	const int strengths[STRENGTHS] = {1, sms / 16, sms / 4, sms / 2, sms, 2 * sms, most};
	int weak = 0;

	for (int i = s->quick ? STRENGTHS - 1 : 0; i < STRENGTHS && !is_late(s); i++) {
		struct twin_setting v = {.kind = kind, .blocks = strengths[i]};

		if (v.blocks <= weak || v.blocks > most)
			continue;
		measure(s, &v);
		if (v.left.copy <= s->target) {
			if (!s->quick && twin_sweep_distance(s, &v) > NEAR)
				approach(s, kind, weak, v.blocks);
			return;
		}
		weak = v.blocks;
	}
}

void twin_sweep_run(struct twin_sweep *s)
{
	printf("  GB/s of the load (sums: of what they ask for), then what the slice has: read, write,\n"
	       "  copy, reads of %zu MB again and again, GB/s, and ns of a read that waits for another\n",
	       TWIN_CACHE_BYTES >> 20);
	printf("  %-8s %5s %8s | %7s %7s %7s %7s %8s\n", "load", "blocks", "GB/s", "read", "write", "copy",
	       "cache", "ns");
	measure_none(s);
	for (int k = 0; k < TWIN_KINDS; k++) {
		if (is_late(s)) {
			printf("  out of time: loads from %s on were not tried\n",
			       twin_kind_name((enum twin_kind)k));
			break;
		}
		measure_kind(s, (enum twin_kind)k);
	}
	fflush(stdout);
}
