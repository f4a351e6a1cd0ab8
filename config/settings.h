/*
 * The settings: every value of the configuration, in the structures of the folders that use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_SETTINGS_H
#define SX_CONFIG_SETTINGS_H

#include "base/rig.h"
#include "capture/source.h"
#include "config/calibration/rectify_params.h"
#include "power/params.h"
#include "stages/engine.h"
#include "stages/params/params.h"

enum sx_planes { SX_PLANES_NONE, SX_PLANES_DISPARITY, SX_PLANES_LEFT, SX_PLANES_BOTH, SX_PLANES_PAIR };
enum sx_planes_when { SX_PLANES_ASKED, SX_PLANES_ALWAYS };

struct sx_output_params {
	int slots; /* frames in the ring; a power of two */
	bool ring, stream;
	enum sx_planes planes; /* images published beside the stixels, for viewers */
	enum sx_planes_when planes_when;
};

struct sx_realtime_params {
	int priority;	  /* SCHED_FIFO priority of the capture thread, 0 = normal scheduling */
	bool lock_memory; /* lock all memory of the daemon by mlockall() */
};

/* Class scores from another process (ipc/feed/feed.h). */
struct sx_semantics_params {
	const char *source;  /* name of the ring with the scores; NULL: none */
	const char *classes; /* table of classes for sx_classes_parse() */
	int scale;	     /* finest scale of the scores that the buffers have room for */
	double wait_ms;	     /* time that a frame waits for its scores, ms */
	double max_age_ms;   /* largest age of scores of an earlier image that are used instead, ms */
};

/* Disparity maps from another process (ipc/feed/feed.h), if stereo.matcher is external. */
struct sx_external_params {
	const char *source; /* name of the ring with the maps */
	double wait_ms;	    /* time that a pair waits for its disparity map, ms */
	bool pairs;	    /* the daemon publishes the pairs for that process before their frames exist */
};

/* Facts about a calibration file, for the log. Texts are constants. */
struct sx_calibration_said {
	const char *format; /* format of the file, such as "OpenCV YAML"; NULL: no file */
	const char *pair;   /* pair of the file that was used; NULL: the file has one pair */
	bool other_pair;    /* the images come from another pair, which is not in the file */
	double baseline_m;  /* baseline in the file, m, replaced by camera.baseline_m; 0: none */
	bool of_dataset;    /* the file was found in the data set of source.path */
	bool missing;	    /* the data set of source.path has no such file, and [camera] has no camera */
};

struct sx_settings {
	const char *preset; /* [preset] name: file whose values replace the defaults; NULL: none */
	struct sx_source_params source;
	bool source_given; /* source.kind was set; if not, the value of source.kind has no meaning */
	/* [camera] [stereo] [filters] [road] [stixels]; params.semantics is computed from the next member */
	struct sx_params params;
	struct sx_semantics_params semantics;
	struct sx_external_params external;
	const char *calibration; /* [camera] calibration: file that gave fx .. baseline_m; NULL: none */
	int calibration_width, calibration_height; /* raw image size in that file, px; 0: not given */
	bool calibration_baseline;		   /* baseline_m came from that file */
	struct sx_calibration_said calibration_said;
	struct sx_rectify_params rectification;
	bool rectify;	   /* the images of the source are raw; rig rectifies them */
	struct sx_rig rig; /* only valid if rectify; fx .. baseline_m of params come from it */
	struct sx_engine_params engine;
	struct sx_output_params output;
	struct sx_power_params power;
	struct sx_realtime_params realtime;
	const char *log_levels; /* [log] levels: text for sx_log_levels_parse() */
	/* names of the files read, in order, each followed by '\n'; NULL: none. Heap, owned */
	char *files;
};

#endif
