/*
 * Recordings that visitors of the page make, look at and delete: MCAP files in one folder.
 *
 * `stixelctl record` writes them, in a process of its own for each recording. A visitor never names a file to
 * be written, and names existing ones only by the name of a regular file in the folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_RECORDINGS_RECORDINGS_H
#define SX_TOOLS_WEB_RECORDINGS_RECORDINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/why.h"
#include "ipc/text.h"
#include "recording/recording.h"
#include "tools/web/stream.h"

#define WEB_RECORDERS 4		     /* recordings at the same time, one of each instance */
#define WEB_RECORDING_NAME_BYTES 128 /* of the name of a file, with the 0 */
#define WEB_SAID_BYTES 256
#define WEB_WRONG_CONTENT 422u /* HTTP status, whose name differs between versions of libmicrohttpd */

/* Recording that runs or has ended. Protected by the lock of struct web_recordings. */
struct web_recorder {
	struct web_recordings *all;
	char instance[WEB_NAME_BYTES]; /* empty: never used */
	char name[WEB_RECORDING_NAME_BYTES];
	bool running, stop;
	bool failed;		   /* ended, and not in order */
	char said[WEB_SAID_BYTES]; /* last sentence of the recorder, or why it was ended */
	int64_t began_ns;
};

struct web_recordings {
	int folder;	     /* descriptor */
	uint64_t most_bytes; /* limit for all files of the folder together */
	char program[4096];  /* path of stixelctl */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	unsigned threads;
	bool stopping;
	struct web_recorder recorder[WEB_RECORDERS];
};

/*
 * Opens the folder. Returns 0, or a negative errno with a sentence in why: -EPERM every user may write there,
 * -ENOPKG there is no stixelctl, or the error of the folder.
 */
int web_recordings_open(struct web_recordings **ret, const char *folder, uint64_t most_bytes,
			struct sx_why *why);
/* Ends all recordings in order and waits for them. Accepts NULL. */
void web_recordings_close(struct web_recordings *r);

/* ---- recorder.c ---- */

/* Begins a recording of an instance. Returns an HTTP status, and a sentence in why. */
unsigned web_recorder_start(struct web_recordings *r, const char *instance, struct sx_why *why);
/* Ends the recording of an instance and waits for its end. Returns an HTTP status, and a sentence in why. */
unsigned web_recorder_stop(struct web_recordings *r, const char *instance, struct sx_why *why);
/* Adds "recording" of an instance to its JSON: file, bytes and seconds, or null. */
void web_recorder_tell(struct web_recordings *r, const char *instance, struct sx_text *t);
/* Adds "ended": how the last recording of each recorder ended. */
void web_recorder_tell_ended(struct web_recordings *r, struct sx_text *t);
/* Returns true if a recorder writes this file. */
bool web_recorder_writes(struct web_recordings *r, const char *name);

/* ---- folder.c ---- */

/* Returns true for a name that a file of the folder may have: NAME.mcap without slash, no dot at first. */
bool web_recording_name(const char *name);
/* Opens a regular file of the folder for reading, and follows no link. Returns a descriptor or -ENOENT. */
int web_recording_open_fd(const struct web_recordings *r, const char *name, uint64_t *bytes);
/* Returns the bytes of all regular files in the folder. */
uint64_t web_recordings_used(const struct web_recordings *r);
/*
 * Returns true if there is room for more: less than most_bytes in the folder, and at least 500 MB or a tenth
 * of the disk free. False: why says which limit was met.
 */
bool web_recordings_have_room(const struct web_recordings *r, struct sx_why *why);
/* Sends the list of recordings. */
enum MHD_Result web_recordings_page(struct web_server *s, struct MHD_Connection *c);
/*
 * Serves /api/recordings/FILE, FILE/info and FILE/stream. path: what follows "recordings/". order: of a POST;
 * else NULL.
 */
enum MHD_Result web_recording_page(struct web_server *s, struct MHD_Connection *c, const char *path,
				   bool head, struct web_settings_request *order);
/* Starts or stops a recording of an instance, as the order says. */
enum MHD_Result web_record_page(struct web_server *s, struct MHD_Connection *c, const char *instance,
				struct web_settings_request *order);

/* ---- film.c ---- */

/* Length of a recording. */
struct web_film_length {
	uint64_t frames;
	int64_t first_ns, last_ns; /* published_ns of the first and of the last frame */
	bool whole;		   /* the recording was ended in order */
};

/* Does not decode: the JPEG itself is sent. For sx_recording_on_jpeg(). */
int web_film_leave_jpeg(void *user, const void *jpeg, uint64_t bytes, uint8_t *pixels, uint32_t width,
			uint32_t height, uint32_t pitch);
/*
 * Finds the length of a recording. Without an index reads all of it if `read` is true. Returns 1, 0 for no
 * frame (or not known without reading), or a negative errno.
 */
int web_film_measure(struct sx_recording *recording, bool read, struct web_film_length *ret);
/* Sends the frames of a recording as messages of a stream. */
enum MHD_Result web_film_page(struct web_server *s, struct MHD_Connection *c, const char *name, bool head);

#endif
