/*
 * Tests the board's facts: its model, power mode and clocks, each by the file names that boards and kernels
 * use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "power/board.h"
#include "tests/power/tree.h"

static void every_board(void **state)
{
	for (int i = 0; i < tree_board_count; i++) {
		struct sx_board b;
		struct tree t;

		tree_create(&t);
		tree_make(&t, &tree_boards[i]);
		sx_board_read(&b, t.root);
		assert_string_equal(b.model, tree_boards[i].model);
		assert_int_equal(b.gpu_hz, 612000000);
		assert_int_equal(b.gpu_max_hz, 1300500000);
		assert_int_equal(b.mode_id, -1);
		assert_int_equal(b.memory_hz, -1);
		tree_remove(&t);
	}
}

static void nothing_known(void **state)
{
	struct sx_board b;
	struct tree t;

	tree_create(&t);
	sx_board_read(&b, t.root);
	assert_string_equal(b.model, "");
	assert_string_equal(b.mode, "");
	assert_string_equal(b.governor, "");
	assert_true(b.mode_id == -1 && b.cpu_hz == -1 && b.cpu_max_hz == -1);
	assert_true(b.gpu_hz == -1 && b.gpu_max_hz == -1 && b.memory_hz == -1);
	tree_remove(&t);
	sx_board_read(&b, NULL); /* reads this real machine, whatever it is */
	assert_true(b.cpu_hz == -1 || b.cpu_hz > 100000);
}

static void a_pc(void **state)
{
	struct sx_board b;
	struct tree t;

	tree_create(&t);
	tree_put(&t, "/sys/class/dmi/id/sys_vendor", "LENOVO\n");
	sx_board_read(&b, t.root);
	assert_string_equal(b.model, "LENOVO");
	tree_put(&t, "/sys/class/dmi/id/product_name", "20Y0\n");
	tree_put(&t, "/sys/class/devfreq/i915/cur_freq", "1\n"); /* a GPU that stixeld does not compute on */
	sx_board_read(&b, t.root);
	assert_string_equal(b.model, "LENOVO 20Y0");
	assert_int_equal(b.gpu_hz, -1);
	tree_remove(&t);
}

static void power_modes(void **state)
{
	struct sx_board b;
	struct tree t;

	tree_create(&t);
	tree_put(&t, "/var/lib/nvpmodel/status", "pmode:0002\n");
	sx_board_read(&b, t.root);
	assert_int_equal(b.mode_id, 2);
	assert_string_equal(b.mode, "");
	tree_put(&t, "/etc/nvpmodel.conf",
		 "# modes\n< PARAM TYPE=FILE NAME=CPU_ONLINE >\n< POWER_MODEL ID=0 NAME=MAXN >\n"
		 "CPU_ONLINE CORE_0 1\n< POWER_MODEL ID=2 NAME=MODE_30W_ALL>\n< POWER_MODEL ID=21 NAME=OTHER "
		 ">\n");
	sx_board_read(&b, t.root);
	assert_string_equal(b.mode, "MODE_30W_ALL");
	tree_put(&t, "/var/lib/nvpmodel/status", "pmode:0000 fmode:quiet\n");
	sx_board_read(&b, t.root);
	assert_int_equal(b.mode_id, 0);
	assert_string_equal(b.mode, "MAXN");
	tree_put(&t, "/var/lib/nvpmodel/status", "pmode:none\n");
	sx_board_read(&b, t.root);
	assert_int_equal(b.mode_id, -1);
	assert_string_equal(b.mode, "");
	tree_remove(&t);
}

static void clocks(void **state)
{
	static const char policy[] = "/sys/devices/system/cpu/cpufreq/policy";
	static const int khz[] = {729600, 1728000, 1190400};
	struct sx_board b;
	char path[128];
	struct tree t;

	tree_create(&t);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%d/scaling_cur_freq", policy, 4 * i);
		tree_put(&t, path, "%d\n", khz[i]);
		snprintf(path, sizeof(path), "%s%d/scaling_max_freq", policy, 4 * i);
		tree_put(&t, path, "%d\n", 2201600);
		snprintf(path, sizeof(path), "%s%d/scaling_governor", policy, 4 * i);
		tree_put(&t, path, "schedutil\n");
	}
	sx_board_read(&b, t.root);
	assert_int_equal(b.cpu_hz, 1728000000);
	assert_int_equal(b.cpu_max_hz, 2201600000);
	assert_string_equal(b.governor, "schedutil");
	tree_put(&t, path, "performance\n");
	sx_board_read(&b, t.root);
	assert_string_equal(b.governor, "mixed");
	tree_put(&t, "/sys/devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "<unknown>\n");
	sx_board_read(&b, t.root);
	assert_int_equal(b.cpu_hz, 1190400000);
	tree_put(&t, "/sys/kernel/debug/clk/emc/clk_rate", "1600000000\n");
	sx_board_read(&b, t.root);
	assert_int_equal(b.memory_hz, 1600000000);
	tree_put(&t, "/sys/kernel/debug/bpmp/debug/clk/emc/rate", "3199000000\n");
	sx_board_read(&b, t.root);
	assert_int_equal(b.memory_hz, 3199000000);
	tree_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_board), cmocka_unit_test(nothing_known), cmocka_unit_test(a_pc),
		cmocka_unit_test(power_modes), cmocka_unit_test(clocks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
