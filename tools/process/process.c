/*
 * stixel-process: computes disparity, stixels and overlay of stereo pairs from files, offline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "capture/file_list.h"
#include "config/camera.h"
#include "config/cli/usage.h"
#include "tools/common/progress.h"
#include "tools/draw/overlay.h"
#include "tools/process/pair_names.h"
#include "tools/process/process.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

#define TO(field) offsetof(struct process, field)

static bool take_setting(void *target, const char *text, struct sx_why *why)
{
	struct process *p = target;

	if (sx_settings_args_add(&p->args, text))
		return true;
	sx_why_set(why, "was given too often: put settings into a file");
	return false;
}

static bool take_preset(void *target, const char *text, struct sx_why *why)
{
	struct process *p = target;

	return sx_preset_take(text, p->args.preset, why) && take_setting(p, p->args.preset, why);
}

static bool take_file(struct process_files *files, const char *text, struct sx_why *why)
{
	const char **more = realloc(files->name, ((size_t)files->count + 1) * sizeof(*more));

	if (!more) {
		sx_why_set(why, "not enough memory");
		return false;
	}
	files->name = more;
	files->name[files->count++] = text;
	return true;
}

static bool take_scores(void *target, const char *text, struct sx_why *why)
{
	return take_file(&((struct process *)target)->scores, text, why);
}

static bool take_map(void *target, const char *text, struct sx_why *why)
{
	return take_file(&((struct process *)target)->maps, text, why);
}

static const struct sx_usage_option options[] = {
	{"config", 'c', "FILE", SX_USAGE_TEXT, TO(args.file), .offer = SX_OFFER_FILE,
	 .help = "configuration file, as for stixeld; its section [source] is ignored"},
	{"set", 's', "SECTION.KEY=VALUE", SX_USAGE_CALL, .take = take_setting, .offer = SX_OFFER_SETTING,
	 .many = true, .help = "override one key of the file; may be repeated"},
	{"preset", 0, "NAME", SX_USAGE_CALL, .take = take_preset, .offer = SX_OFFER_PRESET,
	 .help = SX_PRESET_HELP},
	{"output", 'o', "DIR", SX_USAGE_TEXT, TO(folder), .offer = SX_OFFER_FOLDER,
	 .help = "folder for the results, created if missing; default: the current one"},
	{"semantics", 0, "FILE", SX_USAGE_CALL, .take = take_scores, .offer = SX_OFFER_FILE, .many = true,
	 .help = "class scores of the left image: .npy (uint8, classes x rows x columns) or a "
		 "PNG of class numbers, in the order of semantics.classes; for several pairs: "
		 "one option per pair, in the same order"},
	{"disparity", 0, "FILE", SX_USAGE_CALL, .take = take_map, .offer = SX_OFFER_FILE, .many = true,
	 .help = "disparity map of another matcher, a PNG as this program writes it, used "
		 "instead of matching (sets stereo.matcher = external); for several pairs: "
		 "one option per pair, in the same order"},
	{"near", 0, "M", SX_USAGE_METRES, TO(near_m), SX_SCALE_LEAST_M, SX_SCALE_MOST_M,
	 .help = "nearest distance of the colours; default: from the objects of each pair"},
	{"far", 0, "M", SX_USAGE_METRES, TO(far_m), SX_SCALE_LEAST_M, SX_SCALE_MOST_M,
	 .help = "farthest distance of the colours; default: from the objects of each pair"},
	{"classes", 0, NULL, SX_USAGE_FLAG, TO(by_class),
	 .help = "colour the overlay by class instead of distance; needs --semantics"},
	{"disparity-colour", 0, NULL, SX_USAGE_FLAG, TO(colour),
	 .help = "also write NAME.disparity-colour.png"},
	{"disparity-filled", 0, NULL, SX_USAGE_FLAG, TO(filled),
	 .help = "also write NAME.disparity-filled.png, in which stixels fill the holes"},
	{"motion", 0, NULL, SX_USAGE_FLAG, TO(moves), .help = "the pairs are a sequence: measure its motion"},
	{"motion-filter", 0, NULL, SX_USAGE_FLAG, TO(filters),
	 .help = "with --motion: remember, and follow objects"},
	{"fps", 0, "N", SX_USAGE_INT, TO(fps), 1, PROCESS_FPS_MOST,
	 .help = "pairs per second, for --motion; default: 10"},
};

static const struct sx_usage_exit exits[] = {
	{0, "done"},
	{EX_USAGE, "wrong usage"},
	{EX_DATAERR, "a pair was not usable"},
	{EX_UNAVAILABLE, "the cuda engine was asked for and is not there"},
	{EX_SOFTWARE, "the engine failed"},
	{EX_CANTCREAT, "a result cannot be written"},
	{EX_CONFIG, "wrong configuration"},
};

static const char *const sections[] = {"preset",  "camera",    "stereo", "filters", "road",
				       "stixels", "semantics", "engine", NULL};

static const struct sx_usage usage = {
	.program = SX_PROGRAM,
	.about = "Computes disparity and stixels of stereo pairs. For each pair it prints a "
		 "line and writes\n\n"
		 "NAME.disparity.png  16 bit, disparity * 256, 0 = invalid, as "
		 "KITTI\n"
		 "NAME.stixels.csv    a header line, then one line per "
		 "stixel\n"
		 "NAME.overlay.png    the left image with its stixels, coloured by "
		 "distance\n\n"
		 "FOLDER is one that source.path of stixeld may name, such as a sequence of EuRoC, "
		 "TUM-VI or KITTI; its calibration is used unless [camera] has one. "
		 "NAME is LEFT without folder and suffix. If two names are equal, the folder "
		 "comes first (000012/left.png: 000012_left). If a pair cannot be read, the "
		 "program names it and goes on with the others.",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.own = {.operands = "FOLDER | LEFT RIGHT [LEFT RIGHT]...",
		.least = 1,
		.most = INT_MAX,
		.offer = SX_OFFER_FILE},
	.exits = exits,
	.exit_count = sizeof(exits) / sizeof(exits[0]),
	.settings = true,
	.sections = sections,
};

static int make_folder(const char *path)
{
	struct stat st;

	if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	fprintf(stderr, SX_PROGRAM ": cannot create folder %s: %s\n", path,
		strerror(errno == EEXIST ? ENOTDIR : errno));
	return EX_CANTCREAT;
}

static struct process_job *make_jobs(const struct process *p, char **files, int count, char ***names)
{
	struct process_job *jobs = calloc((size_t)count, sizeof(*jobs));
	const char **left = calloc((size_t)count, sizeof(char *));
	bool ok = jobs && left;

	for (int i = 0; ok && i < count; i++)
		left[i] = files[2 * i];
	ok = ok && sx_pair_names(names, left, count) == 0;
	for (int i = 0; ok && i < count; i++)
		jobs[i] = (struct process_job){files[2 * i], files[2 * i + 1], (*names)[i],
					       p->scores.count ? p->scores.name[i] : NULL,
					       p->maps.count ? p->maps.name[i] : NULL};
	free(left);
	if (ok)
		return jobs;
	free(jobs);
	return NULL;
}

/* Returns whether the camera is the default one, which no user has. */
static bool is_default_camera(const struct sx_settings *s)
{
	const struct sx_camera *c = &s->params.camera;
	struct sx_settings fresh;
	bool same;

	if (s->calibration || sx_settings_init(&fresh) < 0)
		return false;
	same = c->fx == fresh.params.camera.fx && c->fy == fresh.params.camera.fy &&
	       c->cx == fresh.params.camera.cx && c->cy == fresh.params.camera.cy &&
	       c->baseline_m == fresh.params.camera.baseline_m;
	sx_settings_finish(&fresh);
	return same;
}

