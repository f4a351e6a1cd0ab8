/*
 * Implements stixelctl watch: measures the frames of a ring at the reader. docs/use/latency.md describes the
 * measuring points.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/statistics/histogram.h"
#include "stixel.h"
#include "tools/ctl/ctl.h"

enum measure {
	CAPTURE_RESULT, /* time from capture to result, both in the frame's header */
	RESULT_AWAKE,	/* time from result until stixel_wait() has returned in this process */
	AGE_WHEN_READ,	/* time from capture until the frame was copied and checked */
	MEASURES
};

static const struct {
	const char *key, *title;
} measures[MEASURES] = {
	[CAPTURE_RESULT] = {"capture_to_result", "capture to result"},
	[RESULT_AWAKE] = {"result_to_awake", "result to awake"},
	[AGE_WHEN_READ] = {"age_when_read", "age when read"},
};

/* Counts of one second, or of the whole run. */
struct tally {
	int64_t began_ns;
	uint64_t frames, lost, restarts;
	struct sx_histogram h[MEASURES];
};

struct watch {
	const struct ctl *c;
	struct stixel_reader *reader;
	struct tally second, all;
	uint64_t epoch; /* epoch of the previous frame; 0: none yet */
	int lines;	/* lines since the heading */
};

static double rate(const struct tally *t, int64_t now_ns)
{
	double s = (double)(now_ns - t->began_ns) / 1e9;

	return s > 0.0 ? (double)t->frames / s : 0.0;
}

static void tally_begin(struct tally *t, int64_t now_ns)
{
	memset(t, 0, sizeof(*t));
	t->began_ns = now_ns;
}

/* ---- printing ------------------------------------------------------------------------------------------ */

static void print_json(const struct watch *w, const struct tally *t, const char *event, int64_t now_ns)
{
	struct stixel_status status = {0};

	stixel_status(w->reader, &status, sizeof(status));
	printf("{\"event\":\"%s\",\"seconds\":%.3f,\"publisher\":\"%s\",\"state\":\"%s\",\"frames\":%" PRIu64
	       ",\"lost\":%" PRIu64 ",\"restarts\":%" PRIu64 ",\"fps\":%.2f,\"latency_us\":{",
	       event, (double)(now_ns - t->began_ns) / 1e9, stixel_publisher_name(status.publisher),
	       stixel_state_name(status.state), t->frames, t->lost, t->restarts, rate(t, now_ns));
	for (int m = 0; m < MEASURES; m++) {
		struct sx_summary s;

		sx_histogram_summary(&t->h[m], &s);
		printf("%s\"%s\":", m ? "," : "", measures[m].key);
		if (s.n)
			printf("{\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,\"max\":%.3f,\"n\":%" PRIu64 "}",
			       (double)s.p50_ns / 1e3, (double)s.p90_ns / 1e3, (double)s.p99_ns / 1e3,
			       (double)s.max_ns / 1e3, s.n);
		else
			fputs("{\"p50\":null,\"p90\":null,\"p99\":null,\"max\":null,\"n\":0}", stdout);
	}
	puts("}}");
}

/* Prints "12:00:01  ". */
static void print_time(void)
{
	char text[16];
	time_t t = time(NULL);
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	fputs(text, stdout);
}

static void print_heading(struct watch *w)
{
	/* a file gets the heading once, a terminal again and again because it scrolls away */
	if (w->lines++ % (isatty(STDOUT_FILENO) ? 20 : 1000000))
		return;
	printf("%28s %13s %14s %13s\n%28s %13s %14s %13s\n%8s %6s %5s %6s", "", "capture to", "result to",
	       "age when", "", "result, ms", "awake, us", "read, ms", "time", "frames", "lost", "fps");
	for (int m = 0; m < MEASURES; m++)
		printf("%*s %6s", m == RESULT_AWAKE ? 8 : 7, "p50", "p99");
	putchar('\n');
}

