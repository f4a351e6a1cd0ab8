/*
 * The element stixelsink: a bin of two sinks, properties, and the plugin.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gstreamer/stixelsink.h"

#include "gstreamer/side.h"

#define PACKAGE "stixeld" /* a macro that GST_PLUGIN_DEFINE wants */
#define WEB "https://stixeld.invalid"
#if GST_CHECK_VERSION(1, 22, 0)
#define LICENSE "Apache 2.0"
#else
#define LICENSE GST_LICENSE_UNKNOWN /* older versions refuse names that they do not know */
#endif

struct _StixelSink {
	GstBin parent;
	struct sx_feed *feed;
	struct sx_feed_settings settings;
};

G_DEFINE_TYPE(StixelSink, sx_sink, GST_TYPE_BIN)

enum sink_property {
	PROP_INSTANCE = 1,
	PROP_FX,
	PROP_FY,
	PROP_CX,
	PROP_CY,
	PROP_BASELINE,
	PROP_SIMULATED,
	PROP_STATS
};

static gdouble *sink_number(StixelSink *s, guint id)
{
	switch (id) {
	case PROP_FX:
		return &s->settings.fx;
	case PROP_FY:
		return &s->settings.fy;
	case PROP_CX:
		return &s->settings.cx;
	case PROP_CY:
		return &s->settings.cy;
	default:
		return &s->settings.baseline_m;
	}
}

static void sink_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
	StixelSink *s = SX_SINK(object);

	GST_OBJECT_LOCK(s);
	switch (id) {
	case PROP_INSTANCE:
		g_free(s->settings.instance);
		s->settings.instance = g_value_dup_string(value);
		break;
	case PROP_SIMULATED:
		s->settings.simulated = g_value_get_boolean(value);
		break;
	default:
		*sink_number(s, id) = g_value_get_double(value);
	}
	sx_feed_set(s->feed, &s->settings);
	GST_OBJECT_UNLOCK(s);
}

static GstStructure *sink_stats(StixelSink *s)
{
	struct sx_feed_counters c;

	sx_feed_count(s->feed, &c);
	/* clang-format off */
	return gst_structure_new(
		"stixelsink-stats",
		"queued", G_TYPE_UINT64, c.pairs.queued,
		"taken", G_TYPE_UINT64, c.pairs.returned[STIXEL_PAIR_TAKEN],
		"overload", G_TYPE_UINT64, c.pairs.returned[STIXEL_PAIR_OVERLOAD],
		"bad", G_TYPE_UINT64, c.pairs.returned[STIXEL_PAIR_BAD],
		"lost", G_TYPE_UINT64, c.pairs.lost,
		"no-daemon", G_TYPE_UINT64, c.pairs.dropped,
		"busy", G_TYPE_UINT64, c.busy,
		"different-caps", G_TYPE_UINT64, c.different,
		"connections", G_TYPE_UINT64, c.pairs.connections,
		"unpaired-left", G_TYPE_UINT64, c.unpaired[SX_LEFT],
		"unpaired-right", G_TYPE_UINT64, c.unpaired[SX_RIGHT],
		"copied-left", G_TYPE_UINT64, c.copied[SX_LEFT],
		"copied-right", G_TYPE_UINT64, c.copied[SX_RIGHT],
		"no-slot-left", G_TYPE_UINT64, c.no_slot[SX_LEFT],
		"no-slot-right", G_TYPE_UINT64, c.no_slot[SX_RIGHT],
		NULL);
	/* clang-format on */
}

static void sink_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
	StixelSink *s = SX_SINK(object);

	if (id == PROP_STATS) {
		g_value_take_boxed(value, sink_stats(s));
		return;
	}
	GST_OBJECT_LOCK(s);
	switch (id) {
	case PROP_INSTANCE:
		g_value_set_string(value, s->settings.instance);
		break;
	case PROP_SIMULATED:
		g_value_set_boolean(value, s->settings.simulated);
		break;
	default:
		g_value_set_double(value, *sink_number(s, id));
	}
	GST_OBJECT_UNLOCK(s);
}

