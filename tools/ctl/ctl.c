/*
 * Command line of stixelctl.
 *
 * A new command is a number, a row and a function. A new option is a row. Help, man page and completion
 * follow from the tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <sysexits.h>

#include "config/cli/usage.h"
#include "ipc/instance.h"
#include "stixel.h"
#include "tools/ctl/ctl.h"
#include "tools/draw/overlay.h"

enum {
	LIST,
	STATUS,
	TOP,
	WATCH,
	DUMP,
	WAIT,
	SNAPSHOT,
	METRICS,
	DOCTOR,
	ENDURANCE,
	GET,
	SET,
	SAVE,
	PRESETS,
	RECORD,
	REPLAY,
	INFO,
	EXPORT,
	COMMANDS
};

#define OPERANDS_MAX 256

#define OF(command) SX_USAGE_OF(command)
#define RUN(function) ((sx_usage_run *)(function))
#define TO(field) offsetof(struct ctl, field)

static const struct sx_usage_command commands[COMMANDS] = {
	[LIST] = {"list", "", .run = RUN(ctl_list),
		  .help = "lists all instances: daemons, replays and left-over rings",
		  .more = "Prints name, kind, state, frames per second, process and version of each "
			  "instance. They come from the status socket, or from the ring if the socket "
			  "does not answer. A ring whose writer has ended is \"left over\": the next "
			  "start of that instance replaces it. \"no access\" marks instances that you "
			  "may not ask: join their group, which is stixel for the service."},
	[STATUS] = {"status", "", .run = RUN(ctl_status), .help = "prints the state of the instance",
		    .more = "Prints state, frames per second, drops, road, power if it is measured, and "
			    "the time of each stage over the last ten seconds. With --watch, a pipe or a "
			    "file gets one line per refresh.\n\n"
			    "A replay has no status socket: the figures come from its ring; with --json "
			    "they have the same keys, and \"replay\": true."},
	[TOP] = {"top", "", .run = RUN(ctl_top), .help = "shows the instance live on a terminal",
		 .more = "Shows rate, latency of each stage, drops by reason, power, road, cameras, "
			 "and the stixels as a small picture with the free distance to the left, "
			 "ahead and to the right. It also shows when the daemon dies and when it "
			 "returns. Keys: q quits, p pauses, w selects the time window of the "
			 "latencies (1 s, 10 s, since start), Tab and arrows select other instances, "
			 "? shows help.\n\n"
			 "It prints one page of text with --once, into a pipe or a file, and on a "
			 "terminal that cannot place a cursor. It uses no colours if NO_COLOR is set."},
	[WATCH] = {"watch", "", .run = RUN(ctl_watch),
		   .help = "measures what a reader gets: rate, lost frames, latency until it wakes",
		   .more = "Reads every frame, prints one line per second, and a summary at the end. It "
			   "measures three times: from capture until the daemon has the result (from "
			   "the frame's header); from there until this program is awake, which includes "
			   "packing, the copy into the ring, and the wake-up by the system; and the age "
			   "of the picture when the frame was copied and checked. It reports when the "
			   "daemon ends and returns. docs/use/latency.md explains the measuring "
			   "points.\n\n"
			   "With --json it prints one object per second with \"event\":\"second\" and "
			   "one with \"summary\"; times are in microseconds."},
	[DUMP] = {"dump", "", .run = RUN(ctl_dump),
		  .help = "prints the stixels of the next frames as CSV or JSON lines",
		  .more = "Begins with the newest frame. CSV has the columns of stixel-process, below "
			  "a line that begins with \"#\". JSON has one object per line. Missed frames "
			  "are reported on stderr."},
	[WAIT] = {"wait", "", .run = RUN(ctl_wait), .help = "waits for a new frame",
		  .more = "Returns when a frame was published after the call. If no daemon runs, it "
			  "waits for the daemon as well."},
	[SNAPSHOT] = {"snapshot", "FILE", 1, 1, SX_OFFER_FILE, RUN(ctl_snapshot), "draws the newest frame",
		      "The ending of FILE selects the format: .png, .jpg or .jpeg; \"-\" is "
		      "standard output, as PNG. An existing file is overwritten only with "
		      "--force.\n\n"
		      "The program asks the daemon for the image below the stixels, which is the "
		      "left one by default. If the daemon offers no images (output.planes), the "
		      "background is dark. On a disparity image only the edges of objects are "
		      "drawn. --bird adds the free space from above, up to the far end of "
		      "the colours and at most 60 m; this needs a camera model. Free space is "
		      "green: from the first "
		      "ground that was seen to the nearest object within the vehicle's heights. "
		      "White stripes mark the edge of the ground before a drop. Unseen space stays "
		      "darkest, also directly in front of the vehicle, and is hatched in the "
		      "picture. The legend is below the picture."},
	[METRICS] =
		{"metrics", "", .run = RUN(ctl_metrics),
		 .help = "prints metrics in OpenMetrics text, for Prometheus",
		 .more = "docs/use/metrics.md lists the names. With --textfile they go into a file of the "
			 "node exporter's textfile collector, in classic Prometheus text, each with "
			 "the label instance; an old file is replaced. The examples of the "
			 "documentation include a timer, alerts and a dashboard."},
	[DOCTOR] = {"doctor", "", .run = RUN(ctl_doctor),
		    .help = "finds faults of configuration, cameras, GPU, service and limits, and names "
			    "remedies",
		    .more = "Changes nothing. With -c FILE and without -i it checks the instance that "
			    "runs with FILE; if no instance does and several run, it checks instance "
			    "NAME of NAME.conf. stixelctl(1) explains the checks."},
	[ENDURANCE] =
		{"endurance", "", .run = RUN(ctl_endurance),
		 .help = "tests a daemon for minutes or days: frames, intervals, counters, memory, log",
		 .more = "Reads every frame, asks for the status once per interval, observes the "
			 "process, and then compares the figures with budgets. Each line of the "
			 "report has verdict, budget and figure; \"not judged\" means that the figure "
			 "cannot be known. stixelctl(1) explains the rules. Ctrl-C ends the test with "
			 "the report so far. The exit status is 1 if a line is bad.\n\n"
			 "The test only observes the daemon: you choose cameras, load and temperature."},
	[GET] = {"get", "[SECTION[.KEY]]...", 0, OPERANDS_MAX, SX_OFFER_NOTHING, RUN(ctl_get),
		 "prints settings of the running instance: value, default and origin",
		 "Prints all settings, those of a section, or single ones. Constants of the "
		 "models are printed only if they differ from the default, or with \"get "
		 "model\". After # stand the default, the origin of another value (file and "
		 "line, -s option, or \"set live\"), and whether a change needs a restart."},
	[SET] = {"set", "SECTION.KEY=VALUE...", 1, OPERANDS_MAX, SX_OFFER_SETTING, RUN(ctl_set),
		 "changes settings between two frames",
		 "The daemon changes all of the keys or none. It changes nothing if a value "
		 "is wrong, if a key needs a restart, or if memory does not suffice for the "
		 "old and the new engine at once. No pair is lost, frame numbers have no gap, "
		 "and the answer names the first frame with the new settings. Allowed are "
		 "root, the daemon's user and members of group stixel-tune. Reloading "
		 "(systemctl reload) restores the values of the files; save keeps the new "
		 "ones.\n\n"
		 "stixeld.conf(5) says which keys can be changed live; docs/use/service.md has "
		 "more."},
	[SAVE] = {"save", "[FILE]", 0, 1, SX_OFFER_FILE, RUN(ctl_save),
		  "writes live settings into a drop-in file",
		  "Writes 90-live.conf in the drop-in folder of the daemon's configuration "
		  "(/etc/stixeld/NAME.conf.d), as a whole or not at all, with the rights of "
		  "the caller. Lines of an earlier save stay. A file that another program has "
		  "written is not changed.\n\n"
		  "The program checks the daemon's answer: it uses another configuration path "
		  "only if file and folders belong to root or to the caller, it checks each "
		  "value as in a configuration file, and it writes nothing that the next start "
		  "would refuse. docs/use/service.md has more."},
	[PRESETS] =
		{"presets", "", .run = RUN(ctl_presets),
		 .help = "lists the presets that stixeld --preset takes, with their settings",
		 .more = "A preset is a configuration file whose values replace the defaults. Files of an "
			 "instance and -s count more. STIXEL_PRESET_PATH names another folder of presets."},
	[RECORD] = {"record", "FILE", 1, 1, SX_OFFER_FILE, RUN(ctl_record), "writes frames into a file",
		    "Writes every frame as published, beginning with the newest, its images as JPEG, "
		    "and what Foxglove draws: stixels in space, scan, calibration. After the first "
		    "frames it says how many frames a second and MB a minute that gives. JPEG "
		    "images can be looked at, replayed and exported; only a recording with --raw "
		    "--images left,right can repeat a computation exactly. FILE \"-\" is "
		    "standard output. It waits for an instance that does not exist yet, and "
		    "follows an instance that restarts. If the disk is too slow, it counts the "
		    "lost frames and notes them in the file. Ctrl-C ends the recording in order. "
		    "After any other end the file can be read up to its last complete chunk, one "
		    "second before the end. The file is MCAP, with images and calibrations in "
		    "Foxglove's formats; docs/use/recording.md lists the channels. An existing file "
		    "is overwritten only with --force, and only when the first frames have come. "
		    "The exit status is 73 if another recorder writes the file, or if another "
		    "process removes, truncates or overwrites it."},
	[REPLAY] = {"replay", "FILE", 1, 1, SX_OFFER_FILE, RUN(ctl_replay),
		    "publishes a recording as stixeld does",
		    "Publishes frames in the ring and on frames.sock of the instance, at the "
		    "recorded intervals, so that clients can be developed without a camera. FILE "
		    "\"-\" is standard input. Frames get a new epoch and new numbers. All times "
		    "of a frame are shifted to now, so ages and durations stay the same. A "
		    "replay has no status.sock. If the instance already runs, the exit status is "
		    "73."},
	[INFO] = {"info", "FILE", 1, 1, SX_OFFER_FILE, RUN(ctl_info),
		  "describes a recording and checks that all of it can be read",
		  "Reads the whole file. If a part is damaged, the exit status is 65; the "
		  "intact parts are counted, and can be replayed and exported."},
	[EXPORT] =
		{"export", "FILE OUT.mcap", 2, 2, SX_OFFER_FILE, RUN(ctl_export),
		 "adds channels for viewers (Foxglove, rerun) to a recording",
		 "OUT.mcap contains the whole recording and the channels /INSTANCE/frame "
		 "(everything, schema stixel.Frame), /INSTANCE/scene and /INSTANCE/points "
		 "(stixels in space), /INSTANCE/scan and /INSTANCE/transform. docs/use/recording.md describes "
		 "schemas and coordinates. An existing OUT.mcap is overwritten only with "
		 "--force. If a part of the recording is damaged, or the file ends within a "
		 "record, the exit status is 65 and OUT.mcap has all intact parts. If only "
		 "the recording's end is missing, the program says so and the exit status is "
		 "0."},
};

static const char *const image_words[] = {
	[CTL_IMAGE_LEFT] = "left", [CTL_IMAGE_DISPARITY] = "disparity", [CTL_IMAGE_NONE] = "none", NULL};

static const struct sx_usage_option options[] = {
	{"instance", 'i', "NAME", SX_USAGE_TEXT, TO(instance), .offer = SX_OFFER_INSTANCE,
	 .help = "name of the instance; default: the only one that runs, else \"default\""},
	{"json", 0, NULL, SX_USAGE_FLAG, TO(json),
	 .commands = OF(LIST) | OF(STATUS) | OF(WATCH) | OF(DUMP) | OF(DOCTOR) | OF(ENDURANCE) | OF(GET) |
		     OF(PRESETS) | OF(INFO),
	 .help = "print JSON, for programs"},
	{"watch", 0, NULL, SX_USAGE_FLAG, TO(watch), .commands = OF(STATUS), .help = "refresh until Ctrl-C"},
	{"interval", 0, "S", SX_USAGE_SECONDS, TO(interval_ms), 0.1, 3600, .commands = OF(STATUS),
	 .help = "with --watch: seconds between refreshes, default 1"},
	{"interval", 0, "S", SX_USAGE_SECONDS, TO(interval_ms), 0.1, 3600,
	 .commands = OF(TOP) | OF(ENDURANCE), .help = "seconds between queries of the status, default 1"},
	{"minutes", 0, "N", SX_USAGE_INT, TO(minutes), 1, 16000, .commands = OF(ENDURANCE),
	 .help = "duration in minutes, default 10"},
	{"once", 0, NULL, SX_USAGE_FLAG, TO(once), .commands = OF(TOP), .help = "print one page as text"},
	{"frames", 0, "N", SX_USAGE_INT, TO(frames), 0, 1000000000, .commands = OF(STATUS),
	 .help = "with --watch: number of refreshes; default 0: no end"},
	{"frames", 0, "N", SX_USAGE_INT, TO(frames), 0, 1000000000, .commands = OF(DUMP),
	 .help = "number of frames; 0: no end; default 1"},
	{"frames", 0, "N", SX_USAGE_INT, TO(frames), 0, 1000000000,
	 .commands = OF(WATCH) | OF(RECORD) | OF(REPLAY), .help = "exit after N frames"},
	{"duration", 0, "S", SX_USAGE_SECONDS, TO(duration_ms), 0.1, 1000000,
	 .commands = OF(WATCH) | OF(RECORD), .help = "exit after S seconds; default: at Ctrl-C"},
	{"duration", 0, "S", SX_USAGE_SECONDS, TO(duration_ms), 1, 1000000, .commands = OF(ENDURANCE),
	 .help = "duration in seconds"},
	{"first", 0, "S", SX_USAGE_INT, TO(budget.first_s), 0, 1000000, .commands = OF(ENDURANCE),
	 .help = "seconds from the daemon's start to its first frame; default 5; not judged "
		 "if the test began more than a minute after the start, or if the cameras "
		 "came later"},
	{"rate", 0, "PERCENT", SX_USAGE_INT, TO(budget.rate), 0, 1000, .commands = OF(ENDURANCE),
	 .help = "largest deviation of the pair rate from source.fps, default 1"},
	{"jitter", 0, "PERCENT", SX_USAGE_INT, TO(budget.jitter), 0, 1000, .commands = OF(ENDURANCE),
	 .help = "largest deviation of 99 % of the intervals; a single interval may deviate "
		 "five times as much; default 20"},
	{"dropped", 0, "N", SX_USAGE_INT, TO(budget.dropped), 0, 1000000000, .commands = OF(ENDURANCE),
	 .help = "largest number of pairs that the daemon drops, default 0"},
	{"lost", 0, "N", SX_USAGE_INT, TO(budget.lost), 0, 1000000000, .commands = OF(ENDURANCE),
	 .help = "largest number of frames that this reader loses, default 0"},
	{"latency", 0, "MS", SX_USAGE_INT, TO(budget.latency_ms), 1, 1000000, .commands = OF(ENDURANCE),
	 .help = "largest time from capture to result for 99 % of the frames; default: not "
		 "judged"},
	{"cpu", 0, "PERCENT", SX_USAGE_INT, TO(budget.cpu), 0, 1000000, .commands = OF(ENDURANCE),
	 .help = "largest processor time, percent of a core; default: 100 for the cuda "
		 "engine, else 95 % of all cores"},
	{"memory", 0, "KIB", SX_USAGE_INT, TO(budget.memory), 0, 1000000000, .commands = OF(ENDURANCE),
	 .help = "largest growth of the daemon's memory, default 2048"},
	{"descriptors", 0, "N", SX_USAGE_INT, TO(budget.descriptors), 0, 1000000, .commands = OF(ENDURANCE),
	 .help = "largest growth of the number of open files, default 0"},
	{"log", 0, "N", SX_USAGE_INT, TO(budget.log), 0, 1000000, .commands = OF(ENDURANCE),
	 .help = "largest number of log lines per minute, default 10"},
	{"timeout", 0, "S", SX_USAGE_SECONDS, TO(timeout_ms), 0, 1000000, .commands = OF(DUMP) | OF(SNAPSHOT),
	 .help = "give up after S seconds without a frame, default 5"},
	{"timeout", 0, "S", SX_USAGE_SECONDS, TO(timeout_ms), 0, 1000000, .commands = OF(WAIT),
	 .help = "give up after S seconds, default never"},
	{"images", 0, "KINDS", SX_USAGE_TEXT, TO(images), .commands = OF(RECORD),
	 .help = "images to record: one or two of left, right, disparity, such as left,right; none: no "
		 "images; default: left and right, as far as output.planes has them"},
	{"raw", 0, NULL, SX_USAGE_FLAG, TO(raw), .commands = OF(RECORD),
	 .help = "record images without loss instead of as JPEG, and uncompressed: three times the size"},
	{"quality", 0, "Q", SX_USAGE_INT, TO(quality), 1, 100, .commands = OF(RECORD),
	 .help = "quality of JPEG, 1 to 100; default 90"},
	{"stixels-only", 0, NULL, SX_USAGE_FLAG, TO(stixels_only), .commands = OF(RECORD),
	 .help = "record no images and nothing for viewers: the least size"},
	{"compress", 0, NULL, SX_USAGE_FLAG, TO(compress), .commands = OF(RECORD),
	 .help = "with --raw: compress chunks with zstd, half the size for 5 ms per frame with two images"},
	{"rate", 0, "X", SX_USAGE_TEXT, TO(rate), .commands = OF(REPLAY),
	 .help = "play X times as fast, 0.01 to 1000; default 1"},
	{"max", 0, NULL, SX_USAGE_FLAG, TO(max), .commands = OF(REPLAY),
	 .help = "play as fast as the file can be read"},
	{"loop", 0, NULL, SX_USAGE_FLAG, TO(loop), .commands = OF(REPLAY), .help = "repeat until Ctrl-C"},
	{"start", 0, "S", SX_USAGE_SECONDS, TO(start_ms), 0, 1000000, .commands = OF(REPLAY),
	 .help = "start S seconds into the recording"},
	{"no-scene", 0, NULL, SX_USAGE_FLAG, TO(no_scene), .commands = OF(RECORD) | OF(EXPORT),
	 .help = "leave out /scene and /points, the stixels in space"},
	{"slots", 0, "N", SX_USAGE_INT, TO(slots), 2, 1024, .commands = OF(REPLAY),
	 .help = "number of frames in the ring, a power of two; default 8"},
	{"textfile", 0, "FILE", SX_USAGE_TEXT, TO(textfile), .offer = SX_OFFER_FILE, .commands = OF(METRICS),
	 .help = "write the metrics to FILE, as a whole or not at all, readable for all "
		 "users, for the textfile collector of the node exporter"},
	{"image", 0, "WHICH", SX_USAGE_CHOICE, TO(image), .words = image_words, .commands = OF(SNAPSHOT),
	 .help = "image below the stixels: left, disparity or none; default left"},
	{"near", 0, "M", SX_USAGE_METRES, TO(near_m), SX_SCALE_LEAST_M, SX_SCALE_MOST_M,
	 .commands = OF(SNAPSHOT) | OF(TOP) | OF(RECORD) | OF(EXPORT),
	 .help = "nearest distance of the colours; default: from the objects of the scene"},
	{"far", 0, "M", SX_USAGE_METRES, TO(far_m), SX_SCALE_LEAST_M, SX_SCALE_MOST_M,
	 .commands = OF(SNAPSHOT) | OF(TOP) | OF(RECORD) | OF(EXPORT),
	 .help = "farthest distance of the colours; default: from the objects of the scene"},
	{"classes", 0, NULL, SX_USAGE_FLAG, TO(classes), .commands = OF(SNAPSHOT),
	 .help = "colour stixels by class instead of distance"},
	{"bird", 0, NULL, SX_USAGE_FLAG, TO(bird), .commands = OF(SNAPSHOT),
	 .help = "also draw the free space from above"},
	{"force", 0, NULL, SX_USAGE_FLAG, TO(force), .commands = OF(SNAPSHOT) | OF(RECORD) | OF(EXPORT),
	 .help = "overwrite an existing file"},
	{"config", 'c', "FILE", SX_USAGE_TEXT, TO(config), .offer = SX_OFFER_FILE, .commands = OF(DOCTOR),
	 .help = "configuration to check; default: that of the running daemon, else /etc/stixeld/NAME.conf"},
};

static const struct sx_usage_exit exits[] = {
	{0, "done"},
	{CTL_NOTHING, "the instance does not exist or ended, no frame came in time, doctor found a "
		      "problem, or endurance has a bad line"},
	{EX_USAGE, "wrong usage"},
	{EX_DATAERR, "a frame, an answer or a recording is damaged; export: the intact parts were "
		     "written"},
	{EX_SOFTWARE, "memory or file descriptors do not suffice, or a device cannot be read; set: "
		      "or the engine cannot be created"},
	{EX_CANTCREAT, "a file cannot be written or exists already; replay: the instance runs, or "
		       "its ring cannot be created"},
	{EX_NOPERM, "set: not allowed"},
	{EX_CONFIG, "set: a wrong value, or a key that needs a restart"},
};

static const struct sx_usage usage = {
	.program = SX_PROGRAM,
	.about = "Shows the state, frames and metrics of a running stixeld, and changes its "
		 "settings. Like every client it cannot slow the daemon.",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.commands = commands,
	.command_count = COMMANDS,
	.exits = exits,
	.exit_count = sizeof(exits) / sizeof(exits[0]),
};

static void on_signal(int number)
{
	ctl_stopped = 1;
}

/*
 * Sets the instance if the command line names none. A replay creates its own instance. Other commands choose
 * a running one, and print its name unless a page shows it.
 */
