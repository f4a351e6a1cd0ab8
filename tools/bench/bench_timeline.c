/*
 * stixel-bench --timeline: records when each frame was captured, computed and collected. A capture thread
 * writes pairs into pinned slots, as a camera does. The main thread keeps every context busy and collects in
 * order, as the daemon's frame thread does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/why.h"
#include "tools/bench/bench.h"

#define BARS 10	   /* number of frames drawn */
#define COLUMNS 72 /* characters of a bar */

/* Monotonic times of one frame, ns. start and finish are times of the engine. */
struct row {
	int64_t capture_start, capture_end, submit, start, finish, collected;
};

struct timeline {
	struct bench_run *b;
	struct sx_slots slots; /* slots that the capture thread writes to */
	struct row *rows;
	int frames;
	pthread_mutex_t lock; /* protects `captured` and `stop` */
	pthread_cond_t more;
	int captured; /* number of frames captured; `rows` and `pairs` below this index are complete */
	bool stop;
	struct sx_pair *pairs; /* indexed by frame */
};

static struct sx_slot *free_slot(struct timeline *t)
{
	struct pollfd fd = {.fd = t->slots.fd, .events = POLLIN};
	struct sx_slot *slot = NULL;

	while (!slot) {
		poll(&fd, 1, 100);
		slot = sx_slots_take(&t->slots);
		pthread_mutex_lock(&t->lock);
		if (t->stop && slot) {
			sx_slots_release(&t->slots, slot);
			slot = NULL;
		}
		if (t->stop) {
			pthread_mutex_unlock(&t->lock);
			return NULL;
		}
		pthread_mutex_unlock(&t->lock);
	}
	return slot;
}

static void *capture(void *timeline)
{
	struct timeline *t = timeline;

	for (int i = 0; i < t->frames; i++) {
		const struct sx_pair *scene = &t->b->pairs[i % t->b->pair_count];
		struct sx_slot *slot = free_slot(t);

		if (!slot)
			break;
		t->rows[i].capture_start = sx_now_ns();
		sx_image_copy(&slot->left, &scene->left);
		sx_image_copy(&slot->right, &scene->right);
		t->rows[i].capture_end = sx_now_ns();
		t->pairs[i] = (struct sx_pair){.left = slot->left,
					       .right = slot->right,
					       .number = (uint64_t)i + 1,
					       .left_ns = i * BENCH_PERIOD_NS,
					       .slot = slot};
		pthread_mutex_lock(&t->lock);
		t->captured = i + 1;
		pthread_cond_signal(&t->more);
		pthread_mutex_unlock(&t->lock);
	}
	return NULL;
}

/* Returns whether pair i was captured. wait: blocks until it is. */
static bool has_pair(struct timeline *t, int i, bool wait)
{
	bool has;

	pthread_mutex_lock(&t->lock);
	while (wait && t->captured <= i)
		pthread_cond_wait(&t->more, &t->lock);
	has = t->captured > i;
	pthread_mutex_unlock(&t->lock);
	return has;
}

/* Stores start and finish by the device's clock, or else as the engine saw them from the host. */
static void keep_times(struct row *row, const struct sx_result *r)
{
	row->start = r->device_ns[0] ? r->device_ns[0] : r->started_ns;
	row->finish = r->device_ns[1] ? r->device_ns[1] : r->finished_ns;
}

static int collect(struct timeline *t, int i, int timeout_ms)
{
	const struct sx_backend *e = t->b->engine.backend;
	struct sx_context *x = t->b->contexts[i % t->b->context_count];
	int r = e->wait(x, timeout_ms);

	if (r <= 0)
		return r;
	keep_times(&t->rows[i], e->result(x));
	r = bench_run_copy(t->b, e->result(x));
	t->rows[i].collected = sx_now_ns();
	sx_slots_release(&t->slots, t->pairs[i].slot);
	return r < 0 ? r : 1;
}

static int submit(struct timeline *t, int i)
{
	t->rows[i].submit = sx_now_ns();
	return t->b->engine.backend->submit(t->b->contexts[i % t->b->context_count], &t->pairs[i], NULL, NULL,
					    NULL);
}

static int serve(struct timeline *t)
{
	int submitted = 0, collected = 0, n = t->b->context_count;

	while (collected < t->frames) {
		bool room = submitted - collected < n && submitted < t->frames;
		int r;

		if (room && has_pair(t, submitted, submitted == collected)) {
			r = submit(t, submitted++);
			if (r < 0)
				return r;
			continue;
		}
		/* if a context is free, wait only 1 ms and look again for its pair */
		r = collect(t, collected, room ? 1 : -1);
		if (r < 0)
			return r;
		collected += r;
	}
	return 0;
}

static int write_csv(const struct timeline *t, const char *path)
{
	FILE *f = fopen(path, "w");
	int64_t zero = t->rows[0].capture_start;
	bool failed;

	if (!f)
		return bench_fail(EX_CANTCREAT, path, strerror(errno));
	fputs("frame,context,capture_start_us,capture_end_us,submit_us,start_us,finish_us,collected_us\n", f);
	for (int i = 0; i < t->frames; i++) {
		const struct row *r = &t->rows[i];

		fprintf(f, "%d,%d,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f\n", i + 1, i % t->b->context_count,
			(double)(r->capture_start - zero) / 1e3, (double)(r->capture_end - zero) / 1e3,
			(double)(r->submit - zero) / 1e3, (double)(r->start - zero) / 1e3,
			(double)(r->finish - zero) / 1e3, (double)(r->collected - zero) / 1e3);
	}
	failed = ferror(f) != 0;
	if (fclose(f) != 0 || failed)
		return bench_fail(EX_CANTCREAT, path, strerror(errno));
	return 0;
}