/* Warns about the default camera, because distances of an unknown camera look as good as right ones. */
static void note_default_camera(const struct sx_settings *s)
{
	if (is_default_camera(s))
		fprintf(stderr,
			SX_PROGRAM
			": no camera given: road and metres are those of the default one (fx %g px, "
			"baseline %g m); give camera.calibration, or camera.fx and so on\n",
			s->params.camera.fx, s->params.camera.baseline_m);
}

/* Warns that the scores are not used, so that users do not believe that the labels had an effect. */
static void note_unread_scores(const struct process *p)
{
	const enum sx_stixel_method method = p->settings->params.stixels.method;

	if (p->scores.count && (method == SX_STIXEL_DP || method == SX_STIXEL_RDP))
		fprintf(stderr, SX_PROGRAM ": --semantics: stixels.method = %s does not read class scores\n",
			method == SX_STIXEL_DP ? "dp" : "rdp");
}

/* Prints the same questions about the settings as the daemon's log at its start. */
static void note_questions(const struct process *p)
{
	const struct sx_source_info info = {
		.width = p->settings->rectify ? p->config.rig.raw_width : p->config.width,
		.height = p->settings->rectify ? p->config.rig.raw_height : p->config.height,
	};
	char question[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES];
	const int count = p->settings->calibration ? sx_camera_questions(p->settings, &info, question) : 0;

	if (p->settings->calibration_said.pair) /* file names are not enough to choose one of them */
		fprintf(stderr, SX_PROGRAM ": calibration %s: taken are %s\n", p->settings->calibration,
			p->settings->calibration_said.pair);
	for (int i = 0; i < count; i++)
		fprintf(stderr, SX_PROGRAM ": warning: %s\n", question[i]);
}

