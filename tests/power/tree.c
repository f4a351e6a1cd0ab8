/*
 * Makes sensor trees of boards from a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/power/tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ftw.h>
#include <cmocka.h>

/* Boards with their I2C addresses and labels. docs/use/power.md names the sources. */
const struct tree_board tree_boards[] = {
	{"nano",
	 "NVIDIA Jetson Nano Developer Kit",
	 {{TREE_IIO, "6-0040", {"POM_5V_IN", "POM_5V_GPU", "POM_5V_CPU"}}},
	 "module",
	 {"POM_5V_IN"},
	 "57000000.gpu"},
	{"tx2",
	 "quill",
	 {{TREE_IIO, "0-0040", {"VDD_SYS_GPU", "VDD_SYS_SOC", "VDD_4V0_WIFI"}},
	  {TREE_IIO, "0-0041", {"VDD_IN", "VDD_SYS_CPU", "VDD_SYS_DDR"}},
	  {TREE_IIO, "0-0042", {"VDD_MUX", "VDD_5V0_IO_SYS", "VDD_3V3_SYS"}},
	  {TREE_IIO, "0-0043", {"VDD_3V3_IO_SLP", "VDD_1V8_IO", "VDD_3V3_SYS_M2"}}},
	 "module",
	 {"VDD_IN"},
	 "17000000.gp10b"},
	{"tx2-nx",
	 "lanai-3636",
	 {{TREE_IIO, "7-0040", {"VDD_IN", "VDD_CPU_GPU", "VDD_SOC"}}},
	 "module",
	 {"VDD_IN"},
	 "17000000.gp10b"},
	{"xavier-nx-4",
	 "NVIDIA Jetson Xavier NX Developer Kit",
	 {{TREE_IIO, "7-0040", {"VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC"}}},
	 "module",
	 {"VDD_IN"},
	 "17000000.gv11b"},
	{"xavier-nx-5",
	 "NVIDIA Jetson Xavier NX Developer Kit",
	 {{TREE_HWMON, "7-0040", {"VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC"}}},
	 "module",
	 {"VDD_IN"},
	 "17000000.gv11b"},
	{"agx-xavier-4",
	 "Jetson-AGX",
	 {{TREE_IIO, "1-0040", {"GPU", "CPU", "SOC"}}, {TREE_IIO, "1-0041", {"CV", "VDDRQ", "SYS5V"}}},
	 "sum of 6 rails",
	 {"GPU", "CPU", "SOC", "CV", "VDDRQ", "SYS5V"},
	 "17000000.gv11b"},
	{"agx-xavier-5",
	 "Jetson-AGX",
	 {{TREE_HWMON, "1-0040", {"GPU", "CPU", "SOC"}}, {TREE_HWMON, "1-0041", {"CV", "VDDRQ", "SYS5V"}}},
	 "sum of 6 rails",
	 {"GPU", "CPU", "SOC", "CV", "VDDRQ", "SYS5V"},
	 "17000000.gv11b"},
	{"orin-nano",
	 "NVIDIA Jetson Orin Nano Developer Kit",
	 {{TREE_HWMON, "1-0040", {"VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC"}}},
	 "module",
	 {"VDD_IN"},
	 "17000000.gpu"},
	{"orin-nx",
	 "NVIDIA Jetson Orin NX Engineering Reference Developer Kit",
	 {{TREE_HWMON, "1-0040", {"VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC"}}},
	 "module",
	 {"VDD_IN"},
	 "17000000.ga10b"},
	{"agx-orin-5",
	 "Jetson AGX Orin Developer Kit",
	 {{TREE_HWMON, "1-0040", {"VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"}},
	  {TREE_HWMON, "1-0041", {"NC", "VDDQ_VDD2_1V8AO", "NC"}}},
	 "sum of 3 rails",
	 {"VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"},
	 "17000000.ga10b"},
	{"agx-orin-mainline",
	 "NVIDIA Jetson AGX Orin Developer Kit",
	 {{TREE_HWMON, "1-0040", {"VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"}},
	  {TREE_HWMON, "1-0041", {NULL, "VDDQ_VDD2_1V8AO", NULL}}},
	 "sum of 3 rails",
	 {"VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"},
	 "17000000.gpu"},
	{"thor",
	 "NVIDIA Jetson AGX Thor Developer Kit",
	 {{TREE_HWMON, "2-0040", {"VDD_GPU", "VDD_CPU_SOC_MSS", "VIN_SYS_5V0"}},
	  {TREE_SINGLE, "2-0044", {"VIN"}}},
	 "board",
	 {"VIN"},
	 "gpu-gpc-0"},
	{"thor-module",
	 "NVIDIA Jetson AGX Thor on another carrier",
	 {{TREE_HWMON, "2-0040", {"VDD_GPU", "VDD_CPU_SOC_MSS", "VIN_SYS_5V0"}}},
	 "sum of 3 rails",
	 {"VDD_GPU", "VDD_CPU_SOC_MSS", "VIN_SYS_5V0"},
	 "gpu-gpc-0"},
};
const int tree_board_count = sizeof(tree_boards) / sizeof(tree_boards[0]);

