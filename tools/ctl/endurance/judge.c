/*
 * Rules of stixelctl endurance. Each function makes one row of the report, or a few related rows. An unknown
 * value is "not judged", never "good".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ctl/endurance/endurance.h"

#define FIRST_FRAME_S 5
/* Uptime of the daemon, s. A run that begins later learns nothing about the first frame. */
#define WATCHED_LATE_S 60.0
/* Allowed ratio of the largest deviation from the interval to the deviation of 99 % of the intervals. */
#define LONGEST_TO_P99 5
/* Longest time between two frames, in intervals; at least 1 s is allowed. */
#define SILENCE_INTERVALS 5
#define MEMORY_POINTS 3 /* a slope from fewer points means nothing */

/* Default budgets. */
#define RATE_PERCENT 1
#define JITTER_PERCENT 20
#define MEMORY_KIB 2048
#define LOG_A_MINUTE 10
#define CPU_CUDA_PERCENT 100
#define CPU_SHARE_PERCENT 95 /* percent of all cores, for engines that compute on the CPU */

struct judge {
	const struct endurance *e;
	struct endurance_row *rows;
	int count;
};

static int budget_or(int given, int otherwise)
{
	return given >= 0 ? given : otherwise;
}

/* Adds a row. The caller adds its text. */
static struct endurance_row *row(struct judge *j, const char *check, const char *unit, double value,
				 double budget)
{
	struct endurance_row *r = &j->rows[j->count++];

	*r = (struct endurance_row){.check = check, .unit = unit, .value = value, .budget = budget};
	r->verdict = isnan(value) || isnan(budget) ? ENDURANCE_NOT_JUDGED
		     : value <= budget		   ? ENDURANCE_GOOD
						   : ENDURANCE_BAD;
	return r;
}

__attribute__((format(printf, 2, 3))) static void tell(struct endurance_row *r, const char *format, ...)
{
	const size_t used = strlen(r->figure);
	va_list args;

	va_start(args, format);
	vsnprintf(r->figure + used, sizeof(r->figure) - used, format, args);
	va_end(args);
}

__attribute__((format(printf, 2, 3))) static void limit(struct endurance_row *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->limit, sizeof(r->limit), format, args);
	va_end(args);
}

/* Returns the pairs without a map during the run. A restart of the daemon resets the counter. */
static uint64_t without_map(const struct endurance_status *s)
{
	return s->no_map[1] > s->no_map[0] ? (uint64_t)(s->no_map[1] - s->no_map[0]) : 0;
}

static uint64_t all_dropped(const struct endurance *e)
{
	uint64_t all = without_map(&e->status);

	for (int i = 0; i < ENDURANCE_DROPS; i++)
		all += e->frames.dropped[i];
	return all;
}

static void judge_state(struct judge *j)
{
	const struct endurance_status *s = &j->e->status;
	const struct endurance_frames *f = &j->e->frames;
	const bool ring = f->state != STIXEL_STATE_RUNNING;
	struct endurance_row *r =
		row(j, "state", "answers not running",
		    (double)(s->answered - s->running) + (ring && s->answered == s->running), 0.0);

	limit(r, "running");
	tell(r, "running in %" PRIu64 " of %" PRIu64 " answers", s->running, s->answered);
	if (*s->state)
		tell(r, "; %s%s%s", s->state, *s->reason && strcmp(s->reason, "-") != 0 ? ": " : "",
		     strcmp(s->reason, "-") != 0 ? s->reason : "");
	else if (ring)
		tell(r, "; the ring said %s", stixel_state_name(f->state));
	if (s->answered == 0 && r->verdict == ENDURANCE_GOOD)
		r->verdict = ENDURANCE_NOT_JUDGED;
}

/*
 * Judges the time from the daemon's start to the first frame. Without a budget, a camera that was plugged in
 * later does not count.
 */
