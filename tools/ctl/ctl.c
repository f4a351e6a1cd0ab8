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
		  .help = "all instances: daemons, replays, what was left over",
		  .more = "Name, what it is, state, frames of the last second, process and version, by the "
			  "status socket, or by the ring where that does not answer. A ring whose writer "
			  "ended or died is \"left over\": the next start of that instance replaces it. \"no "
			  "access\" are instances that you may not ask: join their group, stixel for the "
			  "service."},
	[STATUS] =
		{"status", "", .run = RUN(ctl_status), .help = "how the instance is doing",
		 .more = "State, frames a second, drops, road, power where it is measured, and the time "
			 "of each stage over the last ten seconds. With --watch into a pipe or a file: "
			 "one line a refresh.\n\n"
			 "Of a replay, which has no status, it is what its ring says; with --json under the "
			 "same keys, and with \"replay\": true."},
	[TOP] = {"top", "", .run = RUN(ctl_top), .help = "the instance live on a terminal",
		 .more = "Rate, latency by stage with bars, drops by reason, power, road, cameras, and the "
			 "stixels as a small picture with the distance that is free left, ahead and right. A "
			 "daemon that dies is shown, and so is its return. Keys: q quit, p pause, w window "
			 "of the latencies (1 s, 10 s, since start), Tab and arrows other instances, ? "
			 "help.\n\n"
			 "Into a pipe or a file, on a terminal that cannot place a cursor, and with --once: "
			 "one page of text. Colours are left out when NO_COLOR is set."},
	[WATCH] = {"watch", "", .run = RUN(ctl_watch),
		   .help = "what a reader gets: rate, lost frames, latency up to its wake-up",
		   .more = "Reads every frame and prints a line a second, and a summary at the end. Three "
			   "times are measured: from capture until the daemon has the result, by the header "
			   "of the frame; from there until this program is awake, which holds packing and "
			   "copy into the ring, the wake-up by the system and its scheduler; and the age of "
			   "the picture when the frame was copied and checked. A daemon that ends and comes "
			   "back is reported. docs/latency.md explains the measuring points.\n\n"
			   "With --json one object a second with \"event\":\"second\" and one with "
			   "\"summary\"; times are microseconds."},
	[DUMP] = {"dump", "", .run = RUN(ctl_dump), .help = "stixels of the next frames as CSV or JSON lines",
		  .more = "Begins with the newest frame. CSV has the columns of stixel-process, below a line "
			  "that begins with \"#\"; JSON is one object a line. Missed frames are reported on "
			  "stderr."},
	[WAIT] = {"wait", "", .run = RUN(ctl_wait), .help = "returns when a new frame was published",
		  .more = "A frame that was published after the call. Waits for the daemon, too."},
	[SNAPSHOT] =
		{"snapshot", "FILE", 1, 1, SX_OFFER_FILE, RUN(ctl_snapshot), "draws the newest frame",
		 "FILE ends in .png, .jpg or .jpeg, which says the format; \"-\" is standard output, as PNG. "
		 "An existing file is not overwritten without --force.\n\n"
		 "The image below the stixels, left unless told otherwise, is asked for from the "
		 "daemon; where it has no room for images (output.planes) the ground is dark. On a "
		 "disparity image only the edges of objects are drawn. --bird adds the free space from "
		 "above up to 60 m, with lines every 10 m; that takes a camera model. Free is violet, from "
		 "the first ground that was seen to the nearest object within the vehicle's heights; white "
		 "stripes are the edge of the ground before a drop. What was not seen stays darkest, also "
		 "right before the vehicle, and keeps its grey in the picture."},
	[METRICS] =
		{"metrics", "", .run = RUN(ctl_metrics),
		 .help = "figures in OpenMetrics text, for Prometheus",
		 .more = "Their names are in docs/metrics.md. With --textfile they go to a file of the node "
			 "exporter's textfile collector, in classic Prometheus text, each with the label "
			 "instance; an old file is replaced. A timer, alerts and a dashboard are among the "
			 "documentation's examples."},
	[DOCTOR] = {"doctor", "", .run = RUN(ctl_doctor),
		    .help = "what is wrong with configuration, cameras, GPU, service and limits, and what to "
			    "do about it",
		    .more = "Changes nothing. With -c FILE and without -i it looks at the instance that "
			    "runs with FILE; where none does and several run, at NAME of NAME.conf. The "
			    "checks are explained in stixelctl(1)."},
	[ENDURANCE] =
		{"endurance", "", .run = RUN(ctl_endurance),
		 .help = "whether a daemon keeps up for minutes or days: frames, intervals, counts, "
			 "memory, log",
		 .more = "Reads every frame, asks for the status once an interval and looks at the "
			 "process, then judges what it saw by budgets. A line has the verdict, the "
			 "budget and the figure; what cannot be known is \"not judged\". The rules are "
			 "explained in stixelctl(1). Ctrl-C ends it with the report so far. Exit status "
			 "1 when a line is bad.\n\n"
			 "The daemon is only watched: what it is tested with, cameras, load, heat, is "
			 "up to you."},
	[GET] = {"get", "[SECTION[.KEY]]...", 0, OPERANDS_MAX, SX_OFFER_NOTHING, RUN(ctl_get),
		 "settings of the running instance: value, default, and where it comes from",
		 "All of them (constants of the models only where they are not the default, or by \"get "
		 "model\"), those of a section, or single ones. Behind # stand the default, and the "
		 "file and line, the -s option or \"set live\" where the value comes from something else; "
		 "and that a key needs a restart."},
	[SET] = {"set", "SECTION.KEY=VALUE...", 1, OPERANDS_MAX, SX_OFFER_SETTING, RUN(ctl_set),
		 "changes settings between two frames",
		 "By the rules of the configuration, all or none: a wrong value, a key that needs a "
		 "restart, or memory that does not suffice for the old and the new at once, and nothing is "
		 "changed. No pair is lost, frames stay numbered without a gap, and the answer says from "
		 "which frame on it is so. Allowed to root, to the daemon's user and to members of group "
		 "stixel-tune. Reloading (systemctl reload) brings back what the files say; save keeps "
		 "it.\n\n"
		 "Which keys change live is in stixeld.conf(5); docs/service.md has more."},
	[SAVE] =
		{"save", "[FILE]", 0, 1, SX_OFFER_FILE, RUN(ctl_save),
		 "writes what was set live into a drop-in file",
		 "Into 90-live.conf in the drop-in folder of the daemon's configuration "
		 "(/etc/stixeld/NAME.conf.d), complete or not at all, by the rights of who calls it. What an "
		 "earlier save has written there stays. A file that something else has written is left "
		 "alone.\n\n"
		 "What the daemon answers is checked: its configuration is taken from elsewhere only if file "
		 "and folders belong to root or the caller, each value is read as a file's is, and nothing "
		 "is written that the next start would refuse. docs/service.md has more."},
	[RECORD] =
		{"record", "FILE", 1, 1, SX_OFFER_FILE, RUN(ctl_record), "writes frames into a file",
		 "Every frame as it was published, beginning with the newest; FILE \"-\" is standard output. "
		 "Waits for an instance that does not exist yet, and follows one that is restarted. Frames "
		 "that were lost because the disk is too slow are counted and noted in the file. Ctrl-C ends "
		 "in order; but the file can be read whatever happens, up to the last whole chunk: a second "
		 "before the end. The file is MCAP, with images and calibrations as Foxglove knows them; "
		 "docs/recording.md has its channels. An existing file is not overwritten without --force, "
		 "and with it when the first frames have come. A file that another recorder is writing, or "
		 "that another process removes, truncates or overwrites meanwhile: exit status 73."},
	[REPLAY] =
		{"replay", "FILE", 1, 1, SX_OFFER_FILE, RUN(ctl_replay),
		 "publishes a recording as stixeld would",
		 "In the ring and on frames.sock of the instance, at the recorded distances in time, so that "
		 "clients can be developed without a camera. FILE \"-\" is standard input. Epoch and number "
		 "are new, and all times of a frame move so that it is published now: ages and durations "
		 "stay as they were. There is no status.sock. An instance that runs is left alone: exit "
		 "status 73."},
	[INFO] = {"info", "FILE", 1, 1, SX_OFFER_FILE, RUN(ctl_info),
		  "what is in a recording, and whether all of it can be read",
		  "Reads the whole file. Exit status 65 when a part of it is damaged: everything that is "
		  "whole is counted, and can be replayed and exported."},
	[EXPORT] =
		{"export", "FILE OUT.mcap", 2, 2, SX_OFFER_FILE, RUN(ctl_export),
		 "adds to a recording what viewers draw: Foxglove, rerun",
		 "OUT.mcap has all of the recording, and channels /INSTANCE/frame (everything, schema "
		 "stixel.Frame), /INSTANCE/scene and /INSTANCE/points (stixels in space) and "
		 "/INSTANCE/transform. docs/recording.md has schemas and coordinates. An existing OUT.mcap "
		 "is not overwritten without --force. Exit status 65 when a part of the recording is "
		 "damaged, or the file ends within a record: all that is whole is in OUT.mcap. A recording "
		 "whose end alone is missing is said to be without it: what is there is whole, status 0."},
};

