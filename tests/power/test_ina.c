/*
 * Tests INA monitors: every board by its labels, no rail counted twice, and the error sentences.
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

#include <cmocka.h>

#include "power/sensor.h"
#include "tests/power/tree.h"

#define CLOSE(a, b) assert_true(fabs((a) - (b)) < 1e-9 + 1e-3 * fabs(b))

static const struct sx_power_engine on_cpu;

static struct sx_power_params params(const struct tree *t)
{
	return (struct sx_power_params){.source = SX_POWER_INA, .interval_ms = 100, .root = t->root};
}

/* Opens the sensor. The test fails if this fails. */
static struct sx_power_sensor *open_it(const struct sx_power_params *p)
{
	struct sx_power_sensor *s = NULL;
	struct sx_why why = {""};

	if (sx_power_open(&s, p, &on_cpu, &why) < 0)
		fail_msg("%s", why.text);
	return s;
}

static double watts(struct sx_power_sensor *s)
{
	struct sx_power_reading r;
	struct sx_why why = {""};

	if (sx_power_read(s, &r, &why) < 0)
		fail_msg("%s", why.text);
	assert_true(isnan(r.joules));
	return r.watts;
}

/* Checks that the sensor does not open and that the sentence contains these words. */
static void refuse(const struct sx_power_params *p, int error, const char *words)
{
	struct sx_power_sensor *s = NULL;
	struct sx_why why = {""};

	assert_int_equal(sx_power_open(&s, p, &on_cpu, &why), error);
	assert_null(s);
	if (!strstr(why.text, words))
		fail_msg("'%s' does not say '%s'", why.text, words);
}

static void every_board(void **state)
{
	for (int i = 0; i < tree_board_count; i++) {
		const struct tree_board *b = &tree_boards[i];
		struct sx_power_sensor *s;
		struct sx_power_params p;
		struct tree t;
		double got;

		tree_create(&t);
		tree_make(&t, b);
		p = params(&t);
		p.source = i % 2 ? SX_POWER_AUTO : SX_POWER_INA;
		s = open_it(&p);
		got = watts(s);
		if (fabs(got - tree_total(b)) > 1e-2 || strcmp(s->scope, b->scope) != 0)
			fail_msg("%s: %g W, %s; wanted are %g W, %s", b->name, got, s->scope, tree_total(b),
				 b->scope);
		assert_non_null(strstr(s->device, b->counted[0]));
		assert_non_null(strstr(s->device, "-00"));
		assert_true(strncmp(s->source, "ina", 3) == 0);
		sx_power_close(s);
		tree_remove(&t);
	}
}

/* VDDQ_VDD2_1V8AO is supplied by VIN_SYS_5V0, so the sum of all rails would be too large. */
static void agx_orin_is_not_counted_twice(void **state)
{
	struct tree t;
	struct sx_power_params p;
	struct sx_power_sensor *s;

	tree_create(&t);
	tree_make(&t, tree_board("agx-orin-5"));
	p = params(&t);
	s = open_it(&p);
	CLOSE(watts(s), tree_watts(0) + tree_watts(1) + tree_watts(2));
	assert_string_equal(s->device, "VDD_GPU_SOC, VDD_CPU_CV, VIN_SYS_5V0 at 1-0040");
	assert_int_equal(s->least_ms, 1);
	sx_power_close(s);
	tree_remove(&t);
}

static void six_rails_of_two_chips_are_told(void **state)
{
	struct tree t;
	struct sx_power_params p;
	struct sx_power_sensor *s;

	tree_create(&t);
	tree_make(&t, tree_board("agx-xavier-5"));
	p = params(&t);
	s = open_it(&p);
	assert_string_equal(s->device, "GPU, CPU, SOC at 1-0040; CV, VDDRQ, SYS5V at 1-0041");
	sx_power_close(s);
	tree_remove(&t);
}

