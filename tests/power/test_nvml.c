/*
 * Tests NVML with a fake library: counters before watts, the choice of the card, and all failures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "power/sensor.h"
#include "tests/power/fake_nvml.h"

#define UUID "GPU-01234567-89ab-cdef-0123-456789abcdef"

static struct fake_nvml *fake;
static struct fake_nvml fresh;
static const struct sx_power_engine on_card = {.gpu = true, .bus_id = "0000:1b:00.0"};
static const struct sx_power_engine on_some_gpu = {.gpu = true};
static const struct sx_power_engine on_cpu;

static int find_library(void **state)
{
	void *handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	fake = handle ? dlsym(handle, "fake_nvml") : NULL;
	if (!fake)
		return -1;
	fresh = *fake;
	return 0;
}

static int reset(void **state)
{
	*fake = fresh;
	return 0;
}

/* Checks that NVML was stopped as often as it was started. */
static int check_stopped(void **state)
{
	return fake->starts == fake->stops ? 0 : -1;
}

static int open_with(struct sx_power_sensor **s, enum sx_power_choice source, const char *gpu,
		     const struct sx_power_engine *engine, struct sx_why *why)
{
	/* a folder without sensors, so that auto finds no board */
	const struct sx_power_params p = {
		.source = source, .interval_ms = 100, .gpu = gpu, .root = "/proc/self/task"};

	*s = NULL;
	sx_why_clear(why);
	return sx_power_open(s, &p, engine, why);
}

static void refuse(const char *gpu, const struct sx_power_engine *engine, int error, const char *words)
{
	struct sx_power_sensor *s;
	struct sx_why why;

	assert_int_equal(open_with(&s, SX_POWER_NVML, gpu, engine, &why), error);
	assert_null(s);
	if (!strstr(why.text, words))
		fail_msg("'%s' does not say '%s'", why.text, words);
}

static void energy_comes_first(void **state)
{
	struct sx_power_sensor *s;
	struct sx_power_reading r;
	struct sx_why why;

	atomic_store(&fake->mj, 5000250ull);
	atomic_store(&fake->mw, 700000u);
	assert_int_equal(open_with(&s, SX_POWER_AUTO, NULL, &on_card, &why), 0);
	assert_string_equal(s->source, "nvml");
	assert_string_equal(s->scope, "GPU board");
	assert_string_equal(s->device, "NVIDIA Played 9000 at 0000:1b:00.0, energy counter");
	assert_string_equal(fake->asked, "bus 0000:1b:00.0");
	atomic_store(&fake->mj, 5000750ull);
	assert_int_equal(sx_power_read(s, &r, &why), 0);
	assert_true(isnan(r.watts) && fabs(r.joules - 5000.75) < 1e-9);
	assert_int_equal(r.gpu_hz, 1980000000);
	assert_int_equal(r.gpu_max_hz, 1980000000);
	assert_int_equal(r.memory_hz, 3201000000);
	sx_power_close(s);
}

/* The card's energy includes that of other processes, so their number is reported. */
static void others_on_the_card(void **state)
{
	static const struct {
		const char *others;
		int expected;
	} cases[] = {{NULL, 0}, {"0", 0}, {"1", 1}, {"5", 5}, {"200", 200}};
	struct sx_power_sensor *s;
	struct sx_power_reading r;
	struct sx_why why;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].others)
			setenv("FAKE_NVML_OTHERS", cases[i].others, 1);
		assert_int_equal(open_with(&s, SX_POWER_AUTO, NULL, &on_card, &why), 0);
		assert_int_equal(sx_power_read(s, &r, &why), 0);
		assert_int_equal(r.others, cases[i].expected);
		sx_power_close(s);
	}
	unsetenv("FAKE_NVML_OTHERS");
}

static void watts_where_nothing_counts(void **state)
{
	struct sx_power_sensor *s;
	struct sx_power_reading r;
	struct sx_why why;

	fake->energy = 3;
	fake->clock = 3;
	atomic_store(&fake->mw, 71250u);
	assert_int_equal(open_with(&s, SX_POWER_NVML, NULL, &on_card, &why), 0);
	assert_non_null(strstr(s->device, ", watts"));
	assert_int_equal(sx_power_read(s, &r, &why), 0);
	assert_true(isnan(r.joules) && fabs(r.watts - 71.25) < 1e-9);
	assert_int_equal(r.gpu_hz, -1);
	fake->power = 15;
	assert_int_equal(sx_power_read(s, &r, &why), -EIO);
	assert_string_equal(why.text, "NVML: power: GPU is lost");
	sx_power_close(s);
	refuse(NULL, &on_card, -EIO, "NVML: power: GPU is lost");
}