const struct tree_board *tree_board(const char *name)
{
	for (int i = 0; i < tree_board_count; i++)
		if (strcmp(tree_boards[i].name, name) == 0)
			return &tree_boards[i];
	fail_msg("there is no board '%s'", name);
	return NULL;
}

#define TREES 64 /* number of trees at the same time; trees of failed tests stay until the end */

static char trees[TREES][sizeof(((struct tree *)NULL)->root)];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	return remove(path);
}

/* Removes trees that failed tests left behind. A failing test returns in the middle. */
static void remove_rest(void)
{
	for (int i = 0; i < TREES; i++)
		if (*trees[i])
			nftw(trees[i], remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void tree_create(struct tree *t)
{
	static bool registered;
	int free_one = 0;

	if (!registered)
		assert_int_equal(atexit(remove_rest), 0);
	registered = true;
	while (free_one < TREES - 1 && *trees[free_one])
		free_one++;
	snprintf(t->root, sizeof(t->root), "/tmp/stixel-power-XXXXXX");
	assert_non_null(mkdtemp(t->root));
	memcpy(trees[free_one], t->root, sizeof(t->root));
}

void tree_remove(struct tree *t)
{
	for (int i = 0; i < TREES; i++)
		if (strcmp(trees[i], t->root) == 0)
			*trees[i] = '\0';
	assert_int_equal(nftw(t->root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* Makes all folders above a path. */
static void make_folders(const char *path)
{
	char folder[512];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		if (mkdir(folder, 0755) < 0 && errno != EEXIST)
			fail_msg("%s: %s", folder, strerror(errno));
	}
}

void tree_put(const struct tree *t, const char *path, const char *format, ...)
{
	char whole[512];
	va_list args;
	FILE *f;

	snprintf(whole, sizeof(whole), "%s%s", t->root, path);
	make_folders(whole);
	f = fopen(whole, "w");
	if (!f)
		fail_msg("%s: %s", whole, strerror(errno));
	va_start(args, format);
	vfprintf(f, format, args);
	va_end(args);
	assert_int_equal(fclose(f), 0);
}

void tree_delete(const struct tree *t, const char *path)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", t->root, path);
	assert_int_equal(nftw(whole, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static int millivolts(int channel)
{
	return 5000 + 250 * channel;
}

static int milliamperes(int channel)
{
	return 1000 + 330 * channel;
}

double tree_watts(int channel)
{
	return millivolts(channel) * 1e-3 * milliamperes(channel) * 1e-3;
}

static void link_device(const struct tree *t, const char *folder, const char *place)
{
	char path[512], target[128];

	snprintf(path, sizeof(path), "%s%s/device", t->root, folder);
	snprintf(target, sizeof(target), "../../../bus/i2c/devices/%s", place);
	assert_int_equal(symlink(target, path), 0);
}

/* Sets path to folder/name and writes the text to it. */
#define PUT(t, folder, name, ...) \
	(snprintf(path, sizeof(path), "%s/" name, folder), tree_put(t, path, __VA_ARGS__))
#define PUT_N(t, folder, name, n, ...) \
	(snprintf(path, sizeof(path), "%s/" name, folder, n), tree_put(t, path, __VA_ARGS__))

static void make_hwmon(const struct tree *t, const struct tree_chip *c, int number, int first)
{
	char folder[128], path[256];

	snprintf(folder, sizeof(folder), "/sys/class/hwmon/hwmon%d", number);
	PUT(t, folder, "name", "ina3221\n");
	link_device(t, folder, c->place);
	PUT(t, folder, "update_interval", "1\n");
	PUT(t, folder, "in7_label", "sum of shunt voltages\n");
	PUT(t, folder, "in7_input", "40\n");
	for (int i = 0; i < 3; i++) {
		if (c->labels[i])
			PUT_N(t, folder, "in%d_label", i + 1, "%s\n", c->labels[i]);
		PUT_N(t, folder, "in%d_input", i + 1, "%d\n", millivolts(first + i));
		PUT_N(t, folder, "curr%d_input", i + 1, "%d\n", milliamperes(first + i));
		PUT_N(t, folder, "in%d_input", i + 4, "%d\n", 80);
	}
}

static void make_iio(const struct tree *t, const struct tree_chip *c, int number, int first)
{
	char folder[128], path[256];

	snprintf(folder, sizeof(folder), "/sys/bus/i2c/drivers/ina3221x/%s/iio:device%d", c->place, number);
	PUT(t, folder, "name", "ina3221x\n");
	for (int i = 0; i < 3; i++) {
		if (c->labels[i])
			PUT_N(t, folder, "rail_name_%d", i, "%s\n", c->labels[i]);
		PUT_N(t, folder, "in_voltage%d_input", i, "%d\n", millivolts(first + i));
		PUT_N(t, folder, "in_current%d_input", i, "%d\n", milliamperes(first + i));
		PUT_N(t, folder, "in_power%d_input", i, "%.0f\n", tree_watts(first + i) * 1e3);
	}
}

static void make_single(const struct tree *t, const struct tree_chip *c, int number, int channel)
{
	char folder[128], path[256];

	snprintf(folder, sizeof(folder), "/sys/class/hwmon/hwmon%d", number);
	PUT(t, folder, "name", "ina238\n");
	link_device(t, folder, c->place);
	PUT(t, folder, "label", "%s\n", c->labels[0]);
	PUT(t, folder, "in1_input", "%d\n", millivolts(channel));
	PUT(t, folder, "curr1_input", "%d\n", milliamperes(channel));
	PUT(t, folder, "power1_input", "%.0f\n", tree_watts(channel) * 1e6);
}

/*
 * Makes devices that must be ignored: temperatures, fans, and a USB-C supply that reports the negotiated
 * power, not the actual one.
 */
static void make_decoys(const struct tree *t)
{
	tree_put(t, "/sys/class/hwmon/hwmon0/name", "tmp451\n");
	tree_put(t, "/sys/class/hwmon/hwmon0/temp1_input", "41000\n");
	tree_put(t, "/sys/class/hwmon/hwmon1/name", "ucsi_source_psy_2_00081\n");
	tree_put(t, "/sys/class/hwmon/hwmon1/in0_input", "20000\n");
	tree_put(t, "/sys/class/hwmon/hwmon1/curr1_input", "5000\n");
	tree_put(t, "/sys/class/hwmon/hwmon2/name", "pwm_tach\n");
	tree_put(t, "/sys/bus/i2c/drivers/ina3221x/uevent", "\n");
	tree_put(t, "/sys/bus/i2c/drivers/ina3221x/bind", "\n");
}

void tree_make(const struct tree *t, const struct tree_board *b)
{
	char path[256];
	int channel = 0;

	make_decoys(t);
	for (int i = 0; i < 4 && b->chips[i].place; i++, channel += 3) {
		if (b->chips[i].driver == TREE_HWMON)
			make_hwmon(t, &b->chips[i], 9 + i, channel);
		else if (b->chips[i].driver == TREE_IIO)
			make_iio(t, &b->chips[i], i, channel);
		else
			make_single(t, &b->chips[i], 9 + i, channel);
	}
	/* texts of a device tree end in a zero byte */
	tree_put(t, "/sys/firmware/devicetree/base/model", "%s%c", b->model, 0);
	PUT_N(t, "/sys/class/devfreq", "%s/cur_freq", b->gpu, "%d\n", 612000000);
	PUT_N(t, "/sys/class/devfreq", "%s/max_freq", b->gpu, "%d\n", 1300500000);
}

double tree_total(const struct tree_board *b)
{
	double watts = 0;

	for (int i = 0; i < 4 && b->chips[i].place; i++)
		for (int k = 0; k < 3; k++)
			for (int n = 0; n < 6 && b->counted[n]; n++)
				if (b->chips[i].labels[k] &&
				    strcmp(b->chips[i].labels[k], b->counted[n]) == 0)
					watts += tree_watts(3 * i + k);
	return watts;
}