static void note_settings(const struct process *p)
{
	sx_progress_hide();
	note_default_camera(p->settings);
	note_questions(p);
	note_unread_scores(p);
}

/*
 * Processes all pairs. A failure of the engine or of the configuration ends the run. An error of a single
 * pair does not.
 */
static int run_jobs(struct process *p, const struct process_job *jobs, int count)
{
	int worst = 0, failed = 0;

	sx_progress_begin("pairs", (uint64_t)count);
	for (int i = 0; i < count && !stop_signal; i++) {
		int code = process_pair(p, &jobs[i]);

		/* print notes with the first results, so that an error stands alone */
		if (!code && p->done == 1)
			note_settings(p);
		if (count > 1)
			sx_progress_update((uint64_t)i + 1);
		if (!code)
			continue;
		failed++;
		/* a failure of the program outranks a fault of the data */
		worst = worst == 0 || worst == EX_DATAERR ? code : worst;
		if (code != EX_DATAERR && code != EX_CANTCREAT)
			break;
	}
	sx_progress_end();
	process_motion_note(p);
	process_sparse_note(p);
	if (failed && count > 1)
		fprintf(stderr, SX_PROGRAM ": %d of %d pairs failed\n", failed, count);
	return worst;
}

/* Returns -1 if an option is given once for each pair, or not at all. Else an exit code. */
static int check_files(const char *option, const struct process_files *files, int pairs)
{
	if (!files->count || files->count == pairs)
		return -1;
	return sx_usage_fail(&usage, NULL, "%s is given %d times for %d pairs", option, files->count, pairs);
}

static int check_all_files(const struct process *p, int pairs)
{
	const int code = check_files("--semantics", &p->scores, pairs);

	return code < 0 ? check_files("--disparity", &p->maps, pairs) : code;
}

/* Makes the folder the source of the settings, as -s after all others would. Returns 0 or an exit code. */
static int name_folder(struct process *p, const char *folder, char path[PATH_MAX])
{
	static const char *const keys[] = {"source.kind=files", "source.layout=two",
					   "source.left=", "source.right="};
	bool fits = snprintf(path, PATH_MAX, "source.path=%s", folder) < PATH_MAX;

	for (size_t i = 0; fits && i < sizeof(keys) / sizeof(keys[0]); i++)
		fits = sx_settings_args_add(&p->args, keys[i]);
	if (fits && sx_settings_args_add(&p->args, path))
		return 0;
	return sx_usage_fail(&usage, NULL, "%s: the name is too long, or -s was given too often", folder);
}

/*
 * Finds the pairs of the folder. *files: left and right in turn; they belong to list. Returns 0 or an exit
 * code.
 */