static const char *const image_words[] = {
	[CTL_IMAGE_LEFT] = "left", [CTL_IMAGE_DISPARITY] = "disparity", [CTL_IMAGE_NONE] = "none", NULL};

static const struct sx_usage_option options[] = {
	{"instance", 'i', "NAME", SX_USAGE_TEXT, TO(instance), .offer = SX_OFFER_INSTANCE,
	 .help = "which one; default: the only one that runs, else \"default\""},
	{"json", 0, NULL, SX_USAGE_FLAG, TO(json),
	 .commands = OF(LIST) | OF(STATUS) | OF(WATCH) | OF(DUMP) | OF(DOCTOR) | OF(ENDURANCE) | OF(GET) |
		     OF(INFO),
	 .help = "print JSON, for programs"},
	{"watch", 0, NULL, SX_USAGE_FLAG, TO(watch), .commands = OF(STATUS), .help = "refresh until Ctrl-C"},
	{"interval", 0, "S", SX_USAGE_SECONDS, TO(interval_ms), 0.1, 3600, .commands = OF(STATUS),
	 .help = "with --watch: seconds between refreshes, default 1"},
	{"interval", 0, "S", SX_USAGE_SECONDS, TO(interval_ms), 0.1, 3600,
	 .commands = OF(TOP) | OF(ENDURANCE), .help = "seconds between queries of the status, default 1"},
	{"minutes", 0, "N", SX_USAGE_INT, TO(minutes), 1, 16000, .commands = OF(ENDURANCE),
	 .help = "how long, default 10"},
	{"once", 0, NULL, SX_USAGE_FLAG, TO(once), .commands = OF(TOP), .help = "print one page as text"},
	{"frames", 0, "N", SX_USAGE_INT, TO(frames), 0, 1000000000, .commands = OF(STATUS),
	 .help = "with --watch: refreshes; 0 = without end, the default"},
	{"frames", 0, "N", SX_USAGE_INT, TO(frames), 0, 1000000000, .commands = OF(DUMP),
	 .help = "this many; 0 = without end; default 1"},
	{"frames", 0, "N", SX_USAGE_INT, TO(frames), 0, 1000000000,
	 .commands = OF(WATCH) | OF(RECORD) | OF(REPLAY), .help = "exit after N frames"},
	{"duration", 0, "S", SX_USAGE_SECONDS, TO(duration_ms), 0.1, 1000000,
	 .commands = OF(WATCH) | OF(RECORD), .help = "exit after S seconds; default: Ctrl-C"},
	{"duration", 0, "S", SX_USAGE_SECONDS, TO(duration_ms), 1, 1000000, .commands = OF(ENDURANCE),
	 .help = "the same in seconds"},
	{"first", 0, "S", SX_USAGE_INT, TO(budget.first_s), 0, 1000000, .commands = OF(ENDURANCE),
	 .help = "seconds from the daemon's start to its first frame; default 5, not judged where the watch "
		 "began a minute after the start or the cameras came later"},
	{"rate", 0, "PERCENT", SX_USAGE_INT, TO(budget.rate), 0, 1000, .commands = OF(ENDURANCE),
	 .help = "by which pairs may come slower or faster than source.fps, default 1"},
	{"jitter", 0, "PERCENT", SX_USAGE_INT, TO(budget.jitter), 0, 1000, .commands = OF(ENDURANCE),
	 .help = "99 % of the intervals are no further off than this; one may be five times as far off; "
		 "default 20"},
	{"dropped", 0, "N", SX_USAGE_INT, TO(budget.dropped), 0, 1000000000, .commands = OF(ENDURANCE),
	 .help = "pairs that the daemon may drop, default 0"},
	{"lost", 0, "N", SX_USAGE_INT, TO(budget.lost), 0, 1000000000, .commands = OF(ENDURANCE),
	 .help = "frames that this reader may lose, default 0"},
	{"latency", 0, "MS", SX_USAGE_INT, TO(budget.latency_ms), 1, 1000000, .commands = OF(ENDURANCE),
	 .help = "from capture to result, 99 % of the frames; not judged by default"},
	{"cpu", 0, "PERCENT", SX_USAGE_INT, TO(budget.cpu), 0, 1000000, .commands = OF(ENDURANCE),
	 .help = "processor time, percent of a core; default 100 for the cuda engine, else 95 of all cores"},
	{"memory", 0, "KIB", SX_USAGE_INT, TO(budget.memory), 0, 1000000000, .commands = OF(ENDURANCE),
	 .help = "by which its memory may grow, default 2048"},
	{"descriptors", 0, "N", SX_USAGE_INT, TO(budget.descriptors), 0, 1000000, .commands = OF(ENDURANCE),
	 .help = "by which its open files may grow, default 0"},
	{"log", 0, "N", SX_USAGE_INT, TO(budget.log), 0, 1000000, .commands = OF(ENDURANCE),
	 .help = "lines that it may log in a minute, default 10"},
	{"timeout", 0, "S", SX_USAGE_SECONDS, TO(timeout_ms), 0, 1000000, .commands = OF(DUMP) | OF(SNAPSHOT),
	 .help = "give up after S seconds without a frame, default 5"},
	{"timeout", 0, "S", SX_USAGE_SECONDS, TO(timeout_ms), 0, 1000000, .commands = OF(WAIT),
	 .help = "give up after S seconds, default never"},
	{"images", 0, "KINDS", SX_USAGE_TEXT, TO(images), .commands = OF(RECORD),
	 .help = "images to ask for, one or two of left, right, disparity, such as left,right; none "
		 "leaves out those that others asked for; default: as they come"},
	{"compress", 0, NULL, SX_USAGE_FLAG, TO(compress), .commands = OF(RECORD),
	 .help = "chunks by zstd: half the size for 0.1 ms a frame, 5 ms with both images"},
	{"rate", 0, "X", SX_USAGE_TEXT, TO(rate), .commands = OF(REPLAY),
	 .help = "X times as fast, 0.01 to 1000; default 1"},
	{"max", 0, NULL, SX_USAGE_FLAG, TO(max), .commands = OF(REPLAY),
	 .help = "as fast as the file can be read"},
	{"loop", 0, NULL, SX_USAGE_FLAG, TO(loop), .commands = OF(REPLAY),
	 .help = "again and again until Ctrl-C"},
	{"start", 0, "S", SX_USAGE_SECONDS, TO(start_ms), 0, 1000000, .commands = OF(REPLAY),
	 .help = "start S seconds into the recording"},
	{"no-scene", 0, NULL, SX_USAGE_FLAG, TO(no_scene), .commands = OF(EXPORT),
	 .help = "leave out /scene and /points: a fifth of the size, without images"},
	{"slots", 0, "N", SX_USAGE_INT, TO(slots), 2, 1024, .commands = OF(REPLAY),
	 .help = "frames that the ring holds, a power of two; default 8"},
	{"textfile", 0, "FILE", SX_USAGE_TEXT, TO(textfile), .offer = SX_OFFER_FILE, .commands = OF(METRICS),
	 .help = "write them to FILE, complete or not at all, readable by everybody, for the textfile "
		 "collector of the node exporter"},
	{"image", 0, "WHICH", SX_USAGE_CHOICE, TO(image), .words = image_words, .commands = OF(SNAPSHOT),
	 .help = "what lies below the stixels: left, disparity or none; default left"},
	{"bird", 0, NULL, SX_USAGE_FLAG, TO(bird), .commands = OF(SNAPSHOT),
	 .help = "beside it the free space from above"},
	{"force", 0, NULL, SX_USAGE_FLAG, TO(force), .commands = OF(SNAPSHOT) | OF(RECORD) | OF(EXPORT),
	 .help = "overwrite an existing file"},
	{"config", 'c', "FILE", SX_USAGE_TEXT, TO(config), .offer = SX_OFFER_FILE, .commands = OF(DOCTOR),
	 .help = "configuration to check; default: that of the running daemon, else /etc/stixeld/NAME.conf"},
};

