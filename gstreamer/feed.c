/*
 * Makes pairs of the images of both sides, and gives them to the daemon by libstixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gstreamer/feed.h"

#include <string.h>

#define SECOND_NS G_GINT64_CONSTANT(1000000000)
#define GRACE_NS SECOND_NS	   /* longest time from new caps of one side to new caps of the other */
#define NEWS_AFTER_NS SECOND_NS	   /* a sentence that holds for less time is only a step of connecting */
#define PERIOD_NS (SECOND_NS / 30) /* distance assumed until a side without a rate has two images */

struct feed_away {
	guint64 number;
	GstBuffer *buffer[SX_SIDES];
};

struct sx_feed {
	GMutex lock;
	struct sx_feed_settings settings;
	struct sx_feed_image waiting[SX_SIDES][SX_FEED_WAITING_MAX]; /* oldest first */
	guint waiting_count[SX_SIDES];
	gint64 last_ns[SX_SIDES];   /* time of the last image; -1: none */
	gint64 period_ns[SX_SIDES]; /* distance between two images */

	struct stixel_pairs *writer;  /* NULL: none, until the next pair */
	StixelArena *arena[SX_SIDES]; /* arenas that are the writer's buffers */
	struct feed_away away[SX_FEED_AWAY_MAX];
	guint away_count;

	gint64 equal_until_ns; /* time up to which a pair of different formats is no error */
	/* reasons why no daemon takes pairs: the last one, and the last one that was posted */
	gchar *seen, *said;
	gint64 seen_ns;
	struct sx_feed_counters count; /* count.pairs: sums over earlier writers */
};

struct sx_feed *sx_feed_new(void)
{
	struct sx_feed *f = g_new0(struct sx_feed, 1);

	g_mutex_init(&f->lock);
	for (guint side = 0; side < SX_SIDES; side++) {
		f->last_ns[side] = -1;
		f->period_ns[side] = PERIOD_NS;
	}
	f->equal_until_ns = G_MININT64;
	return f;
}

/* ---- images that wait for their partner ---- */

static void feed_forget(struct sx_feed *f, enum sx_feed_side side, guint count)
{
	struct sx_feed_image *w = f->waiting[side];

	for (guint i = 0; i < count; i++)
		gst_buffer_unref(w[i].buffer);
	f->waiting_count[side] -= count;
	memmove(w, w + count, f->waiting_count[side] * sizeof(*w));
}

static void feed_drop_unpaired(struct sx_feed *f, enum sx_feed_side side, guint count)
{
	f->count.unpaired[side] += count;
	feed_forget(f, side, count);
}

static void feed_wait(struct sx_feed *f, enum sx_feed_side side, const struct sx_feed_image *image)
{
	if (f->waiting_count[side] == SX_FEED_WAITING_MAX)
		feed_drop_unpaired(f, side, 1);
	f->waiting[side][f->waiting_count[side]++] = *image;
}

/* Notes the distance of a side's images. Without a rate in the caps, it is that of the last two. */
static void feed_measure(struct sx_feed *f, enum sx_feed_side side, const struct sx_feed_image *image)
{
	if (image->format.fps_n > 0)
		f->period_ns[side] = (gint64)gst_util_uint64_scale(GST_SECOND, (guint64)image->format.fps_d,
								   (guint64)image->format.fps_n);
	else if (f->last_ns[side] >= 0 && f->last_ns[side] < image->time_ns)
		f->period_ns[side] = image->time_ns - f->last_ns[side];
	f->last_ns[side] = image->time_ns;
}

/*
 * Finds the partner of an image. Sets *partner and removes it, and drops what is older than both. The rest of the
 * other side is newer and goes on waiting.
 */
static gboolean feed_match(struct sx_feed *f, enum sx_feed_side side, const struct sx_feed_image *image,
			   struct sx_feed_image *partner)
{
	const enum sx_feed_side other = side == SX_LEFT ? SX_RIGHT : SX_LEFT;
	gint64 nearest = MIN(f->period_ns[SX_LEFT], f->period_ns[SX_RIGHT]) / 2;
	guint found = SX_FEED_WAITING_MAX;

	for (guint i = 0; i < f->waiting_count[other]; i++) {
		const gint64 apart = ABS(f->waiting[other][i].time_ns - image->time_ns);

		if (apart <= nearest) {
			nearest = apart;
			found = i;
		}
	}
	if (found == SX_FEED_WAITING_MAX)
		return FALSE;
	*partner = f->waiting[other][found];
	gst_buffer_ref(partner->buffer);
	feed_drop_unpaired(f, other, found);
	feed_forget(f, other, 1);
	feed_drop_unpaired(f, side, f->waiting_count[side]);
	return TRUE;
}

/* ---- the writer ---- */

static void feed_collect(struct sx_feed *f)
{
	guint64 number;

	while (f->away_count && stixel_pairs_returned(f->writer, &number, NULL, 0) > 0)
		for (guint i = 0; i < f->away_count; i++)
			if (f->away[i].number == number) {
				gst_buffer_unref(f->away[i].buffer[SX_LEFT]);
				gst_buffer_unref(f->away[i].buffer[SX_RIGHT]);
				f->away[i] = f->away[--f->away_count];
				break;
			}
}

