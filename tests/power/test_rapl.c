/*
 * Tests RAPL: packages and memory, counters that wrap, counters that only root may read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "power/sensor.h"
#include "tests/power/tree.h"

#define RANGE 262143328850 /* uJ, range of a counter of a Xeon */

static const struct sx_power_engine on_cpu;

static void zone(const struct tree *t, const char *folder, const char *name, long long uj)
{
	char path[160];

	snprintf(path, sizeof(path), "/sys/class/powercap/%s/name", folder);
	tree_put(t, path, "%s\n", name);
	snprintf(path, sizeof(path), "/sys/class/powercap/%s/energy_uj", folder);
	tree_put(t, path, "%lld\n", uj);
	snprintf(path, sizeof(path), "/sys/class/powercap/%s/max_energy_range_uj", folder);
	tree_put(t, path, "%lld\n", (long long)RANGE);
}

static void set(const struct tree *t, const char *folder, long long uj)
{
	char path[160];

	snprintf(path, sizeof(path), "/sys/class/powercap/%s/energy_uj", folder);
	tree_put(t, path, "%lld\n", uj);
}

static struct sx_power_sensor *open_it(const struct tree *t, enum sx_power_choice source)
{
	const struct sx_power_params p = {.source = source, .interval_ms = 100, .root = t->root};
	struct sx_power_sensor *s = NULL;
	struct sx_why why = {""};

	if (sx_power_open(&s, &p, &on_cpu, &why) < 0)
		fail_msg("%s", why.text);
	return s;
}

static double joules(struct sx_power_sensor *s)
{
	struct sx_power_reading r;
	struct sx_why why = {""};

	if (sx_power_read(s, &r, &why) < 0)
		fail_msg("%s", why.text);
	assert_true(isnan(r.watts));
	return r.joules;
}

static void refuse(const struct tree *t, int error, const char *words)
{
	const struct sx_power_params p = {.source = SX_POWER_RAPL, .interval_ms = 100, .root = t->root};
	struct sx_power_sensor *s = NULL;
	struct sx_why why = {""};

	assert_int_equal(sx_power_open(&s, &p, &on_cpu, &why), error);
	if (!strstr(why.text, words))
		fail_msg("'%s' does not say '%s'", why.text, words);
}

static void assert_joules(double got, double want)
{
	if (fabs(got - want) > 1e-6)
		fail_msg("%.9g J, not %.9g", got, want);
}

/*
 * Counts packages and their memory. Leaves out zones inside of a package, the whole platform, and the same
 * zones in another interface.
 */
static void a_server(void **state)
{
	struct sx_power_sensor *s;
	struct tree t;

	tree_create(&t);
	zone(&t, "intel-rapl:0", "package-0", 1000000);
	zone(&t, "intel-rapl:0:0", "core", 5);
	zone(&t, "intel-rapl:0:1", "dram", 2000000);
	zone(&t, "intel-rapl:1", "package-1", 3000000);
	zone(&t, "intel-rapl:1:0", "dram", 4000000);
	zone(&t, "intel-rapl:2", "psys", 7);
	zone(&t, "intel-rapl-mmio:0", "package-0", 9);
	tree_put(&t, "/sys/class/powercap/intel-rapl/enabled", "1\n");
	s = open_it(&t, SX_POWER_AUTO);
	assert_string_equal(s->source, "rapl");
	assert_string_equal(s->scope, "2 processors and memory");
	assert_string_equal(s->device, "4 counters of powercap");
	assert_joules(joules(s), 0.0);
	set(&t, "intel-rapl:0", 1500000);
	set(&t, "intel-rapl:0:0", 99000000);
	set(&t, "intel-rapl:0:1", 2250000);
	set(&t, "intel-rapl:1", 3125000);
	set(&t, "intel-rapl:1:0", 4000001);
	set(&t, "intel-rapl:2", 99000000);
	assert_joules(joules(s), 0.875001);
	sx_power_close(s);
	tree_remove(&t);
}