static void rails_can_be_chosen(void **state)
{
	struct tree t;
	struct sx_power_params p;
	struct sx_power_sensor *s;

	tree_create(&t);
	tree_make(&t, tree_board("tx2"));
	p = params(&t);
	p.rails = " VDD_IN,VDD_MUX ";
	s = open_it(&p);
	CLOSE(watts(s), tree_watts(3) + tree_watts(6));
	assert_string_equal(s->scope, "sum of 2 rails");
	sx_power_close(s);
	p.rails = "VDD_SYS_GPU";
	s = open_it(&p);
	CLOSE(watts(s), tree_watts(0));
	assert_string_equal(s->scope, "rail VDD_SYS_GPU");
	sx_power_close(s);
	p.rails = "VDD_IN VDD_MIX";
	refuse(&p, -EINVAL, "unknown rail 'VDD_MIX', available: VDD_SYS_GPU, VDD_SYS_SOC,");
	p.rails = "VDD_IN VDD_IN";
	refuse(&p, -EINVAL, "'VDD_IN' is listed twice");
	p.rails = ", ";
	refuse(&p, -EINVAL, "lists no rail");
	p.rails = "VDD_SYS_GPU VDD_SYS_SOC VDD_4V0_WIFI VDD_IN VDD_SYS_CPU VDD_SYS_DDR VDD_MUX VDD_1V8_IO "
		  "VDD_3V3_SYS";
	refuse(&p, -EINVAL, "more than 8 rails");
	tree_remove(&t);
}

static void no_monitor(void **state)
{
	char longer[300] = "";
	struct tree t;
	struct sx_power_params p;

	tree_create(&t);
	p = params(&t);
	refuse(&p, -ENODEV, "no INA power monitor");
	tree_put(&t, "/sys/class/hwmon/hwmon0/name", "coretemp\n");
	refuse(&p, -ENODEV, "no INA power monitor");
	p.source = SX_POWER_AUTO;
	refuse(&p, -ENODEV, "RAPL");
	p.source = SX_POWER_NONE;
	refuse(&p, -ENODEV, "power.source = none");
	p = params(&t);
	p.root = "/nowhere/at/all";
	refuse(&p, -EINVAL, "power.root: /nowhere/at/all: No such file or directory");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	p.root = longer;
	refuse(&p, -EINVAL, "File name too long");
	tree_remove(&t);
}

static void boards_that_nobody_knows(void **state)
{
	struct tree t;
	struct sx_power_params p;
	struct sx_power_sensor *s;

	tree_create(&t);
	tree_put(&t, "/sys/class/hwmon/hwmon0/name", "ina3221\n");
	p = params(&t);
	refuse(&p, -EINVAL, "1 INA monitor, but no rail with a name");
	tree_put(&t, "/sys/class/hwmon/hwmon0/in1_label", "NC\n");
	refuse(&p, -EINVAL, "no rail with a name");
	tree_put(&t, "/sys/class/hwmon/hwmon0/in2_label", "MOTOR\n");
	tree_put(&t, "/sys/class/hwmon/hwmon0/in2_input", "12000\n");
	tree_put(&t, "/sys/class/hwmon/hwmon0/curr2_input", "250\n");
	refuse(&p, -EINVAL, "set power.rails; available: MOTOR");
	/* auto finds no other sensor, so its sentence begins with the INA monitor that it found */
	p.source = SX_POWER_AUTO;
	refuse(&p, -EINVAL, "it is not known which rails");
	p.rails = "MOTOR";
	s = open_it(&p);
	CLOSE(watts(s), 3.0);
	assert_string_equal(s->device, "MOTOR at hwmon0"); /* the bus is unknown */
	sx_power_close(s);
	tree_remove(&t);
}

