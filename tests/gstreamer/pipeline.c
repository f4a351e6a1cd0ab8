/*
 * Runs a pipeline for a test, as an application would. Prints a line for each message ("warning TEXT", "eos"), and
 * at the end "stats NAME VALUE" for each counter of the element "s".
 *
 * Usage: pipeline [--realtime] DESCRIPTION. --realtime: the pipeline's clock is CLOCK_REALTIME. Each line of
 * standard input, "ELEMENT PROPERTY VALUE", sets a property; "eos" ends the stream, "flush" flushes both sides.
 * Exit code 1: the pipeline ended with an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <gst/gst.h>
#include <stdio.h>
#include <string.h>

static GMainLoop *loop;
static GstElement *pipeline;
static int status;

static void print_text(const char *kind, GError *error)
{
	printf("%s %s\n", kind, error->message);
	g_error_free(error);
}

static gboolean on_message(GstBus *bus, GstMessage *message, gpointer data)
{
	GError *error = NULL;

	switch (GST_MESSAGE_TYPE(message)) {
	case GST_MESSAGE_ERROR:
		gst_message_parse_error(message, &error, NULL);
		print_text("error", error);
		status = 1;
		g_main_loop_quit(loop);
		break;
	case GST_MESSAGE_WARNING:
		gst_message_parse_warning(message, &error, NULL);
		print_text("warning", error);
		break;
	case GST_MESSAGE_INFO:
		gst_message_parse_info(message, &error, NULL);
		print_text("info", error);
		break;
	case GST_MESSAGE_LATENCY:
		gst_bin_recalculate_latency(GST_BIN(pipeline));
		break;
	case GST_MESSAGE_EOS:
		printf("eos\n");
		g_main_loop_quit(loop);
		break;
	default:
		break;
	}
	fflush(stdout);
	return TRUE;
}

static void set_property(const char *line)
{
	gchar **word = g_strsplit(line, " ", 3);
	GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), word[0]);

	gst_util_set_object_arg(G_OBJECT(element), word[1], word[2]);
	gst_object_unref(element);
	g_strfreev(word);
}

static gboolean on_line(GIOChannel *channel, GIOCondition condition, gpointer data)
{
	gchar *line = NULL;

	if (g_io_channel_read_line(channel, &line, NULL, NULL, NULL) != G_IO_STATUS_NORMAL)
		return FALSE;
	g_strchomp(line);
	if (strcmp(line, "eos") == 0)
		gst_element_send_event(pipeline, gst_event_new_eos());
	else if (strcmp(line, "flush") == 0)
		gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0);
	else
		set_property(line);
	g_free(line);
	return TRUE;
}

static gboolean print_stat(GQuark name, const GValue *value, gpointer data)
{
	printf("stats %s %" G_GUINT64_FORMAT "\n", g_quark_to_string(name), g_value_get_uint64(value));
	return TRUE;
}

static void print_stats(void)
{
	GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "s");
	GstStructure *stats = NULL;

	g_object_get(sink, "stats", &stats, NULL);
	gst_structure_foreach(stats, print_stat, NULL);
	gst_structure_free(stats);
	gst_object_unref(sink);
}

static void use_realtime(void)
{
	GstClock *clock = g_object_new(GST_TYPE_SYSTEM_CLOCK, "clock-type", GST_CLOCK_TYPE_REALTIME, NULL);

	gst_object_ref_sink(clock);
	gst_pipeline_use_clock(GST_PIPELINE(pipeline), clock);
	gst_object_unref(clock);
}

static void run(void)
{
	GIOChannel *in = g_io_channel_unix_new(0);
	GstBus *bus = gst_element_get_bus(pipeline);

	loop = g_main_loop_new(NULL, FALSE);
	gst_bus_add_watch(bus, on_message, NULL);
	g_io_add_watch(in, G_IO_IN | G_IO_HUP, on_line, NULL);
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	g_main_loop_run(loop);
	print_stats();
	gst_element_set_state(pipeline, GST_STATE_NULL);
	gst_bus_remove_watch(bus);
	gst_object_unref(bus);
	g_io_channel_unref(in);
	g_main_loop_unref(loop);
}

int main(int argc, char **argv)
{
	GError *error = NULL;

	gst_init(&argc, &argv);
	pipeline = gst_parse_launch(argv[argc - 1], &error);
	if (error) {
		print_text("error", error);
		return 2;
	}
	if (argc > 2)
		use_realtime();
	run();
	gst_object_unref(pipeline);
	gst_deinit(); /* the tracer "leaks" then prints what is left */
	return status;
}