static void judge_first_frame(struct judge *j)
{
	const struct endurance_status *s = &j->e->status;
	const int given = j->e->c->budget.first_s;
	struct endurance_row *r =
		row(j, "first frame", "s", s->first_frame_s, budget_or(given, FIRST_FRAME_S));
	const char *why = s->camera_late		 ? "the cameras came later"
			  : s->uptime_s > WATCHED_LATE_S ? "watched from long after the start"
							 : NULL;

	limit(r, "%.0f s after start", r->budget);
	if (isnan(s->first_frame_s))
		tell(r, "the status does not say");
	else
		tell(r, "%.2f s after start", s->first_frame_s);
	if (given >= 0 || !why)
		return;
	r->verdict = ENDURANCE_NOT_JUDGED;
	tell(r, "; %s: --first", why);
}

static void judge_life(struct judge *j)
{
	const struct endurance_status *s = &j->e->status;
	const struct endurance_frames *f = &j->e->frames;
	struct endurance_row *r = row(j, "answers", "unanswered", (double)(s->asked - s->answered), 0.0);

	limit(r, "all, within 1 s");
	tell(r, "%" PRIu64 " of %" PRIu64 ", slowest %.1f ms", s->answered, s->asked,
	     (double)s->slowest_ns / 1e6);
	if (*s->unanswered)
		tell(r, "; %s", s->unanswered);
	r = row(j, "heartbeat", "s", (double)f->stalled_ns / 1e9, 0.0);
	limit(r, "never stalled");
	if (f->stalled_ns)
		tell(r, "stalled, none for %.1f s", (double)f->stalled_ns / 1e9);
	else
		tell(r, "steady");
	r = row(j, "restarts", "restarts", (double)f->restarts, 0.0);
	limit(r, "0");
	tell(r, "%" PRIu64, f->restarts);
	judge_first_frame(j);
}

/*
 * Judges the rate: pairs per second of capture time, with dropped pairs. If there are not two frames, this
 * program's clock is used instead.
 */
static void judge_rate(struct judge *j)
{
	const struct endurance *e = j->e;
	const struct endurance_frames *f = &e->frames;
	const uint64_t pairs = f->intervals + all_dropped(e);
	const double seconds = (double)(f->span_ns > 0 ? f->span_ns : e->ended_ns - e->began_ns) / 1e9;
	const double rate = (double)(f->span_ns > 0 ? pairs : f->frames + pairs) / seconds;
	/* a frame that is late within its limit counts as a whole interval, which matters in a short run */
	const double most = budget_or(e->c->budget.rate, RATE_PERCENT) +
			    (e->status.fps > 0.0 ? 100.0 / fmax(e->status.fps * seconds, 1.0) : 0.0);
	double off = NAN;
	struct endurance_row *r;

	if (e->status.fps > 0.0)
		off = 100.0 * fabs(rate / e->status.fps - 1.0);
	r = row(j, "rate", "percent off", off, most);
	if (e->status.fps > 0.0)
		limit(r, "%g fps +-%.3g %%", e->status.fps, most);
	tell(r, "%.2f pairs a second%s", rate, e->paced ? "" : ", as fast as they are taken");
}

/* Judges the intervals. A source without a fixed rate has no right interval. */
static void judge_intervals(struct judge *j)
{
	const struct endurance *e = j->e;
	const struct endurance_frames *f = &e->frames;
	const double nominal_ms = (double)f->nominal_ns / 1e6,
		     share = budget_or(e->c->budget.jitter, JITTER_PERCENT);
	const bool judged = e->paced && f->nominal_ns > 0;
	const double budget_ms = judged ? nominal_ms * share / 100.0 : (double)NAN;
	const char *why = e->paced ? "too few intervals" : "the source has no rate to keep";
	struct endurance_row *r;
	struct sx_summary s;

	sx_histogram_summary(&f->jitter, &s);
	r = row(j, "jitter p99", "ms", judged ? (double)s.p99_ns / 1e6 : (double)NAN, budget_ms);
	if (judged) {
		limit(r, "%.3g ms, %.0f %%", budget_ms, share);
		tell(r, "%.3f ms off %.3f ms%s", r->value, nominal_ms, f->as_reported ? "" : ", the median");
	} else {
		tell(r, "%s", why);
	}
	r = row(j, "jitter max", "ms", judged ? (double)s.max_ns / 1e6 : (double)NAN,
		budget_ms * LONGEST_TO_P99);
	if (judged) {
		limit(r, "%.3g ms", r->budget);
		tell(r, "%.3f ms", r->value);
	} else {
		tell(r, "%s", why);
	}
}