static const struct sx_usage_exit exits[] = {
	{0, "done"},
	{CTL_NOTHING,
	 "no such instance, it ended, no frame in time, doctor found a problem, or endurance a bad line"},
	{EX_USAGE, "wrong usage"},
	{EX_DATAERR, "a damaged frame, answer or recording; export: what is whole of it was written"},
	{EX_SOFTWARE,
	 "memory or descriptors do not suffice, or a device cannot be read; set: or the engine does not"},
	{EX_CANTCREAT,
	 "a file cannot be written or exists; replay: the instance runs, or its ring cannot be made"},
	{EX_NOPERM, "set: not allowed"},
	{EX_CONFIG, "set: a wrong value, or a key that needs a restart"},
};

static const struct sx_usage usage = {
	.program = SX_PROGRAM,
	.about = "Looks at a running stixeld, as a client like any other that cannot slow the daemon, and "
		 "changes its settings.",
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
	if (command == LIST || command == REPLAY || command == INFO || command == EXPORT)
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
	char why[256];
	int code;

	code = sx_usage_parse(&usage, &c, argc, argv, &words);
	if (code >= 0)
		return code;
	if (c.instance && sx_instance_check(c.instance, why, sizeof(why)) < 0)
		return sx_usage_fail(&usage, words.command, "%s", why);
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