static void counters_wrap(void **state)
{
	struct sx_power_sensor *s;
	struct tree t;

	tree_create(&t);
	zone(&t, "intel-rapl:0", "package-0", RANGE - 250000);
	s = open_it(&t, SX_POWER_RAPL);
	assert_string_equal(s->scope, "processor");
	assert_string_equal(s->device, "1 counter of powercap");
	set(&t, "intel-rapl:0", 500000);
	assert_joules(joules(s), 0.75);
	set(&t, "intel-rapl:0", 600000);
	assert_joules(joules(s), 0.85);
	for (int i = 0; i < 3; i++) {
		set(&t, "intel-rapl:0", RANGE - 100000);
		joules(s);
		set(&t, "intel-rapl:0", 100000);
		joules(s);
	}
	assert_joules(joules(s), 0.35 + 3 * (RANGE / 1e6));
	sx_power_close(s);
	/* without a known range, a smaller value adds no energy */
	tree_delete(&t, "/sys/class/powercap/intel-rapl:0/max_energy_range_uj");
	s = open_it(&t, SX_POWER_RAPL);
	set(&t, "intel-rapl:0", 50000);
	assert_joules(joules(s), 0.0);
	set(&t, "intel-rapl:0", 75000);
	assert_joules(joules(s), 0.025);
	sx_power_close(s);
	tree_remove(&t);
}

/* One unreadable zone makes the reading invalid. The next valid reading contains all of the energy. */
static void a_zone_that_fails(void **state)
{
	struct sx_power_sensor *s;
	struct sx_power_reading r;
	struct sx_why why;
	struct tree t;

	tree_create(&t);
	zone(&t, "intel-rapl:0", "package-0", 1000000);
	zone(&t, "intel-rapl:1", "package-1", 1000000);
	s = open_it(&t, SX_POWER_RAPL);
	set(&t, "intel-rapl:0", 2000000);
	tree_put(&t, "/sys/class/powercap/intel-rapl:1/energy_uj", "garbage\n");
	assert_int_equal(sx_power_read(s, &r, &why), -EINVAL);
	assert_non_null(strstr(why.text, "intel-rapl:1/energy_uj: found 'garbage'"));
	assert_true(isnan(r.joules));
	set(&t, "intel-rapl:1", 1500000);
	assert_joules(joules(s), 1.5);
	tree_delete(&t, "/sys/class/powercap/intel-rapl:1");
	assert_int_equal(sx_power_read(s, &r, &why), -ENOENT);
	sx_power_close(s);
	tree_remove(&t);
}

static void none(void **state)
{
	struct tree t;

	tree_create(&t);
	refuse(&t, -ENODEV, "RAPL) is not in");
	zone(&t, "intel-rapl:0", "psys", 7);
	zone(&t, "intel-rapl:0:0", "dram", 7);
	refuse(&t, -ENODEV, "/sys/class/powercap");
	tree_remove(&t);
}

/* A user other than root gets a sentence that says what to do. */
static void only_root_may(void **state)
{
	char path[160];
	struct tree t;
	bool root = geteuid() == 0;

	tree_create(&t);
	assert_int_equal(chmod(t.root, 0755), 0);
	zone(&t, "intel-rapl:0", "package-0", 1000000);
	snprintf(path, sizeof(path), "%s/sys/class/powercap/intel-rapl:0/energy_uj", t.root);
	assert_int_equal(chmod(path, root ? 0400 : 0), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	refuse(&t, -EACCES, "only root may read it since Linux 5.10; the drop-in power.conf");
	if (root)
		assert_int_equal(seteuid(0), 0);
	tree_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server),	     cmocka_unit_test(counters_wrap),
		cmocka_unit_test(a_zone_that_fails), cmocka_unit_test(none),
		cmocka_unit_test(only_root_may),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