static void judge_silence(struct judge *j)
{
	const struct endurance_frames *f = &j->e->frames;
	const double five_s = (double)f->nominal_ns * SILENCE_INTERVALS / 1e9;
	struct endurance_row *r = row(j, "silence", "s", (double)f->longest_ns / 1e9, fmax(1.0, five_s));

	limit(r, "%.3g s", r->budget);
	tell(r, "at most %.3f s between two frames", r->value);
}

/* Judges gaps in the frame numbers, and attributes them to the daemon or to this reader. */
static void judge_numbers(struct judge *j)
{
	const struct ctl_budget *b = &j->e->c->budget;
	const struct endurance_frames *f = &j->e->frames;
	const uint64_t no_map = without_map(&j->e->status), dropped = all_dropped(j->e);
	struct endurance_row *r = row(j, "numbers", "frames",
				      (double)(f->missing + f->back + f->damaged) + (f->frames == 0), 0.0);

	limit(r, "step by one");
	tell(r, "%" PRIu64 " frames", f->frames);
	if (f->missing + f->back + f->damaged)
		tell(r,
		     "; %" PRIu64 " missing that no counter shows, %" PRIu64 " did not rise, %" PRIu64
		     " damaged",
		     f->missing, f->back, f->damaged);
	r = row(j, "dropped", "pairs", (double)dropped, budget_or(b->dropped, 0));
	limit(r, "%.0f pairs", r->budget);
	tell(r, "%" PRIu64 " overload, %" PRIu64 " unpaired, %" PRIu64 " corrupt",
	     f->dropped[ENDURANCE_OVERLOAD], f->dropped[ENDURANCE_UNPAIRED], f->dropped[ENDURANCE_CORRUPT]);
	if (no_map)
		tell(r, ", %" PRIu64 " without a map", no_map);
	r = row(j, "lost here", "frames", (double)f->lost, budget_or(b->lost, 0));
	limit(r, "%.0f frames", r->budget);
	tell(r, "%" PRIu64 " overwritten before this reader came", f->lost);
}

static void judge_counts(struct judge *j)
{
	const struct endurance_status *s = &j->e->status;
	struct endurance_row *r =
		row(j, "counts", "pairs", s->answered ? (double)llabs(s->unbalanced) : (double)NAN, 0.0);

	limit(r, "nothing uncounted");
	if (!s->answered)
		tell(r, "there was no answer");
	else if (s->unbalanced)
		tell(r, "captured and what became of it differ by %" PRId64 " more than is in flight",
		     s->unbalanced);
	else
		tell(r, "captured = published + dropped + in flight");
}

static void judge_latency(struct judge *j)
{
	const struct endurance *e = j->e;
	struct sx_summary latency, age;
	struct endurance_row *r;
	double value;

	sx_histogram_summary(&e->frames.latency, &latency);
	sx_histogram_summary(&e->frames.age, &age);
	value = latency.n ? (double)latency.p99_ns / 1e6 : (double)NAN;
	r = row(j, "latency p99", "ms", value,
		e->c->budget.latency_ms > 0 ? e->c->budget.latency_ms : (double)NAN);
	if (e->c->budget.latency_ms > 0)
		limit(r, "%d ms", e->c->budget.latency_ms);
	else
		limit(r, "none: --latency");
	if (latency.n)
		tell(r, "%.2f ms from capture to result, %.2f ms when read", value, (double)age.p99_ns / 1e6);
	else
		tell(r, "the cameras' clock is not known");
}

/*
 * Judges the CPU time of the process. It is unknown if the process cannot be seen or was not seen for long
 * enough.
 */
