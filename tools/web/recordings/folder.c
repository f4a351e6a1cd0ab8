/*
 * Serves the folder of recordings: list, length, download, deletion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tools/web/recordings/recordings.h"

/* LIST_MOST: recordings in the list, the newest. */
enum { LIST_MOST = 200, LIST_BYTES = 128 * 1024 };
#define KEEP_BYTES ((uint64_t)500 << 20) /* free bytes of the disk that no recording takes */
#define KEEP_PART 10			 /* but at most this part of a small disk */

static const char json_type[] = "application/json; charset=utf-8";
static const char end_of_name[] = ".mcap";

bool web_recording_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
	const size_t n = strlen(name), end = strlen(end_of_name);

	return n > end && n < WEB_RECORDING_NAME_BYTES && name[0] != '.' && strspn(name, letters) == n &&
	       strcmp(name + n - end, end_of_name) == 0;
}

int web_recording_open_fd(const struct web_recordings *r, const char *name, uint64_t *bytes)
{
	struct stat st;
	int fd;

	if (!web_recording_name(name))
		return -ENOENT;
	fd = openat(r->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -ENOENT;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		*bytes = (uint64_t)st.st_size;
		return fd;
	}
	close(fd);
	return -ENOENT;
}

/* Calls take for each regular file of the folder. */
static void each_file(const struct web_recordings *r,
		      void (*take)(void *user, const char *name, const struct stat *st), void *user)
{
	const int fd = openat(r->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat st;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(folder)))
		if (fstatat(r->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			take(user, entry->d_name, &st);
	closedir(folder);
}

static void add_bytes(void *user, const char *name, const struct stat *st)
{
	*(uint64_t *)user += (uint64_t)st->st_size;
}

uint64_t web_recordings_used(const struct web_recordings *r)
{
	uint64_t bytes = 0;

	each_file(r, add_bytes, &bytes);
	return bytes;
}

/* Finds the bytes of the disk that recordings may still take. */
static uint64_t free_bytes(const struct web_recordings *r)
{
	struct statvfs disk;
	uint64_t left, keep;

	if (fstatvfs(r->folder, &disk) < 0)
		return UINT64_MAX;
	left = (uint64_t)disk.f_bavail * disk.f_frsize;
	keep = (uint64_t)disk.f_blocks * disk.f_frsize / KEEP_PART;
	keep = keep < KEEP_BYTES ? keep : KEEP_BYTES;
	return left > keep ? left - keep : 0;
}

bool web_recordings_have_room(const struct web_recordings *r, struct sx_why *why)
{
	if (web_recordings_used(r) >= r->most_bytes)
		sx_why_set(why, "the recordings take %.0f MB, the most that --recordings-mb allows",
			   (double)r->most_bytes / 1e6);
	else if (free_bytes(r) == 0)
		sx_why_set(why, "the disk is nearly full");
	else
		return true;
	return false;
}

/* ---- the list ---- */

struct file {
	char name[WEB_RECORDING_NAME_BYTES];
	uint64_t bytes;
	int64_t modified_s;
};

/* The newest files. */
struct list {
	size_t count;
	struct file file[LIST_MOST];
};

static void add_file(void *user, const char *name, const struct stat *st)
{
	struct list *list = user;
	size_t at = list->count;

	if (!web_recording_name(name))
		return;
	while (at > 0 && list->file[at - 1].modified_s < (int64_t)st->st_mtime)
		at--;
	if (at == LIST_MOST)
		return;
	list->count += list->count < LIST_MOST;
	memmove(list->file + at + 1, list->file + at, (list->count - 1 - at) * sizeof(list->file[0]));
	snprintf(list->file[at].name, sizeof(list->file[at].name), "%s", name);
	list->file[at].bytes = (uint64_t)st->st_size;
	list->file[at].modified_s = st->st_mtime;
}

/* Adds instance and length of a recording, as far as they are known without reading all of it. */
static void tell_length(const struct web_recordings *r, const char *name, struct sx_text *t)
{
	struct web_film_length length;
	struct sx_recording *recording;
	struct sx_why why;
	uint64_t bytes;
	const int fd = web_recording_open_fd(r, name, &bytes);

	if (fd < 0 || sx_recording_open_fd(&recording, fd, name, &why) < 0)
		return;
	sx_json_text(t, "instance", sx_recording_info(recording)->instance);
	if (web_film_measure(recording, false, &length) > 0) {
		sx_json_whole(t, "frames", length.frames);
		sx_json_real(t, "seconds",
			     (double)sx_recorded_ns_since(length.last_ns, length.first_ns) / 1e9);
	}
	sx_recording_close(recording);
}

enum MHD_Result web_recordings_page(struct web_server *s, struct MHD_Connection *c)
{
	struct web_recordings *r = s->recordings;
	struct list *list = r ? calloc(1, sizeof(*list)) : NULL;
	char *data = r ? malloc(LIST_BYTES) : NULL;
	enum MHD_Result done;
	struct sx_text t;

	if (!list || !data) {
		free(list);
		free(data);
		return r ? web_refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory")
			 : web_refuse(c, MHD_HTTP_NOT_FOUND,
				      "stixel-web was started without --recordings FOLDER");
	}
	each_file(r, add_file, list);
	sx_text_init(&t, data, LIST_BYTES);
	sx_json_open(&t, NULL, '{');
	sx_json_whole(&t, "used_bytes", web_recordings_used(r));
	sx_json_whole(&t, "most_bytes", r->most_bytes);
	sx_json_whole(&t, "disk_bytes", free_bytes(r));
	web_recorder_tell_ended(r, &t);
	sx_json_open(&t, "recordings", '[');
	for (size_t i = 0; i < list->count; i++) {
		const bool writes = web_recorder_writes(r, list->file[i].name);

		sx_json_open(&t, NULL, '{');
		sx_json_text(&t, "name", list->file[i].name);
		sx_json_whole(&t, "bytes", list->file[i].bytes);
		sx_json_count(&t, "modified", list->file[i].modified_s);
		sx_json_bool(&t, "recording", writes);
		if (!writes)
			tell_length(r, list->file[i].name, &t);
		sx_json_close(&t, '}');
	}
	sx_json_close(&t, ']');
	sx_json_close(&t, '}');
	sx_text_add(&t, "\n");
	done = web_reply(c, MHD_HTTP_OK, json_type, t.data, t.used);
	free(data);
	free(list);
	return done;
}

/* ---- one recording ---- */

static enum MHD_Result refuse_name(struct MHD_Connection *c)
{
	return web_refuse(c, MHD_HTTP_NOT_FOUND, "there is no such recording");
}

/* Sends the file. */
static enum MHD_Result download(struct web_server *s, struct MHD_Connection *c, const char *name)
{
	char how[WEB_RECORDING_NAME_BYTES + 32];
	struct MHD_Response *response;
	enum MHD_Result done;
	uint64_t bytes;
	const int fd = web_recording_open_fd(s->recordings, name, &bytes);

	if (fd < 0)
		return refuse_name(c);
	response = MHD_create_response_from_fd64(bytes, fd);
	if (!response) {
		close(fd);
		return MHD_NO;
	}
	snprintf(how, sizeof(how), "attachment; filename=\"%s\"", name);
	web_add_headers(response, "application/octet-stream");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, how);
	done = MHD_queue_response(c, MHD_HTTP_OK, response);
	MHD_destroy_response(response); /* closes the file when it was sent */
	return done;
}