static void feed_add_counts(const struct sx_feed *f, struct stixel_pairs_counters *sum)
{
	struct stixel_pairs_counters c;

	if (!f->writer || stixel_pairs_counters(f->writer, &c, sizeof(c)) < 0)
		return;
	sum->queued += c.queued;
	for (guint i = 0; i < G_N_ELEMENTS(c.returned); i++)
		sum->returned[i] += c.returned[i];
	sum->lost += c.lost;
	sum->dropped += c.dropped;
	sum->connections += c.connections;
}

static void feed_close_writer(struct sx_feed *f)
{
	if (f->writer) {
		feed_collect(f);
		feed_add_counts(f, &f->count.pairs);
		f->count.pairs.lost += f->away_count;
		stixel_pairs_close(f->writer);
		f->writer = NULL;
	}
	for (; f->away_count; f->away_count--)
		for (guint side = 0; side < SX_SIDES; side++)
			gst_buffer_unref(f->away[f->away_count - 1].buffer[side]);
	for (guint side = 0; side < SX_SIDES; side++)
		gst_clear_object(&f->arena[side]);
	g_clear_pointer(&f->seen, g_free); /* the next writer's state is news again */
	g_clear_pointer(&f->said, g_free);
}

static int feed_create_writer(struct sx_feed *f, const struct sx_format *from)
{
	const struct sx_feed_settings *s = &f->settings;
	struct stixel_pairs_format format = {
		.width = from->width,
		.height = from->height,
		.pixel = from->pixel,
		.pitch = from->pitch,
		.flags = STIXEL_PAIRS_OWN_BUFFERS | (s->simulated ? STIXEL_PAIRS_SIMULATED : 0),
		.clock = STIXEL_CLOCK_MONOTONIC,
		.stamp = STIXEL_STAMP_SOFTWARE, /* the pipeline does not say what its times mean */
		.fps = from->fps_n > 0 ? (double)from->fps_n / from->fps_d : 0,
		.fx = s->fx,
		.fy = s->fy,
		.cx = s->cx,
		.cy = s->cy,
		.baseline_m = s->baseline_m,
	};

	g_strlcpy(format.name, "stixelsink", sizeof(format.name));
	if (strchr(s->instance, '/'))
		return stixel_pairs_create_path(&f->writer, s->instance, &format, sizeof(format));
	return stixel_pairs_create(&f->writer, s->instance, &format, sizeof(format));
}

/* Makes a writer whose buffers are the arenas of these images. Returns 0 or negative errno. */
static int feed_open_writer(struct sx_feed *f, const struct sx_feed_image pair[SX_SIDES])
{
	int r;

	feed_close_writer(f);
	r = feed_create_writer(f, &pair[SX_LEFT].format);
	for (guint side = 0; side < SX_SIDES && r >= 0; side++) {
		f->arena[side] = gst_object_ref(pair[side].arena);
		r = stixel_pairs_add_buffer(f->writer, sx_arena_fd(pair[side].arena),
					    sx_arena_bytes(pair[side].arena));
	}
	if (r < 0)
		feed_close_writer(f);
	return r < 0 ? r : 0;
}

/* Gives a pair to the daemon, or counts it. The pair keeps its references to the buffers if it returns TRUE. */
static gboolean feed_queue(struct sx_feed *f, const struct sx_feed_image pair[SX_SIDES])
{
	struct stixel_pairs_pair p = {
		.left_buffer = SX_LEFT,
		.right_buffer = SX_RIGHT,
		.left_offset = pair[SX_LEFT].offset,
		.right_offset = pair[SX_RIGHT].offset,
		.left_ns = pair[SX_LEFT].captured_ns,
		.right_ns = pair[SX_RIGHT].captured_ns,
	};

	feed_collect(f);
	if (f->away_count == SX_FEED_AWAY_MAX) {
		f->count.busy++;
		return FALSE;
	}
	if (stixel_pairs_queue(f->writer, &p, sizeof(p)) < 0)
		return FALSE;
	f->away[f->away_count++] = (struct feed_away){
		.number = p.number, .buffer = {pair[SX_LEFT].buffer, pair[SX_RIGHT].buffer}};
	for (guint side = 0; side < SX_SIDES; side++)
		f->count.copied[side] += pair[side].copied;
	return TRUE;
}

/* ---- news ---- */

static void feed_tell(struct sx_feed_news *news, enum sx_feed_news_kind kind, gchar *text)
{
	g_free(news->text);
	*news = (struct sx_feed_news){kind, text};
}

/* Finds out whether a daemon takes pairs. A change that lasts is news. */
static void feed_watch(struct sx_feed *f, const struct sx_feed_image pair[SX_SIDES], gboolean taken,
		       struct sx_feed_news *news)
{
	const gchar *why = stixel_pairs_why(f->writer);
	const gint64 now = g_get_monotonic_time() * 1000;