static void print_ms(const struct sx_summary *s)
{
	double p50 = (double)s->p50_ns / 1e6, p99 = (double)s->p99_ns / 1e6;

	printf(" %6.*f %6.*f", p50 < 100.0 ? 2 : 0, p50, p99 < 100.0 ? 2 : 0, p99);
}

/* Prints why no frame came, in the words of the library. */
static void print_silence(const struct watch *w)
{
	struct stixel_status status = {0};

	stixel_status(w->reader, &status, sizeof(status));
	if (status.publisher == STIXEL_PUBLISHER_ALIVE)
		printf("   no frames; state %s\n", stixel_state_name(status.state));
	else if (status.publisher == STIXEL_PUBLISHER_ABSENT)
		puts("   no frames; no stixeld runs");
	else
		printf("   no frames; stixeld %s\n", stixel_publisher_name(status.publisher));
}

static void print_line(struct watch *w, int64_t now_ns)
{
	const struct tally *t = &w->second;
	struct sx_summary s[MEASURES];

	print_heading(w);
	print_time();
	printf(" %6" PRIu64 " %5" PRIu64 " %6.1f", t->frames, t->lost, rate(t, now_ns));
	if (!t->frames) {
		print_silence(w);
		return;
	}
	for (int m = 0; m < MEASURES; m++)
		sx_histogram_summary(&t->h[m], &s[m]);
	print_ms(&s[CAPTURE_RESULT]);
	printf(" %7.0f %6.0f", (double)s[RESULT_AWAKE].p50_ns / 1e3, (double)s[RESULT_AWAKE].p99_ns / 1e3);
	print_ms(&s[AGE_WHEN_READ]);
	putchar('\n');
}

/* Prints the distribution of the wake-up time: one bar for each doubling. */
static void print_spread(const struct sx_histogram *h, uint64_t n)
{
	static const char full[] = "########################################";
	uint64_t before = 0;

	puts("\nresult to awake, ms  share of frames");
	for (int64_t limit_ns = 8192; before < n && limit_ns > 0; limit_ns *= 2) {
		uint64_t below = sx_histogram_below(h, limit_ns);
		double share = (double)(below - before) / (double)n;

		if (below > before)
			printf("%8.3f .. %8.3f %6.1f %%  %.*s\n",
			       limit_ns == 8192 ? 0.0 : (double)limit_ns / 2e6, (double)limit_ns / 1e6,
			       share * 100.0, (int)(share * 40.0 + 0.5), full);
		before = below;
	}
}

static void print_summary(const struct watch *w, int64_t now_ns)
{
	const struct tally *t = &w->all;

	printf("\n%.1f s: %" PRIu64 " frames, %" PRIu64 " lost, %.2f a second, %" PRIu64 " restarts\n",
	       (double)(now_ns - t->began_ns) / 1e9, t->frames, t->lost, rate(t, now_ns), t->restarts);
	if (!t->frames)
		return;
	puts("\nms                        p50       p90       p99       max");
	for (int m = 0; m < MEASURES; m++) {
		struct sx_summary s;

		sx_histogram_summary(&t->h[m], &s);
		printf("%-20s %9.3f %9.3f %9.3f %9.3f\n", measures[m].title, (double)s.p50_ns / 1e6,
		       (double)s.p90_ns / 1e6, (double)s.p99_ns / 1e6, (double)s.max_ns / 1e6);
	}
	print_spread(&t->h[RESULT_AWAKE], t->frames);
}

/* ---- measuring ----------------------------------------------------------------------------------------- */

static void tell_restart(struct watch *w, const struct stixel_frame_header *h)
{
	if (w->epoch && w->epoch != h->epoch) {
		w->second.restarts++;
		w->all.restarts++;
		if (!w->c->json) {
			print_time();
			puts(" stixeld was restarted: frames count from 1 again");
		}
	}
	w->epoch = h->epoch;
}