static int64_t common(int64_t a, int64_t b, int64_t c, int64_t d)
{
	int64_t from = a > c ? a : c, to = b < d ? b : d;

	return to > from ? to - from : 0;
}

/* Draws one frame as a line of characters over the time [zero, zero + COLUMNS * step). */
static void timeline_draw(const struct row *r, int64_t zero, int64_t step, char *line)
{
	const struct {
		int64_t from, to;
		char mark;
	} parts[] = {{r->capture_start, r->capture_end, 'c'},
		     {r->capture_end, r->submit, '.'},
		     {r->submit, r->start, '-'},
		     {r->start, r->finish, '#'},
		     {r->finish, r->collected, '>'}};

	memset(line, ' ', COLUMNS);
	line[COLUMNS] = '\0';
	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
		int64_t from = (parts[p].from - zero) / step, to = (parts[p].to - zero + step - 1) / step;

		for (int64_t k = from < 0 ? 0 : from; k < to && k < COLUMNS; k++)
			/* work overwrites waiting; a mark of work stays */
			if (line[k] == ' ' || line[k] == '.' || line[k] == '-')
				line[k] = parts[p].mark;
	}
}

static void print_bars(const struct timeline *t, FILE *to)
{
	int first = t->frames > 2 * BARS ? t->frames / 2 : t->frames > BARS ? t->frames - BARS : 0;
	int last = first + BARS < t->frames ? first + BARS : t->frames;
	int64_t zero = t->rows[first].capture_start, span = t->rows[last - 1].collected - zero;
	char line[COLUMNS + 1];

	fprintf(to,
		"\nc captured  . waits for a context  - waits for the device  # computed  > collected; %.3f "
		"ms a character\n",
		(double)span / COLUMNS / 1e6);
	for (int i = first; i < last; i++) {
		timeline_draw(&t->rows[i], zero, span / COLUMNS + 1, line);
		fprintf(to, "%6d %c |%s|\n", i + 1, 'A' + i % t->b->context_count, line);
	}
}

/*
 * Prints the share of the computing time during which a later pair was captured, and the share during which
 * another context computed.
 */
static void print_overlap(const struct timeline *t, FILE *to)
{
	int64_t busy = 0, capturing = 0, beside = 0, end = t->rows[t->frames - 1].collected;
	int frames = 0;

	for (int i = 0; i < t->frames; i++) {
		const struct row *r = &t->rows[i];
		int64_t with = 0;

		for (int k = i + 1; k < t->frames && t->rows[k].capture_start < r->finish; k++)
			with += common(r->start, r->finish, t->rows[k].capture_start, t->rows[k].capture_end);
		for (int k = i + 1; k < t->frames && k <= i + t->b->context_count; k++)
			beside += common(r->start, r->finish, t->rows[k].start, t->rows[k].finish);
		busy += r->finish - r->start;
		capturing += with;
		frames += with > 0;
	}
	fprintf(to,
		"captured while the frame before was computed: %d of %d frames, %.0f %% of the computing "
		"time; "
		"two frames computed at once: %.0f %%; %.1f frames a second\n",
		frames, t->frames - 1, 100.0 * (double)capturing / (double)busy,
		100.0 * (double)beside / (double)busy,
		1e9 * (double)t->frames / (double)(end - t->rows[0].capture_start));
}

static int make(struct timeline *t)
{
	struct bench_run *b = t->b;
	struct sx_block block;
	struct sx_why why = {""};

	t->rows = calloc((size_t)t->frames, sizeof(*t->rows));
	t->pairs = calloc((size_t)t->frames, sizeof(*t->pairs));
	if (!t->rows || !t->pairs ||
	    sx_slots_init(&t->slots, b->context_count + 2, SX_LAYOUT_TWO, b->pairs[0].left.width,
			  b->pairs[0].left.height, b->config.pixel, &why) < 0 ||
	    sx_slots_pace(&t->slots, 0, &why) < 0)
		return bench_fail(EX_SOFTWARE, "no memory for the timeline", why.text);
	for (int i = 0; sx_slots_block(&t->slots, i, &block); i++)
		if (sx_engine_pin(&b->engine, block.memory, block.bytes) < 0)
			return bench_fail(EX_SOFTWARE, "memory for pairs cannot be pinned", NULL);
	return 0;
}

static int timeline_run(struct timeline *t)
{
	pthread_t camera;
	int error = pthread_create(&camera, NULL, capture, t), r;

	if (error)
		return bench_fail(EX_SOFTWARE, "no thread", strerror(error));
	r = serve(t);
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_mutex_unlock(&t->lock);
	pthread_join(camera, NULL);
	return r < 0 ? bench_fail(EX_SOFTWARE, "the engine failed", sx_engine_failure(&t->b->engine, r)) : 0;
}

int bench_timeline(struct bench_run *b, FILE *to)
{
	struct timeline t = {.b = b, .frames = b->options->frames, .slots.fd = -1};
	int code;

	pthread_mutex_init(&t.lock, NULL);
	pthread_cond_init(&t.more, NULL);
	code = bench_run_contexts(b, b->settings.engine.contexts, true, true);
	if (!code)
		code = make(&t);
	if (!code)
		code = timeline_run(&t);
	if (!code)
		code = write_csv(&t, b->options->timeline);
	if (!code && to) {
		print_bars(&t, to);
		print_overlap(&t, to);
	}
	pthread_cond_destroy(&t.more);
	pthread_mutex_destroy(&t.lock);
	sx_engine_unpin_all(&b->engine); /* unpin before the slots below are freed */
	sx_slots_finish(&t.slots);
	free(t.rows);
	free(t.pairs);
	return code;
}