/* If the processor computes, auto does not use the watts of a card. */
static void auto_does_not_mix(void **state)
{
	struct sx_power_sensor *s;
	struct sx_why why;

	assert_int_equal(open_with(&s, SX_POWER_AUTO, NULL, &on_cpu, &why), -ENODEV);
	assert_non_null(strstr(why.text, "RAPL"));
	assert_int_equal(fake->starts, 0);
	fake->init = 9;
	assert_int_equal(open_with(&s, SX_POWER_AUTO, NULL, &on_card, &why), -ENODEV);
	assert_non_null(strstr(
		why.text, "NVML cannot be started: Driver Not Loaded; this board has no INA power monitor"));
}

static void which_card(void **state)
{
	struct sx_power_sensor *s;
	struct sx_why why;

	assert_int_equal(open_with(&s, SX_POWER_NVML, NULL, &on_some_gpu, &why), 0);
	assert_string_equal(fake->asked, "index 0");
	assert_string_equal(s->device, "NVIDIA Played 9000, energy counter");
	sx_power_close(s);
	fake->count = 4;
	refuse(NULL, &on_some_gpu, -EINVAL, "4 GPUs: set power.gpu to choose one");
	refuse("4", &on_card, -ENODEV, "NVML: GPU 4: Invalid Argument");
	refuse("first", &on_card, -EINVAL, "power.gpu: found 'first', allowed is an index, a UUID");
	refuse("-1", &on_card, -EINVAL, "power.gpu: found '-1'");
	refuse("GPU-none", &on_card, -ENODEV, "NVML: GPU GPU-none: Not Found");
	refuse("0000:ff:00.0", &on_card, -ENODEV, "NVML: GPU 0000:ff:00.0: Not Found");
	assert_int_equal(open_with(&s, SX_POWER_NVML, "3", &on_card, &why), 0);
	assert_string_equal(fake->asked, "index 3");
	sx_power_close(s);
	assert_int_equal(open_with(&s, SX_POWER_NVML, UUID, &on_cpu, &why), 0);
	assert_string_equal(fake->asked, "uuid " UUID);
	sx_power_close(s);
	assert_int_equal(open_with(&s, SX_POWER_NVML, "0000:1B:00.0", &on_cpu, &why), 0);
	sx_power_close(s);
	fake->count = 0;
	refuse(NULL, &on_some_gpu, -ENODEV, "0 GPUs");
}

static void a_card_that_goes_away(void **state)
{
	struct sx_power_sensor *s;
	struct sx_power_reading r;
	struct sx_why why;

	assert_int_equal(open_with(&s, SX_POWER_NVML, NULL, &on_card, &why), 0);
	fake->energy = 15;
	assert_int_equal(sx_power_read(s, &r, &why), -EIO);
	assert_string_equal(why.text, "NVML: energy: GPU is lost");
	fake->energy = 4;
	assert_int_equal(sx_power_read(s, &r, &why), -EACCES);
	sx_power_close(s);
	refuse(NULL, &on_card, -EACCES, "Insufficient Permissions");
	fake->energy = 0;
	fake->name = 15; /* NVML works without a name of the card */
	assert_int_equal(open_with(&s, SX_POWER_NVML, NULL, &on_card, &why), 0);
	assert_string_equal(s->device, "GPU at 0000:1b:00.0, energy counter");
	sx_power_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(energy_comes_first, reset, check_stopped),
		cmocka_unit_test_setup_teardown(others_on_the_card, reset, check_stopped),
		cmocka_unit_test_setup_teardown(watts_where_nothing_counts, reset, check_stopped),
		cmocka_unit_test_setup_teardown(auto_does_not_mix, reset, check_stopped),
		cmocka_unit_test_setup_teardown(which_card, reset, check_stopped),
		cmocka_unit_test_setup_teardown(a_card_that_goes_away, reset, check_stopped),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, find_library, NULL);
}