static void count(struct watch *w, const struct stixel_frame_header *h, uint64_t lost, int64_t awake_ns)
{
	const int64_t ns[MEASURES] = {
		[CAPTURE_RESULT] = stixel_age_ns(h, h->published_ns),
		[RESULT_AWAKE] = awake_ns - h->published_ns,
		[AGE_WHEN_READ] = stixel_age_ns(h, sx_now_ns()),
	};

	tell_restart(w, h);
	w->second.frames++;
	w->all.frames++;
	w->second.lost += lost;
	w->all.lost += lost;
	for (int m = 0; m < MEASURES; m++) {
		sx_histogram_add(&w->second.h[m], ns[m]);
		sx_histogram_add(&w->all.h[m], ns[m]);
	}
}

static bool enough(const struct watch *w, int64_t now_ns)
{
	const struct ctl *c = w->c;

	return ctl_stopped || (c->frames > 0 && w->all.frames >= (uint64_t)c->frames) ||
	       (c->duration_ms > 0 && now_ns - w->all.began_ns >= c->duration_ms * INT64_C(1000000));
}

/* Takes frames until the time is up. Returns 0 or a negative error. */
static int take_until(struct watch *w, int64_t until_ns)
{
	for (int64_t now_ns = sx_now_ns(); now_ns < until_ns && !enough(w, now_ns); now_ns = sx_now_ns()) {
		int r = stixel_wait(w->reader, (int)((until_ns - now_ns + 999999) / 1000000));
		/* the moment that this command measures: keep the clock directly after the wait */
		int64_t awake_ns = sx_now_ns();
		const struct stixel_frame *f;
		uint64_t lost;

		while (r > 0 && !enough(w, awake_ns) && (r = stixel_next(w->reader, &f, &lost)) > 0)
			count(w, f->header, lost, awake_ns);
		if (r < 0 && r != -EINTR)
			return r;
	}
	return 0;
}

static int print_second(struct watch *w)
{
	int64_t now_ns = sx_now_ns();

	if (w->c->json)
		print_json(w, &w->second, "second", now_ns);
	else
		print_line(w, now_ns);
	tally_begin(&w->second, now_ns);
	return fflush(stdout) == 0 ? 0 : -errno;
}

static int watch_run(struct watch *w)
{
	const struct stixel_frame *f;
	int64_t next_ns = sx_now_ns();
	int r = 0;

	stixel_latest(w->reader, &f); /* skip the old frame in the ring: it has not woken this reader */
	tally_begin(&w->second, next_ns);
	tally_begin(&w->all, next_ns);
	while (r == 0 && !enough(w, sx_now_ns())) {
		int64_t end_ns = w->c->duration_ms > 0
					 ? w->all.began_ns + w->c->duration_ms * INT64_C(1000000)
					 : INT64_MAX;

		next_ns += SX_NS_PER_S;
		r = take_until(w, next_ns < end_ns ? next_ns : end_ns);
		/* the summary reports the last, incomplete second */
		if (r == 0 && !ctl_stopped && sx_now_ns() >= next_ns)
			r = print_second(w);
	}
	return r;
}

int ctl_watch(const struct ctl *c)
{
	static struct watch w;
	int r;

	w.c = c;
	r = stixel_open(&w.reader, c->instance, STIXEL_OPEN_FOLLOW);
	if (r < 0)
		return ctl_explain(c, r);
	r = watch_run(&w);
	if (r == 0 && c->json)
		print_json(&w, &w.all, "summary", sx_now_ns());
	else if (r == 0)
		print_summary(&w, sx_now_ns());
	if (r == 0 && fflush(stdout) != 0)
		r = -errno;
	stixel_close(w.reader);
	if (r == -EPIPE)
		return 0;
	if (r < 0)
		return ctl_explain(c, r);
	return w.all.frames ? 0 : ctl_fail(CTL_NOTHING, "instance '%s' published no frame", c->instance);
}