static int list_folder(const struct process *p, struct sx_settings *settings, struct sx_file_list *list,
		       char ***files, int *count)
{
	struct sx_source_info info = {0};
	struct sx_why why;
	int code;

	settings->source.recorded = false; /* no pair waits for its time */
	if (sx_file_list_find(list, &settings->source, &why) < 0) {
		fprintf(stderr, SX_PROGRAM ": %s\n", why.text);
		return EX_DATAERR;
	}
	snprintf(info.note, sizeof(info.note), "%s", list->text);
	if (sx_settings_tell_dataset(settings, &info, why.text, sizeof(why.text)))
		fprintf(stderr, SX_PROGRAM ": %s\n", why.text);
	*count = (int)list->count;
	code = check_all_files(p, *count);
	if (code >= 0)
		return code;
	*files = calloc(2 * list->count, sizeof(char *));
	for (size_t i = 0; *files && i < list->count; i++) {
		(*files)[2 * i] = list->left[i];
		(*files)[2 * i + 1] = list->right[i];
	}
	return *files ? 0 : EX_SOFTWARE;
}

/* operands: one folder, or the files of `count` pairs. */
static int process_run(struct process *p, char **operands, int count)
{
	struct sx_settings settings = {0};
	struct sx_file_list list = {0};
	struct process_job *jobs = NULL;
	char **names = NULL, **listed = NULL, path[PATH_MAX];
	const bool folder = count == 0;
	int code = folder ? name_folder(p, operands[0], path) : 0;

	if (!code)
		code = sx_settings_args_load(&settings, &p->args, SX_PROGRAM);
	if (!code && settings.params.stereo.matcher == SX_MATCH_EXTERNAL && !p->maps.count) {
		fputs(SX_PROGRAM ": stereo.matcher = external: --disparity says whose maps\n", stderr);
		code = EX_CONFIG;
	}
	if (!code && p->moves && is_default_camera(&settings)) {
		fputs(SX_PROGRAM
		      ": --motion needs the camera, to tell a wrong range from a wrong camera: give "
		      "camera.calibration, or camera.fx and so on\n",
		      stderr);
		code = EX_CONFIG;
	}
	if (!code && folder)
		code = list_folder(p, &settings, &list, &listed, &count);
	if (!code)
		code = make_folder(p->folder);
	if (!code)
		code = process_open(p, &settings);
	if (!code) {
		jobs = make_jobs(p, folder ? listed : operands, count, &names);
		code = jobs ? run_jobs(p, jobs, count) : EX_SOFTWARE;
	}
	process_close(p);
	if (jobs)
		sx_pair_names_free(names, count);
	free(jobs);
	free(listed);
	sx_file_list_finish(&list);
	sx_settings_finish(&settings);
	return code;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	struct process p = {.folder = ".", .slots.fd = -1};
	struct sx_usage_words words;
	bool folder;
	int code;

	code = sx_usage_parse(&usage, &p, argc, argv, &words);
	folder = code < 0 && words.operand_count == 1 && is_folder(words.operands[0]);
	if (code < 0 && words.operand_count == 1 && !folder)
		code = sx_usage_fail(&usage, NULL, "%s is no folder, and an image needs a RIGHT to its LEFT",
				     words.operands[0]);
	if (code < 0 && words.operand_count % 2 && !folder)
		code = sx_usage_fail(&usage, NULL, "images come in pairs: the last LEFT has no RIGHT");
	if (code < 0 && sx_scale_wrong(p.near_m, p.far_m))
		code = sx_usage_fail(&usage, NULL, "%s", sx_scale_wrong(p.near_m, p.far_m));
	if (code < 0 && p.by_class && !p.scores.count)
		code = sx_usage_fail(&usage, NULL, "--classes needs the scores of --semantics");
	if (code < 0 && p.fps && !p.moves)
		code = sx_usage_fail(&usage, NULL, "--fps needs --motion");
	if (code < 0 && p.filters && !p.moves)
		code = sx_usage_fail(&usage, NULL, "--motion-filter needs --motion");
	if (!p.fps)
		p.fps = PROCESS_FPS;
	if (code < 0 && !folder)
		code = check_all_files(&p, words.operand_count / 2);
	if (code >= 0) {
		free(p.scores.name);
		free(p.maps.name);
		return code;
	}
	/*
	 * on the first signal the current pair is finished, so that no file is left half written; a second
	 * signal ends at once
	 */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	code = process_run(&p, words.operands, words.operand_count / 2);
	free(p.scores.name);
	free(p.maps.name);
	if (stop_signal)
		raise(stop_signal);
	return code;
}