static void a_label_is_missing(void **state)
{
	struct tree t;
	struct sx_power_params p;

	tree_create(&t);
	tree_make(&t, tree_board("agx-orin-5"));
	p = params(&t);
	tree_delete(&t, "/sys/class/hwmon/hwmon9/in2_label");
	refuse(&p, -EINVAL, "'VDD_CPU_CV' is missing; there are: VDD_GPU_SOC, VIN_SYS_5V0, VDDQ_VDD2_1V8AO");
	tree_put(&t, "/sys/class/hwmon/hwmon9/in2_label", "NC\n");
	refuse(&p, -EINVAL, "'VDD_CPU_CV' is missing");
	tree_put(&t, "/sys/class/hwmon/hwmon9/in2_label", "VDD_GPU_SOC\n");
	refuse(&p, -EINVAL, "several rails are called 'VDD_GPU_SOC'");
	p.rails = "VDD_GPU_SOC";
	refuse(&p, -EINVAL, "several rails are called 'VDD_GPU_SOC'");
	tree_remove(&t);
}

/*
 * One bad file is an error, because a sum without one part is wrong. The error sentence has the file's name and
 * content.
 */
static void values_that_cannot_be(void **state)
{
	static const struct {
		const char *text, *words;
	} bad[] = {
		{"", "found '', expected a whole number"},
		{"12,5\n", "found '12,5'"},
		{"0x10\n", "found '0x10'"},
		{"1.5\n", "found '1.5'"},
		{"-\n", "found '-'"},
		{"99999999999999999999\n", "found '99999999999999999999'"},
		{"5000 mV\n", "found '5000 mV'"},
		{"-1\n", "-1 is out of range 0..100000"},
		{"100001\n", "100001 is out of range"},
	};
	struct sx_power_reading r;
	struct sx_power_sensor *s;
	struct sx_power_params p;
	struct sx_why why;
	struct tree t;

	tree_create(&t);
	tree_make(&t, tree_board("agx-orin-5"));
	p = params(&t);
	s = open_it(&p);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_put(&t, "/sys/class/hwmon/hwmon9/in2_input", "%s", bad[i].text);
		assert_int_equal(sx_power_read(s, &r, &why), -EINVAL);
		assert_true(isnan(r.watts) && isnan(r.joules));
		assert_non_null(strstr(why.text, "/sys/class/hwmon/hwmon9/in2_input: "));
		if (!strstr(why.text, bad[i].words))
			fail_msg("'%s' does not say '%s'", why.text, bad[i].words);
		refuse(&p, -EINVAL, bad[i].words); /* opening fails as well */
	}
	tree_put(&t, "/sys/class/hwmon/hwmon9/in2_input", " 5250 \n");
	CLOSE(watts(s), tree_total(tree_board("agx-orin-5")));
	tree_delete(&t, "/sys/class/hwmon/hwmon9/curr3_input");
	assert_int_equal(sx_power_read(s, &r, &why), -ENOENT);
	assert_non_null(strstr(why.text, "curr3_input: No such file or directory"));
	tree_put(&t, "/sys/class/hwmon/hwmon9/curr3_input/x", "\n"); /* a folder in place of the file */
	assert_true(sx_power_read(s, &r, &why) < 0);
	assert_non_null(strstr(why.text, "curr3_input: Is a directory"));
	sx_power_close(s);
	tree_remove(&t);
}

/* Shunts have offsets, so a rail at rest may read a little below 0 A. The sum may not be negative. */
static void currents_below_nothing(void **state)
{
	struct sx_power_reading r;
	struct sx_power_sensor *s;
	struct sx_power_params p;
	struct sx_why why;
	struct tree t;

	tree_create(&t);
	tree_make(&t, tree_board("thor-module"));
	tree_put(&t, "/sys/class/hwmon/hwmon9/curr1_input", "-80\n");
	p = params(&t);
	s = open_it(&p);
	CLOSE(watts(s), tree_watts(1) + tree_watts(2) - 5.0 * 0.08);
	tree_put(&t, "/sys/class/hwmon/hwmon9/curr1_input", "-10000\n");
	assert_int_equal(sx_power_read(s, &r, &why), -ERANGE);
	assert_non_null(strstr(why.text, "below zero"));
	assert_true(isnan(r.watts));
	sx_power_close(s);
	tree_remove(&t);
}

