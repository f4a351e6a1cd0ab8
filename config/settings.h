/*
 * Everything that the configuration can say, as the structures of the folders that use it.
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
	int slots; /* frames in the ring, power of two */
	bool ring, stream;
	enum sx_planes planes; /* images that can be published beside the stixels, for viewers */
	enum sx_planes_when planes_when;
};

struct sx_realtime_params {
	int priority;	  /* SCHED_FIFO priority of the capture thread, 0 = normal scheduling */
	bool lock_memory; /* mlockall */
};

/* Class scores from another process (ipc/feed/feed.h). */
struct sx_semantics_params {
	const char *source;  /* name of its ring; NULL: none */
	const char *classes; /* for sx_classes_parse() */
	int scale;	     /* the finest that there is room for */
	double wait_ms;	     /* a frame waits so long for its scores */
	double max_age_ms;   /* scores of a picture so much older stand in */
};

/* Disparity maps from another process (ipc/feed/feed.h), where stereo.matcher is external. */
struct sx_external_params {
	const char *source; /* name of its ring */
	double wait_ms;	    /* a pair waits so long for its map */
	bool pairs;	    /* that process gets the images from here, before there is a frame */
};

/* What the log says of a calibration file. Texts are constants. */
struct sx_calibration_said {
	const char *format; /* "OpenCV YAML"; NULL: no file */
	const char *pair;   /* which of the pairs in the file was taken; NULL: it has one */
	bool other_pair;    /* images are of another pair, which the file does not have */
	double baseline_m;  /* that camera.baseline_m takes the place of; 0: none */
};

struct sx_settings {
	struct sx_source_params source;
	bool source_given; /* [source] kind was said; without it source.kind means nothing */
	struct sx_params
		params; /* [camera] [stereo] [filters] [road] [stixels]; semantics: made of the next */
	struct sx_semantics_params semantics;
	struct sx_external_params external;
	const char *calibration; /* [camera] calibration = FILE, gave fx .. baseline_m; NULL without */
	int calibration_width, calibration_height; /* image size in that file, 0: it does not say; raw */
	bool calibration_baseline;		   /* baseline_m came from that file */
	struct sx_calibration_said calibration_said;
	struct sx_rectify_params rectification;
	bool rectify;	   /* images of the source are raw and become those of rig, which ... */
	struct sx_rig rig; /* ... otherwise means nothing; fx .. baseline_m of params are its */
	struct sx_engine_params engine;
	struct sx_output_params output;
	struct sx_power_params power;
	struct sx_realtime_params realtime;
	const char *log_levels; /* [log] levels, for sx_log_levels_parse() */
	char *files;		/* that were read, in their order, a '\n' behind each; NULL: none. Own */
};

#endif