/* Sends the length of a recording, and reads all of it if it has no index. */
static enum MHD_Result send_info(struct web_server *s, struct MHD_Connection *c, const char *name)
{
	struct web_film_length length = {0};
	struct sx_recording *recording;
	char data[512];
	struct sx_why why;
	struct sx_text t;
	uint64_t bytes;
	const int fd = web_recording_open_fd(s->recordings, name, &bytes);
	int e;

	if (fd < 0)
		return refuse_name(c);
	e = sx_recording_open_fd(&recording, fd, name, &why);
	if (e < 0)
		return web_refuse(c, WEB_WRONG_CONTENT, "%s", why.text);
	sx_text_init(&t, data, sizeof(data));
	sx_json_open(&t, NULL, '{');
	sx_json_text(&t, "name", name);
	e = web_film_measure(recording, true, &length);
	sx_json_text(&t, "instance", sx_recording_info(recording)->instance);
	sx_json_whole(&t, "frames", length.frames);
	sx_json_count(&t, "first_ns", length.first_ns);
	sx_json_real(&t, "seconds", (double)sx_recorded_ns_since(length.last_ns, length.first_ns) / 1e9);
	sx_json_bool(&t, "whole", length.whole);
	sx_json_close(&t, '}');
	sx_recording_close(recording);
	if (e < 0)
		return web_refuse(c, WEB_WRONG_CONTENT, "%s: %s", name, sx_recording_strerror(e));
	if (e == 0)
		return web_refuse(c, WEB_WRONG_CONTENT, "%s: there is no whole frame in it", name);
	return web_reply(c, MHD_HTTP_OK, json_type, t.data, t.used);
}