static int name_instance(struct ctl *c, int command)
{
	static char name[STIXEL_INSTANCE_BYTES];
	const char *how;
	int code;

	c->instance = CTL_DEFAULT;
	if (command == LIST || command == REPLAY || command == INFO || command == EXPORT ||
	    command == PRESETS)
		return 0;
	code = ctl_choose(c, &how, name, sizeof(name));
	if (code)
		return code;
	c->instance = name;
	if (how && command != TOP && (command != STATUS || c->json))
		ctl_fail(0, "instance '%s', %s", name, how);
	return 0;
}

/* Checks the usage before asking the daemon: wrong usage does not depend on which instances run. */
static int check_words(const struct ctl *c, int command)
{
	const char *wrong = sx_scale_wrong(c->near_m, c->far_m);

	if (wrong)
		return ctl_fail(EX_USAGE, "%s", wrong);
	switch (command) {
	case STATUS:
		return c->frames >= 0 && !c->watch
			       ? ctl_fail(EX_USAGE, "status takes --frames only with --watch")
			       : 0;
	case SET:
		return ctl_set_words(c);
	case SNAPSHOT:
		return ctl_snapshot_words(c);
	case ENDURANCE:
		return ctl_endurance_words(c);
	case RECORD:
		return ctl_record_words(c);
	default:
		return 0;
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct ctl c = {.interval_ms = 1000,
			.frames = -1,
			.timeout_ms = -1,
			.budget = {.first_s = -1,
				   .rate = -1,
				   .jitter = -1,
				   .dropped = -1,
				   .lost = -1,
				   .cpu = -1,
				   .memory = -1,
				   .descriptors = -1,
				   .log = -1}};
	struct sx_usage_words words;
	struct sx_why why;
	int code;

	code = sx_usage_parse(&usage, &c, argc, argv, &words);
	if (code >= 0)
		return code;
	if (c.instance && sx_instance_check(c.instance, &why) < 0)
		return sx_usage_fail(&usage, words.command, "%s", why.text);
	c.operands = words.operands;
	c.operand_count = words.operand_count;
	code = check_words(&c, (int)(words.command - commands));
	c.named = c.instance != NULL;
	if (code == 0 && !c.instance)
		code = name_instance(&c, (int)(words.command - commands));
	if (code)
		return code;
	/* no SA_RESTART: a wait in progress returns at once */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return ((int (*)(const struct ctl *))words.command->run)(&c);
}
