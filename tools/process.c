/*
 * stixel-process: stereo pairs from files to disparity, stixels and overlay, offline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "tools/settings_args.h"
#include "tools/pair_names.h"
#include "tools/process.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

static void print_help(void)
{
	puts("Usage: stixel-process [-c FILE] [-s SECTION.KEY=VALUE]... [-o DIR] LEFT RIGHT [LEFT RIGHT]...\n"
	     "\n"
	     "Computes disparity and stixels of rectified stereo pairs and writes for each pair:\n"
	     "\n"
	     "  NAME.disparity.png  16 bit, disparity * 256, 0 = invalid (KITTI); a measured 0 is written as "
	     "1\n"
	     "  NAME.stixels.csv    "
	     "column,row_top,row_bottom,class,disparity,depth_m,slope,confidence,support,label\n"
	     "  NAME.overlay.png    the left image with its stixels, coloured by distance\n"
	     "\n"
	     "NAME is LEFT without folder and suffix. Names that would be the same get their folder in "
	     "front\n"
	     "(000012/left.png: 000012_left). Pairs that cannot be read are named and left out; the others "
	     "are\n"
	     "still computed. One line is printed for each pair.\n"
	     "\n"
	     "  -c, --config FILE            configuration, as of stixeld\n"
	     "  -s, --set SECTION.KEY=VALUE  one setting, after the file's; may be repeated\n"
	     "  -o, --output DIR             where results go, made if missing; default: here\n"
	     "      --disparity-colour       also write NAME.disparity-colour.png\n"
	     "  -h, --help                   this text\n"
	     "      --version\n"
	     "\n"
	     "Exit: 0 done, 64 wrong usage, 65 a pair was not usable, 69 no CUDA, 70 engine failed,\n"
	     "73 a result cannot be written, 78 wrong configuration.\n"
	     "\n"
	     "Settings:\n");
	sx_config_help(stdout);
}

static int usage(const char *text)
{
	fprintf(stderr, SX_PROGRAM ": %s; try --help\n", text);
	return EX_USAGE;
}

/* Exit code, or -1 to go on. */
static int parse_options(int argc, char **argv, struct sx_settings_args *args, struct process *p)
{
	enum { OPT_COLOUR = 256, OPT_VERSION };
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"set", required_argument, NULL, 's'},
		{"output", required_argument, NULL, 'o'},
		{"disparity-colour", no_argument, NULL, OPT_COLOUR},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, OPT_VERSION},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:s:o:h", options, NULL)) != -1)
		switch (c) {
		case 'c':
			args->file = optarg;
			break;
		case 's':
			if (!sx_settings_args_add(args, optarg))
				return usage("too many -s");
			break;
		case 'o':
			p->folder = optarg;
			break;
		case OPT_COLOUR:
			p->colour = true;
			break;
		case 'h':
			print_help();
			return 0;
		case OPT_VERSION:
			puts(SX_PROGRAM " " SX_VERSION);
			return 0;
		default:
			return usage("wrong option");
		}
	if (argc == optind)
		return usage("no images: give LEFT RIGHT");
	if ((argc - optind) % 2)
		return usage("images come in pairs: the last LEFT has no RIGHT");
	return -1;
}

static int make_folder(const char *path)
{
	struct stat st;

	if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	fprintf(stderr, SX_PROGRAM ": cannot make folder %s: %s\n", path,
		strerror(errno == EEXIST ? ENOTDIR : errno));
	return EX_CANTCREAT;
}

static struct process_job *make_jobs(char **files, int count, char ***names)
{
	struct process_job *jobs = calloc((size_t)count, sizeof(*jobs));
	const char **left = calloc((size_t)count, sizeof(char *));
	bool ok = jobs && left;

	for (int i = 0; ok && i < count; i++)
		left[i] = files[2 * i];
	ok = ok && sx_pair_names(names, left, count) == 0;
	for (int i = 0; ok && i < count; i++)
		jobs[i] = (struct process_job){files[2 * i], files[2 * i + 1], (*names)[i]};
	free(left);
	if (ok)
		return jobs;
	free(jobs);
	return NULL;
}

/* A failure of the engine or of the configuration ends the run, anything about one pair does not. */
static int run_jobs(struct process *p, const struct process_job *jobs, int count)
{
	int worst = 0, failed = 0;

	for (int i = 0; i < count && !stop_signal; i++) {
		int code = process_pair(p, &jobs[i]);

		if (!code)
			continue;
		failed++;
		/* what lies with us outranks what lies with the data */
		worst = worst == 0 || worst == EX_DATAERR ? code : worst;
		if (code != EX_DATAERR && code != EX_CANTCREAT)
			break;
	}
	if (failed && count > 1)
		fprintf(stderr, SX_PROGRAM ": %d of %d pairs failed\n", failed, count);
	return worst;
}

/* Distances of an unknown camera would look as good as right ones. */
static void note_default_camera(const struct sx_settings *s)
{
	const struct sx_camera *c = &s->params.camera;
	struct sx_settings fresh;

	if (s->calibration || sx_settings_init(&fresh) < 0)
		return;
	if (c->fx == fresh.params.camera.fx && c->fy == fresh.params.camera.fy &&
	    c->cx == fresh.params.camera.cx && c->cy == fresh.params.camera.cy &&
	    c->baseline_m == fresh.params.camera.baseline_m)
		fprintf(stderr,
			SX_PROGRAM
			": no camera given: road and metres are those of the default one (fx %g px, "
			"baseline %g m); give camera.calibration, or camera.fx and so on\n",
			c->fx, c->baseline_m);
	sx_settings_finish(&fresh);
}

static int run(struct process *p, const struct sx_settings_args *args, char **files, int count)
{
	struct sx_settings settings = {0};
	struct process_job *jobs = NULL;
	char **names = NULL;
	int code;

	code = sx_settings_args_load(&settings, args, SX_PROGRAM);
	if (!code) {
		note_default_camera(&settings);
		code = make_folder(p->folder);
	}
	if (!code)
		code = process_open(p, &settings);
	if (!code) {
		jobs = make_jobs(files, count, &names);
		code = jobs ? run_jobs(p, jobs, count) : EX_SOFTWARE;
	}
	process_close(p);
	if (jobs)
		sx_pair_names_free(names, count);
	free(jobs);
	sx_settings_finish(&settings);
	return code;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	struct process p = {.folder = ".", .slots.fd = -1};
	struct sx_settings_args args = {0};
	int code;

	code = parse_options(argc, argv, &args, &p);
	if (code >= 0)
		return code;
	/* the pair at hand is finished, so that nothing half written stays behind; a second signal ends at once */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	code = run(&p, &args, argv + optind, (argc - optind) / 2);
	if (stop_signal)
		raise(stop_signal);
	return code;
}