static void judge_cpu(struct judge *j)
{
	const struct endurance_status *s = &j->e->status;
	const bool cuda = strcmp(s->backend, "cuda") == 0;
	const double span_s = (double)(s->last_ns - s->first_ns) / 1e9;
	const bool seen = sx_why_is_empty(&s->not_seen) && span_s > 0.0;
	const double value = seen ? 100.0 * (s->last.cpu_s - s->first.cpu_s) / span_s : (double)NAN;
	const int usual = cuda ? CPU_CUDA_PERCENT : (int)s->cores * CPU_SHARE_PERCENT;
	struct endurance_row *r =
		row(j, "cpu", "percent of a core", value, budget_or(j->e->c->budget.cpu, usual));

	limit(r, "%.0f %% of a core", r->budget);
	if (seen)
		tell(r, "%.1f %%, of %" PRId64 " cores", value, s->cores);
	else
		tell(r, "%s",
		     !sx_why_is_empty(&s->not_seen) ? s->not_seen.text : "it did not run long enough");
}

static void judge_memory(struct judge *j)
{
	const struct endurance_status *s = &j->e->status;
	const double span_s = (double)(s->last_ns - s->first_ns) / 1e9,
		     slope = endurance_line_slope(&s->memory);
	const bool seen = sx_why_is_empty(&s->not_seen) && s->memory.n >= MEMORY_POINTS;
	struct endurance_row *r = row(j, "memory", "KiB", seen ? slope * span_s / 1024.0 : (double)NAN,
				      budget_or(j->e->c->budget.memory, MEMORY_KIB));

	limit(r, "%.0f KiB more", r->budget);
	if (seen)
		tell(r, "%+.0f KiB in %.0f s, %.1f MiB in all", r->value, span_s,
		     (double)s->last.memory / 1048576.0);
	else
		tell(r, "%s", !sx_why_is_empty(&s->not_seen) ? s->not_seen.text : "too few looks at it");
}

static void judge_descriptors(struct judge *j)
{
	const struct endurance_status *s = &j->e->status;
	const bool seen = sx_why_is_empty(&s->not_seen) && s->least[0] >= 0 && s->least[1] >= 0;
	struct endurance_row *r =
		row(j, "descriptors", "descriptors", seen ? s->least[1] - s->least[0] : (double)NAN,
		    budget_or(j->e->c->budget.descriptors, 0));

	limit(r, "%.0f more", r->budget);
	if (seen)
		tell(r, "%d, then %d, but for readers", s->least[0], s->least[1]);
	else if (!sx_why_is_empty(&s->not_seen))
		tell(r, "%s", s->not_seen.text);
	else
		tell(r, "%s",
		     s->last.descriptors < 0 ? "only its user and root may look"
					     : "it did not run long enough");
}

static void judge_log(struct judge *j)
{
	const struct endurance_status *s = &j->e->status;
	const double minutes = (double)(s->lines_ns - s->lines_first_ns) / 60e9;
	const int a_minute = budget_or(j->e->c->budget.log, LOG_A_MINUTE);
	const bool seen = s->answered > 1 && s->lines[0] >= 0;
	const int64_t lines = s->lines[1] - s->lines[0], lost = s->lost_lines[1] - s->lost_lines[0];
	struct endurance_row *r =
		row(j, "log", "lines", seen ? (double)(lines + lost) : (double)NAN, ceil(minutes * a_minute));

	limit(r, "%d lines a minute", a_minute);
	if (seen)
		tell(r, "%" PRId64 " lines in %.1f minutes, %" PRId64 " lost", lines, minutes, lost);
	else
		tell(r, "the status does not say");
}

void endurance_cut(char *text)
{
	json_t *whole;

	for (size_t n = strlen(text); !(whole = json_string(text)) && n; n--)
		text[n - 1] = '\0';
	json_decref(whole);
}

int endurance_judge(const struct endurance *e, struct endurance_row rows[ENDURANCE_ROWS])
{
	static void (*const rules[])(struct judge * j) = {
		judge_state,  judge_life,    judge_rate, judge_intervals, judge_silence,     judge_numbers,
		judge_counts, judge_latency, judge_cpu,	 judge_memory,	  judge_descriptors, judge_log,
	};
	struct judge j = {.e = e, .rows = rows};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		rules[i](&j);
	for (int i = 0; i < j.count; i++)
		endurance_cut(rows[i].figure);
	return j.count;
}
