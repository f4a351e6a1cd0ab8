/*
 * stixel-bench --report: describes the machine and the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/bench/bench_machine.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "power/files.h"

#define NUMBER_TEXT(x) #x
#define NUMBER(x) NUMBER_TEXT(x)
#if defined(__clang__)
#define COMPILER "clang " NUMBER(__clang_major__) "." NUMBER(__clang_minor__) "." NUMBER(__clang_patchlevel__)
#else
#define COMPILER "gcc " NUMBER(__GNUC__) "." NUMBER(__GNUC_MINOR__) "." NUMBER(__GNUC_PATCHLEVEL__)
#endif
#if defined(__aarch64__)
#define PROCESSOR "aarch64"
#elif defined(__x86_64__)
#define PROCESSOR "x86_64"
#else
#define PROCESSOR NULL
#endif
#if defined(__OPTIMIZE__)
#define OPTIMIZED true
#else
#define OPTIMIZED false
#endif

struct processor {
	char model[96], implementer[16], part[16]; /* strings of /proc/cpuinfo; empty: it has no such line */
	int count;				   /* number of processors that are switched on */
};

static void add_known(struct sx_text *t, const char *key, const char *text)
{
	sx_json_text(t, key, *text ? text : NULL);
}

void bench_machine_program(struct sx_text *t)
{
	sx_json_open(t, "program", '{');
	sx_json_text(t, "version", SX_VERSION);
	sx_json_text(t, "processor", PROCESSOR);
	sx_json_text(t, "compiler", COMPILER);
	sx_json_bool(t, "optimized", OPTIMIZED);
	sx_json_text(t, "libc", gnu_get_libc_version());
	sx_json_close(t, '}');
}

static FILE *open_below(const char *root, const char *name)
{
	char path[SX_FILE_PATH_BYTES];

	return sx_file_path(path, "%s/%s", root, name) ? fopen(path, "re") : NULL;
}

/*
 * Reads model and number of processors. With several kinds of cores the strings describe the last core. Lines
 * such as "Serial" are ignored.
 */
static void read_processor(struct processor *p, const char *root)
{
	FILE *f = open_below(root, "proc/cpuinfo");
	char line[4096];
	int number;

	*p = (struct processor){0};
	while (f && fgets(line, sizeof(line), f)) {
		p->count += sscanf(line, "processor : %d", &number) == 1;
		sscanf(line, "model name : %95[^\n]", p->model);
		sscanf(line, "CPU implementer : %15s", p->implementer);
		sscanf(line, "CPU part : %15s", p->part);
	}
	if (f)
		fclose(f);
}

/* Reads the system's name from a line such as PRETTY_NAME="Ubuntu 22.04.5 LTS". */
static void read_system(char *to, const char *root)
{
	FILE *f = open_below(root, "etc/os-release");
	char line[256];

	*to = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "PRETTY_NAME=\"%95[^\"\n]", to) == 1 ||
		    sscanf(line, "PRETTY_NAME=%95[^\"\n]", to) == 1)
			break;
	if (f)
		fclose(f);
}

static int64_t read_memory(const char *root)
{
	FILE *f = open_below(root, "proc/meminfo");
	long long kb = -1;
	char line[128];

	while (f && kb < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemTotal: %lld kB", &kb) != 1)
			kb = -1;
	if (f)
		fclose(f);
	return kb < 0 ? -1 : kb * 1024;
}

static void add_line(struct sx_text *t, const char *key, const char *root, const char *name)
{
	char path[SX_FILE_PATH_BYTES], text[192] = "";

	if (sx_file_path(path, "%s/%s", root, name))
		sx_file_text(path, text, sizeof(text));
	add_known(t, key, text);
}

void bench_machine_board(struct sx_text *t, const struct sx_board *b, const char *root)
{
	struct processor p;
	char system[96];

	root = root ? root : "";
	read_processor(&p, root);
	read_system(system, root);
	sx_json_open(t, "board", '{');
	add_known(t, "model", b->model);
	add_line(t, "tegra_release", root, "etc/nv_tegra_release");
	add_known(t, "system", system);
	add_line(t, "kernel", root, "proc/sys/kernel/osrelease");
	sx_json_count(t, "mode_id", b->mode_id);
	add_known(t, "mode", b->mode);
	add_known(t, "cpu", p.model);
	add_known(t, "cpu_implementer", p.implementer);
	add_known(t, "cpu_part", p.part);
	sx_json_count(t, "cpus", p.count ? p.count : -1);
	sx_json_count(t, "memory_bytes", read_memory(root));
	add_known(t, "governor", b->governor);
	sx_json_close(t, '}');
}

void bench_machine_clocks(struct sx_text *t, const char *key, const struct sx_board *b)
{
	sx_json_open(t, key, '{');
	sx_json_count(t, "cpu_hz", b->cpu_hz);
	sx_json_count(t, "cpu_max_hz", b->cpu_max_hz);
	sx_json_count(t, "gpu_hz", b->gpu_hz);
	sx_json_count(t, "gpu_max_hz", b->gpu_max_hz);
	sx_json_count(t, "memory_hz", b->memory_hz);
	sx_json_close(t, '}');
}

void bench_zones_read(struct bench_zones *z, const char *root)
{
	static const char thermal[] = "sys/class/thermal";
	char folder[SX_FILE_PATH_BYTES], path[SX_FILE_PATH_BYTES];
	struct sx_why why;
	char names[BENCH_ZONES_MAX][SX_FILE_NAME_BYTES];
	int64_t millidegrees;

	root = root ? root : "";
	sx_file_path(folder, "%s/%s", root, thermal);
	z->count = sx_file_names(folder, "thermal_zone", names, BENCH_ZONES_MAX);
	for (int i = 0; i < z->count; i++) {
		sx_file_path(path, "%s/%s/%s/type", root, thermal, names[i]);
		sx_file_text(path, z->zone[i].type, sizeof(z->zone[i].type));
		sx_file_path(path, "%s/%s/%s/temp", root, thermal, names[i]);
		z->zone[i].celsius = sx_file_number(path, -100000, 300000, &millidegrees, &why) < 0
					     ? (double)NAN
					     : (double)millidegrees / 1e3;
	}
}

void bench_machine_zones(struct sx_text *t, const struct bench_zones *before, const struct bench_zones *after)
{
	sx_json_open(t, "temperatures_c", '[');
	for (int i = 0; i < before->count; i++) {
		bool still = i < after->count && strcmp(before->zone[i].type, after->zone[i].type) == 0;

		sx_json_open(t, NULL, '{');
		add_known(t, "zone", before->zone[i].type);
		sx_json_real(t, "before", before->zone[i].celsius);
		sx_json_real(t, "after", still ? after->zone[i].celsius : (double)NAN);
		sx_json_close(t, '}');
	}
	sx_json_close(t, ']');
}