/* The bin frees its children before the feed, which they use. */
static void sink_finalize(GObject *object)
{
	StixelSink *s = SX_SINK(object);
	struct sx_feed *feed = s->feed;

	g_free(s->settings.instance);
	G_OBJECT_CLASS(sx_sink_parent_class)->finalize(object);
	sx_feed_free(feed);
}

static void sink_install_number(GObjectClass *class, guint id, const char *name, const char *what)
{
	g_object_class_install_property(
		class, id,
		g_param_spec_double(name, name, what, 0, 1e6, 0, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
}

static void sink_install_properties(GObjectClass *class)
{
	const GParamFlags both = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

	g_object_class_install_property(
		class, PROP_INSTANCE,
		g_param_spec_string(
			"instance", "instance",
			"Instance of stixeld with source.kind = shared, or path of its pairs.sock", "front",
			both));
	sink_install_number(
		class, PROP_FX, "fx",
		"Focal length of the rectified left camera, px; 0: the instance knows its camera");
	sink_install_number(class, PROP_FY, "fy", "Vertical focal length, px");
	sink_install_number(class, PROP_CX, "cx", "Principal point, px from the left edge");
	sink_install_number(class, PROP_CY, "cy", "Principal point, px from the upper edge");
	sink_install_number(class, PROP_BASELINE, "baseline", "Distance of both cameras, m");
	g_object_class_install_property(
		class, PROP_SIMULATED,
		g_param_spec_boolean("simulated", "simulated",
				     "Images without noise: repeated images are no sign of a frozen camera",
				     FALSE, both));
	g_object_class_install_property(class, PROP_STATS,
					g_param_spec_boxed("stats", "stats", "Counted pairs and images",
							   GST_TYPE_STRUCTURE,
							   G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static GstStaticPadTemplate sink_templates[SX_SIDES] = {
	[SX_LEFT] = GST_STATIC_PAD_TEMPLATE("left", GST_PAD_SINK, GST_PAD_ALWAYS,
					    GST_STATIC_CAPS(SX_FORMAT_CAPS)),
	[SX_RIGHT] = GST_STATIC_PAD_TEMPLATE("right", GST_PAD_SINK, GST_PAD_ALWAYS,
					     GST_STATIC_CAPS(SX_FORMAT_CAPS)),
};

static void sx_sink_class_init(StixelSinkClass *class)
{
	GObjectClass *object = G_OBJECT_CLASS(class);
	GstElementClass *element = GST_ELEMENT_CLASS(class);

	object->set_property = sink_set_property;
	object->get_property = sink_get_property;
	object->finalize = sink_finalize;
	sink_install_properties(object);
	for (guint side = 0; side < SX_SIDES; side++)
		gst_element_class_add_static_pad_template(element, &sink_templates[side]);
	gst_element_class_set_static_metadata(
		element, "Stereo pairs to stixeld", "Sink/Video",
		"Gives the images of two cameras to the daemon stixeld as pairs", SX_AUTHOR);
}

static void sx_sink_init(StixelSink *s)
{
	s->feed = sx_feed_new();
	s->settings.instance = g_strdup("front");
	sx_feed_set(s->feed, &s->settings);
	for (guint side = 0; side < SX_SIDES; side++) {
		const char *name = sink_templates[side].name_template;
		GstElement *child = sx_side_new(name, (enum sx_feed_side)side, s->feed);
		GstPadTemplate *template = gst_static_pad_template_get(&sink_templates[side]);
		GstPad *pad = gst_element_get_static_pad(child, "sink");

		gst_bin_add(GST_BIN(s), child);
		gst_element_add_pad(GST_ELEMENT(s), gst_ghost_pad_new_from_template(name, pad, template));
		gst_object_unref(pad);
		gst_object_unref(template);
	}
}

static gboolean plugin_init(GstPlugin *plugin)
{
	return gst_element_register(plugin, "stixelsink", GST_RANK_NONE, sx_sink_get_type());
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, stixel, "Gives stereo pairs to stixeld", plugin_init,
		  SX_VERSION, LICENSE, PACKAGE, WEB)