static enum MHD_Result take_order(struct web_server *s, struct MHD_Connection *c, const char *name,
				  struct web_settings_request *order)
{
	enum MHD_Result done = MHD_NO;
	const char *text = web_settings_request_text(s, c, order, &done);
	uint64_t bytes;
	int fd;

	if (!text)
		return done;
	if (strcmp(text, "delete") != 0)
		return web_refuse(c, WEB_WRONG_CONTENT, "expected: delete");
	fd = web_recording_open_fd(s->recordings, name, &bytes);
	if (fd < 0)
		return refuse_name(c);
	close(fd);
	if (web_recorder_writes(s->recordings, name))
		return web_refuse(c, MHD_HTTP_CONFLICT, "%s is being written: stop the recording first",
				  name);
	if (unlinkat(s->recordings->folder, name, 0) < 0)
		return web_refuse(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "cannot delete %s: %s", name,
				  strerror(errno));
	return web_refuse(c, MHD_HTTP_OK, "%s was deleted", name);
}

enum MHD_Result web_recording_page(struct web_server *s, struct MHD_Connection *c, const char *path,
				   bool head, struct web_settings_request *order)
{
	const char *what = strchr(path, '/');
	const size_t n = what ? (size_t)(what - path) : strlen(path);
	char name[WEB_RECORDING_NAME_BYTES];

	if (!s->recordings || n >= sizeof(name))
		return refuse_name(c);
	memcpy(name, path, n);
	name[n] = 0;
	if (order && !what)
		return take_order(s, c, name, order);
	if (!what)
		return download(s, c, name);
	if (strcmp(what, "/info") == 0)
		return send_info(s, c, name);
	if (strcmp(what, "/stream") == 0)
		return web_film_page(s, c, name, head);
	return web_refuse(c, MHD_HTTP_NOT_FOUND, "not found; of a recording there are info and stream");
}

enum MHD_Result web_record_page(struct web_server *s, struct MHD_Connection *c, const char *instance,
				struct web_settings_request *order)
{
	enum MHD_Result done = MHD_NO;
	const char *text = web_settings_request_text(s, c, order, &done);
	struct stixel_reader *reader = NULL;
	struct sx_why why = {0};
	unsigned status;
	int e;

	if (!text)
		return done;
	if (!s->recordings)
		return web_refuse(c, MHD_HTTP_FORBIDDEN,
				  "recordings are off: stixel-web was started without --recordings FOLDER");
	if (strcmp(text, "stop") == 0) {
		status = web_recorder_stop(s->recordings, instance, &why);
		return web_refuse(c, status, "%s", why.text);
	}
	if (strcmp(text, "start") != 0)
		return web_refuse(c, WEB_WRONG_CONTENT, "expected: start or stop");
	/* the recorder itself would wait for the instance */
	e = stixel_open(&reader, instance, 0);
	stixel_close(reader);
	if (e < 0)
		return web_refuse_reader(c, instance, e);
	status = web_recorder_start(s->recordings, instance, &why);
	return web_refuse(c, status, "%s", why.text);
}
