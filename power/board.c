/*
 * Reads the computer's model, its power mode and its clocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/board.h"

#include <stdio.h>
#include <string.h>

#include "power/files.h"

#define POLICIES_MOST 16 /* a PC has one policy per core, and reading it wakes the core */
#define GPUS_MOST 8
#define KHZ 1000

static const char devfreq[] = "sys/class/devfreq";
static const char cpufreq[] = "sys/devices/system/cpu/cpufreq";

static int64_t read_hz(int64_t unit, const char *path)
{
	struct sx_why why;
	int64_t value;

	return sx_file_number(path, 1, INT64_C(100000000000), &value, &why) < 0 ? -1 : value * unit;
}

static void read_model(struct sx_board *b, const char *root)
{
	/* /proc/device-tree is not used: in a service, /proc may show only processes. */
	char path[SX_FILE_PATH_BYTES], maker[40], name[48];

	sx_file_path(path, "%s/sys/firmware/devicetree/base/model", root);
	if (sx_file_text(path, b->model, sizeof(b->model)) == 0)
		return;
	sx_file_path(path, "%s/sys/class/dmi/id/sys_vendor", root);
	sx_file_text(path, maker, sizeof(maker));
	sx_file_path(path, "%s/sys/class/dmi/id/product_name", root);
	sx_file_text(path, name, sizeof(name));
	snprintf(b->model, sizeof(b->model), "%s%s%s", maker, *maker && *name ? " " : "", name);
}

/* Finds the name of the power mode in lines such as "< POWER_MODEL ID=2 NAME=MODE_30W >". */
static void name_mode(struct sx_board *b, const char *root)
{
	char path[SX_FILE_PATH_BYTES], line[256], name[64];
	FILE *f;
	int id;

	if (!sx_file_path(path, "%s/etc/nvpmodel.conf", root))
		return;
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " < POWER_MODEL ID=%d NAME=%63[^ >\n]", &id, name) == 2 && id == b->mode_id)
			memcpy(b->mode, name, sizeof(b->mode));
	if (f)
		fclose(f);
}

static void read_mode(struct sx_board *b, const char *root)
{
	char path[SX_FILE_PATH_BYTES], text[64];
	int id;

	sx_file_path(path, "%s/var/lib/nvpmodel/status", root);
	if (sx_file_text(path, text, sizeof(text)) < 0 || sscanf(text, "pmode:%d", &id) != 1 || id < 0)
		return;
	b->mode_id = id;
	name_mode(b, root);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void read_cpu(struct sx_board *b, const char *root)
{
	char folder[SX_FILE_PATH_BYTES], path[SX_FILE_PATH_BYTES], governor[32];
	char names[POLICIES_MOST][SX_FILE_NAME_BYTES];
	int count;

	sx_file_path(folder, "%s/%s", root, cpufreq);
	count = sx_file_names(folder, "policy", names, POLICIES_MOST);
	for (int i = 0; i < count; i++) {
		sx_file_path(path, "%s/%s/%s/scaling_cur_freq", root, cpufreq, names[i]);
		b->cpu_hz = larger(b->cpu_hz, read_hz(KHZ, path));
		sx_file_path(path, "%s/%s/%s/scaling_max_freq", root, cpufreq, names[i]);
		b->cpu_max_hz = larger(b->cpu_max_hz, read_hz(KHZ, path));
		sx_file_path(path, "%s/%s/%s/scaling_governor", root, cpufreq, names[i]);
		if (sx_file_text(path, governor, sizeof(governor)) < 0 || !*governor)
			continue;
		if (*b->governor && strcmp(b->governor, governor) != 0)
			snprintf(governor, sizeof(governor), "mixed");
		memcpy(b->governor, governor, sizeof(governor));
	}
}

/*
 * Reads the clocks of the GPU. Boards name it by address and chip, newer boards by its parts: 17000000.ga10b,
 * 17000000.gpu, gpu-gpc-0.
 */
static void read_gpu(struct sx_board *b, const char *root)
{
	static const char *const words[] = {"gpu", "gp10b", "gv11b", "ga10b"};
	char folder[SX_FILE_PATH_BYTES], path[SX_FILE_PATH_BYTES], names[GPUS_MOST * 8][SX_FILE_NAME_BYTES];
	int count;

	sx_file_path(folder, "%s/%s", root, devfreq);
	count = sx_file_names(folder, "", names, GPUS_MOST * 8);
	for (int i = 0; i < count; i++)
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
			if (!strstr(names[i], words[k]))
				continue;
			sx_file_path(path, "%s/%s/%s/cur_freq", root, devfreq, names[i]);
			b->gpu_hz = larger(b->gpu_hz, read_hz(1, path));
			sx_file_path(path, "%s/%s/%s/max_freq", root, devfreq, names[i]);
			b->gpu_max_hz = larger(b->gpu_max_hz, read_hz(1, path));
		}
}

/*
 * Reads the clock of the memory controller. Kernels of Jetsons have it in debugfs, which only root can read.
 */
static void read_memory(struct sx_board *b, const char *root)
{
	static const char *const files[] = {"sys/kernel/debug/bpmp/debug/clk/emc/rate",
					    "sys/kernel/debug/clk/emc/clk_rate"};
	char path[SX_FILE_PATH_BYTES];

	for (size_t i = 0; b->memory_hz < 0 && i < sizeof(files) / sizeof(files[0]); i++)
		if (sx_file_path(path, "%s/%s", root, files[i]))
			b->memory_hz = read_hz(1, path);
}

void sx_board_read(struct sx_board *b, const char *root)
{
	*b = (struct sx_board){.mode_id = -1,
			       .cpu_hz = -1,
			       .cpu_max_hz = -1,
			       .gpu_hz = -1,
			       .gpu_max_hz = -1,
			       .memory_hz = -1};
	root = root ? root : "";
	read_model(b, root);
	read_mode(b, root);
	read_cpu(b, root);
	read_gpu(b, root);
	read_memory(b, root);
}