	if (g_strcmp0(why, f->seen) != 0) {
		g_free(f->seen);
		f->seen = g_strdup(why);
		f->seen_ns = now;
	}
	if (*why ? now - f->seen_ns < NEWS_AFTER_NS : !taken)
		return;
	if (g_strcmp0(why, f->said) == 0)
		return;
	g_free(f->said);
	f->said = g_strdup(why);
	if (*why)
		feed_tell(news, SX_NEWS_WARNING, g_strdup(why));
	else
		feed_tell(news, SX_NEWS_INFO,
			  g_strdup_printf(
				  "stixeld takes pairs of %ux%u %s; left images: %s, right images: %s",
				  pair[SX_LEFT].format.width, pair[SX_LEFT].format.height,
				  pair[SX_LEFT].format.name, pair[SX_LEFT].copied ? "copied" : "no copy",
				  pair[SX_RIGHT].copied ? "copied" : "no copy"));
}

/* Counts a pair of different formats. Soon after an equal pair it is no error: the other side's caps follow. */
static void feed_refuse(struct sx_feed *f, const struct sx_feed_image pair[SX_SIDES],
			struct sx_feed_news *news)
{
	const struct sx_format *l = &pair[SX_LEFT].format, *r = &pair[SX_RIGHT].format;

	f->count.different++;
	if (pair[SX_LEFT].time_ns > f->equal_until_ns)
		feed_tell(news, SX_NEWS_ERROR,
			  g_strdup_printf(
				  "left has images of %ux%u %s and right of %ux%u %s: both must have the "
				  "same size and format",
				  l->width, l->height, l->name, r->width, r->height, r->name));
}

/* ---- pairs ---- */

/* Gives a pair to the daemon. Returns as feed_queue(). */
static gboolean feed_give(struct sx_feed *f, const struct sx_feed_image pair[SX_SIDES],
			  struct sx_feed_news *news)
{
	gboolean taken;
	int r = 0;

	if (!sx_format_equal(&pair[SX_LEFT].format, &pair[SX_RIGHT].format)) {
		feed_refuse(f, pair, news);
		return FALSE;
	}
	f->equal_until_ns = pair[SX_LEFT].time_ns + GRACE_NS;
	if (!f->writer || f->arena[SX_LEFT] != pair[SX_LEFT].arena ||
	    f->arena[SX_RIGHT] != pair[SX_RIGHT].arena)
		r = feed_open_writer(f, pair);
	if (r < 0) {
		feed_tell(news, SX_NEWS_ERROR,
			  g_strdup_printf("pairs cannot be given to instance \"%s\": %s",
					  f->settings.instance, g_strerror(-r)));
		return FALSE;
	}
	taken = feed_queue(f, pair);
	feed_watch(f, pair, taken, news);
	return taken;
}

void sx_feed_take(struct sx_feed *f, enum sx_feed_side side, const struct sx_feed_image *image,
		  struct sx_feed_news *news)
{
	struct sx_feed_image pair[SX_SIDES];

	g_mutex_lock(&f->lock);
	feed_measure(f, side, image);
	pair[side] = *image;
	if (!feed_match(f, side, image, &pair[side == SX_LEFT ? SX_RIGHT : SX_LEFT])) {
		feed_wait(f, side, image);
	} else if (!feed_give(f, pair, news)) {
		gst_buffer_unref(pair[SX_LEFT].buffer);
		gst_buffer_unref(pair[SX_RIGHT].buffer);
	}
	g_mutex_unlock(&f->lock);
}

void sx_feed_no_slot(struct sx_feed *f, enum sx_feed_side side)
{
	g_mutex_lock(&f->lock);
	f->count.no_slot[side]++;
	g_mutex_unlock(&f->lock);
}

void sx_feed_flush(struct sx_feed *f, enum sx_feed_side side)
{
	g_mutex_lock(&f->lock);
	feed_forget(f, side, f->waiting_count[side]);
	f->last_ns[side] = -1;
	g_mutex_unlock(&f->lock);
}

void sx_feed_close(struct sx_feed *f, enum sx_feed_side side)
{
	sx_feed_flush(f, side);
	g_mutex_lock(&f->lock);
	feed_close_writer(f);
	g_mutex_unlock(&f->lock);
}

void sx_feed_count(struct sx_feed *f, struct sx_feed_counters *counters)
{
	g_mutex_lock(&f->lock);
	*counters = f->count;
	feed_add_counts(f, &counters->pairs);
	g_mutex_unlock(&f->lock);
}

void sx_feed_set(struct sx_feed *f, const struct sx_feed_settings *settings)
{
	g_mutex_lock(&f->lock);
	g_free(f->settings.instance);
	f->settings = *settings;
	f->settings.instance = g_strdup(settings->instance);
	g_mutex_unlock(&f->lock);
}

void sx_feed_free(struct sx_feed *f)
{
	for (guint side = 0; side < SX_SIDES; side++)
		sx_feed_close(f, (enum sx_feed_side)side);
	g_free(f->settings.instance);
	g_mutex_clear(&f->lock);
	g_free(f);
}