/* A chip disappears and returns under the same name or another. */
static void unplugged(void **state)
{
	const struct tree_board *b = tree_board("orin-nano");
	struct sx_power_sensor *s, *again;
	struct sx_power_reading r;
	struct sx_power_params p;
	struct sx_why why;
	struct tree t;

	tree_create(&t);
	tree_make(&t, b);
	p = params(&t);
	s = open_it(&p);
	tree_delete(&t, "/sys/class/hwmon/hwmon9");
	assert_int_equal(sx_power_read(s, &r, &why), -ENOENT);
	refuse(&p, -ENODEV, "no INA power monitor");
	tree_put(&t, "/sys/class/hwmon/hwmon12/name", "ina3221\n");
	tree_put(&t, "/sys/class/hwmon/hwmon12/in1_label", "VDD_IN\n");
	tree_put(&t, "/sys/class/hwmon/hwmon12/in1_input", "5000\n");
	tree_put(&t, "/sys/class/hwmon/hwmon12/curr1_input", "2000\n");
	assert_int_equal(sx_power_read(s, &r, &why), -ENOENT);
	again = open_it(&p);
	CLOSE(watts(again), 10.0);
	sx_power_close(again);
	sx_power_close(s);
	sx_power_close(NULL);
	tree_remove(&t);
}

/* INA228 and similar chips count energy in hardware. */
static void a_chip_that_counts(void **state)
{
	struct sx_power_reading r;
	struct sx_power_sensor *s;
	struct sx_power_params p;
	struct sx_why why = {""};
	struct tree t;

	tree_create(&t);
	tree_make(&t, tree_board("thor"));
	tree_put(&t, "/sys/class/hwmon/hwmon10/name", "ina228\n");
	tree_put(&t, "/sys/class/hwmon/hwmon10/energy1_input", "123456789\n");
	p = params(&t);
	s = open_it(&p);
	assert_string_equal(s->source, "ina228");
	assert_int_equal(sx_power_read(s, &r, &why), 0);
	CLOSE(r.joules, 123.456789);
	CLOSE(r.watts, tree_watts(3));
	tree_put(&t, "/sys/class/hwmon/hwmon10/energy1_input", "much\n");
	assert_int_equal(sx_power_read(s, &r, &why), -EINVAL);
	assert_non_null(strstr(why.text, "energy1_input: found 'much'"));
	sx_power_close(s);
	tree_remove(&t);
}

/* The label may be in the device's file, the voltage's file or the device tree. */
static void labels_of_single_chips(void **state)
{
	struct sx_power_sensor *s;
	struct sx_power_params p;
	struct tree t;

	tree_create(&t);
	tree_make(&t, tree_board("thor"));
	p = params(&t);
	tree_delete(&t, "/sys/class/hwmon/hwmon10/label");
	s = open_it(&p);
	assert_string_equal(s->scope, "sum of 3 rails"); /* no label marks this rail as the input */
	sx_power_close(s);
	tree_put(&t, "/sys/class/hwmon/hwmon10/in1_label", "VIN\n");
	s = open_it(&p);
	assert_string_equal(s->scope, "board");
	sx_power_close(s);
	tree_delete(&t, "/sys/class/hwmon/hwmon10/in1_label");
	tree_put(&t, "/sys/bus/i2c/devices/2-0044/of_node/label", "VIN%c", 0);
	s = open_it(&p);
	assert_string_equal(s->scope, "board");
	sx_power_close(s);
	tree_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_board),
		cmocka_unit_test(agx_orin_is_not_counted_twice),
		cmocka_unit_test(six_rails_of_two_chips_are_told),
		cmocka_unit_test(rails_can_be_chosen),
		cmocka_unit_test(no_monitor),
		cmocka_unit_test(boards_that_nobody_knows),
		cmocka_unit_test(a_label_is_missing),
		cmocka_unit_test(values_that_cannot_be),
		cmocka_unit_test(currents_below_nothing),
		cmocka_unit_test(unplugged),
		cmocka_unit_test(a_chip_that_counts),
		cmocka_unit_test(labels_of_single_chips),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
