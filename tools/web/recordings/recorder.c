/*
 * Runs `stixelctl record`, one process and one thread for each recording.
 *
 * The thread lives as long as its process. So the kernel ends the process in order (PR_SET_PDEATHSIG) if
 * stixel-web is killed, and what a recorder may write ends with the program that limits it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "stixel.h"
#include "tools/web/recordings/recordings.h"

/* LOOK_MS: interval of looking at the limits. PATIENCE_S: for a recorder that was asked to end, s. */
enum { LOOK_MS = 250, PATIENCE_S = 15, NAMES = 9, STACK_BYTES = 128 * 1024 };

/* Process of a recorder, as its thread sees it. */
struct process {
	pid_t pid;
	int fd; /* what it prints */
	char line[WEB_SAID_BYTES];
	size_t used;
	int64_t asked_ns;  /* time of the request to end; 0: none yet */
	struct sx_why why; /* limit that was met; empty: none */
};

/* Becomes the recorder. Only functions that are safe after fork() of a process with threads. */
_Noreturn static void become(const struct web_recorder *w, int out, pid_t parent)
{
	char *const words[] = {(char *)(uintptr_t) "stixelctl",
			       (char *)(uintptr_t) "-i",
			       (char *)(uintptr_t)w->instance,
			       (char *)(uintptr_t) "record",
			       (char *)(uintptr_t) "--",
			       (char *)(uintptr_t)w->name,
			       NULL};
	const int in = open("/dev/null", O_RDONLY);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || fchdir(w->all->folder) < 0 || in < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(127);
#ifdef SYS_close_range
	syscall(SYS_close_range, 3u, ~0u, 0u);
#endif
	umask(027); /* the group of the readers may read the recording, as it may read the frames */
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(w->all->program, words);
	_exit(127);
}

static int start_process(const struct web_recorder *w, struct process *p)
{
	const pid_t parent = getpid();
	int pipe_fds[2];

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	p->pid = fork();
	if (p->pid == 0)
		become(w, pipe_fds[1], parent);
	close(pipe_fds[1]);
	p->fd = pipe_fds[0];
	if (p->pid > 0)
		return 0;
	close(p->fd);
	return -EAGAIN;
}

/* Keeps the last line that the recorder prints, without the name of the program. */
static void take_text(struct process *p, const char *text, size_t bytes, struct web_recorder *w)
{
	static const char program[] = "stixelctl: ";
	size_t skip;

	for (size_t i = 0; i < bytes; i++) {
		if (text[i] != '\n') {
			if (p->used < sizeof(p->line) - 1)
				p->line[p->used++] = text[i];
			continue;
		}
		p->line[p->used] = 0;
		skip = strncmp(p->line, program, strlen(program)) == 0 ? strlen(program) : 0;
		pthread_mutex_lock(&w->all->lock);
		memcpy(w->said, p->line + skip, p->used + 1 - skip);
		pthread_mutex_unlock(&w->all->lock);
		p->used = 0;
	}
}

/* Asks the recorder to end if a visitor, a limit or the end of this program requests it. */
static void look(struct process *p, struct web_recorder *w)
{
	bool stop;

	pthread_mutex_lock(&w->all->lock);
	stop = w->stop || w->all->stopping;
	pthread_mutex_unlock(&w->all->lock);
	if (!p->asked_ns && (stop || !web_recordings_have_room(w->all, &p->why))) {
		kill(p->pid, SIGTERM);
		p->asked_ns = sx_now_ns();
	} else if (p->asked_ns && sx_now_ns() - p->asked_ns > PATIENCE_S * SX_NS_PER_S) {
		kill(p->pid, SIGKILL); /* the disk does not answer */
	}
}

/* Waits for the recorder's end. Returns its status as waitpid() has it. */
static int follow(struct process *p, struct web_recorder *w)
{
	struct pollfd fd = {.fd = p->fd, .events = POLLIN};
	int status = 0;
	char text[512];
	ssize_t n = 1;

	while (n > 0) {
		look(p, w);
		if (poll(&fd, 1, LOOK_MS) <= 0)
			continue;
		n = read(p->fd, text, sizeof(text));
		if (n > 0)
			take_text(p, text, (size_t)n, w);
	}
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void tell_end(struct web_recorder *w, const struct process *p, int error, int status)
{
	w->running = false;
	w->failed = error < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	if (error < 0)
		snprintf(w->said, sizeof(w->said), "cannot start stixelctl: %s", strerror(-error));
	else if (w->failed && !w->said[0])
		snprintf(w->said, sizeof(w->said), "stixelctl record ended with %s %d",
			 WIFEXITED(status) ? "exit code" : "signal",
			 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	else if (!w->failed && !sx_why_is_empty(&p->why))
		snprintf(w->said, sizeof(w->said), "ended: %.200s", p->why.text);
}

static void *run(void *user)
{
	struct web_recorder *w = user;
	struct process p = {0};
	int status = 0;
	const int error = start_process(w, &p);

	if (error == 0) {
		status = follow(&p, w);
		close(p.fd);
	}
	pthread_mutex_lock(&w->all->lock);
	tell_end(w, &p, error, status);
	w->all->threads--;
	pthread_cond_broadcast(&w->all->ended);
	pthread_mutex_unlock(&w->all->lock);
	return NULL;
}

static int start_thread(struct web_recorder *w)
{
	pthread_attr_t attr;
	pthread_t thread;
	int e;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	e = pthread_create(&thread, &attr, run, w);
	pthread_attr_destroy(&attr);
	return e;
}

/* Returns the recorder of an instance: the one that runs, or else the one that ended last. NULL: none. */
static struct web_recorder *recorder_of(struct web_recordings *r, const char *instance)
{
	for (int i = 0; i < WEB_RECORDERS; i++)
		if (strcmp(r->recorder[i].instance, instance) == 0)
			return &r->recorder[i];
	return NULL;
}

/* Returns a recorder for an instance: its last, an unused one, or the one that ended first. NULL: all run. */
static struct web_recorder *choose(struct web_recordings *r, const char *instance)
{
	struct web_recorder *best = recorder_of(r, instance);

	for (int i = 0; i < WEB_RECORDERS && !best; i++)
		if (!r->recorder[i].instance[0])
			best = &r->recorder[i];
	if (best)
		return best;
	for (int i = 0; i < WEB_RECORDERS; i++)
		if (!r->recorder[i].running && (!best || r->recorder[i].began_ns < best->began_ns))
			best = &r->recorder[i];
	return best;
}

/* Makes a name from instance and time that no file of the folder has. */
static void name_file(struct web_recorder *w)
{
	const time_t now = time(NULL);
	char when[32], more[8] = "";
	struct stat st;
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%SZ", &tm);
	for (int i = 2; i <= NAMES; i++) {
		snprintf(w->name, sizeof(w->name), "%s-%s%s.mcap", w->instance, when, more);
		if (fstatat(w->all->folder, w->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return;
		snprintf(more, sizeof(more), "-%d", i);
	}
}

unsigned web_recorder_start(struct web_recordings *r, const char *instance, struct sx_why *why)
{
	struct web_recorder *w;
	unsigned status = MHD_HTTP_OK;
	int e;

	if (!web_recordings_have_room(r, why))
		return MHD_HTTP_INSUFFICIENT_STORAGE;
	pthread_mutex_lock(&r->lock);
	w = choose(r, instance);
	if (w && w->running) {
		sx_why_set(why, "instance '%s' is being recorded already, to %s", instance, w->name);
		status = MHD_HTTP_CONFLICT;
	} else if (!w || r->stopping) {
		sx_why_set(why, "%d instances are being recorded: stop one first", WEB_RECORDERS);
		status = MHD_HTTP_SERVICE_UNAVAILABLE;
	} else {
		*w = (struct web_recorder){.all = r, .running = true, .began_ns = sx_now_ns()};
		snprintf(w->instance, sizeof(w->instance), "%s", instance);
		name_file(w);
		e = start_thread(w);
		r->threads += e == 0;
		w->running = e == 0;
		sx_why_set(why, "%s", e ? "cannot start a thread" : w->name);
		status = e ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK;
	}
	pthread_mutex_unlock(&r->lock);
	return status;
}

unsigned web_recorder_stop(struct web_recordings *r, const char *instance, struct sx_why *why)
{
	struct web_recorder *w;
	unsigned status = MHD_HTTP_OK;

	pthread_mutex_lock(&r->lock);
	w = recorder_of(r, instance);
	if (!w || !w->running) {
		sx_why_set(why, "instance '%s' is not being recorded", instance);
		status = MHD_HTTP_CONFLICT;
	} else {
		w->stop = true;
		while (w->running)
			pthread_cond_wait(&r->ended, &r->lock);
		sx_why_set(why, "%s", w->said);
		status = w->failed ? MHD_HTTP_INTERNAL_SERVER_ERROR : MHD_HTTP_OK;
	}
	pthread_mutex_unlock(&r->lock);
	return status;
}

void web_recorder_tell(struct web_recordings *r, const char *instance, struct sx_text *t)
{
	const struct web_recorder *w;
	struct stat st;

	pthread_mutex_lock(&r->lock);
	w = recorder_of(r, instance);
	if (w && w->running) {
		if (fstatat(r->folder, w->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			st.st_size = 0;
		sx_json_open(t, "recording", '{');
		sx_json_text(t, "name", w->name);
		sx_json_count(t, "bytes", st.st_size);
		sx_json_real(t, "seconds", (double)(sx_now_ns() - w->began_ns) / 1e9);
		sx_json_close(t, '}');
	}
	pthread_mutex_unlock(&r->lock);
}

void web_recorder_tell_ended(struct web_recordings *r, struct sx_text *t)
{
	pthread_mutex_lock(&r->lock);
	sx_json_open(t, "ended", '[');
	for (int i = 0; i < WEB_RECORDERS; i++) {
		const struct web_recorder *w = &r->recorder[i];

		if (!w->instance[0] || w->running)
			continue;
		sx_json_open(t, NULL, '{');
		sx_json_text(t, "instance", w->instance);
		sx_json_text(t, "name", w->name);
		sx_json_bool(t, "failed", w->failed);
		sx_json_text(t, "said", w->said);
		sx_json_close(t, '}');
	}
	sx_json_close(t, ']');
	pthread_mutex_unlock(&r->lock);
}

bool web_recorder_writes(struct web_recordings *r, const char *name)
{
	bool writes = false;

	pthread_mutex_lock(&r->lock);
	for (int i = 0; i < WEB_RECORDERS; i++)
		writes |= r->recorder[i].running && strcmp(r->recorder[i].name, name) == 0;
	pthread_mutex_unlock(&r->lock);
	return writes;
}

/* ---- life ---- */

/* Returns true if a program may be run. *r: keeps the first reason other than that there is none. */
static bool is_program(const char *path, int *r)
{
	if (access(path, X_OK) == 0)
		return true;
	if (*r == -ENOENT && errno != ENOTDIR)
		*r = -errno;
	return false;
}

/*
 * Finds stixelctl: beside this program, where it is installed; one folder up, where it is built; in PATH.
 * Returns 0, -ENOENT if there is none, or the reason why one that is there cannot be run.
 */
static int find_program(char *path, size_t bytes)
{
	static const char *const near[] = {"/stixelctl", "/../stixelctl"};
	char own[2048], *end;
	const ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	const char *list = getenv("PATH");
	int r = -ENOENT;

	own[n > 0 ? n : 0] = 0;
	end = strrchr(own, '/');
	if (end)
		*end = 0;
	for (size_t i = 0; end && i < sizeof(near) / sizeof(near[0]); i++) {
		snprintf(path, bytes, "%s%s", own, near[i]);
		if (is_program(path, &r))
			return 0;
	}
	for (const char *p = list ? list : ""; *p; p += *p == ':') {
		const size_t length = strcspn(p, ":");

		snprintf(path, bytes, "%.*s/stixelctl", (int)length, p);
		if (p[0] == '/' && is_program(path, &r))
			return 0;
		p += length;
	}
	return r;
}

int web_recordings_open(struct web_recordings **ret, const char *folder, uint64_t most_bytes,
			struct sx_why *why)
{
	struct web_recordings *r = calloc(1, sizeof(*r));
	struct stat st;
	int e = 0, found = 0;

	if (!r)
		return sx_why_fail(-ENOMEM, why, "out of memory");
	r->most_bytes = most_bytes;
	r->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->folder < 0 || fstat(r->folder, &st) < 0 ||
	    faccessat(r->folder, ".", W_OK | X_OK, AT_EACCESS) < 0)
		e = sx_why_fail(-errno, why, "cannot write to the folder %s: %s", folder, strerror(errno));
	else if (st.st_mode & S_IWOTH)
		e = sx_why_fail(-EPERM, why, "%s: every user may write to this folder; run chmod o-w",
				folder);
	else if ((found = find_program(r->program, sizeof(r->program))) < 0)
		e = sx_why_fail(found == -ENOENT ? -ENOPKG : found, why,
				"--recordings needs stixelctl, which is neither beside this "
				"program nor in PATH%s%s",
				found == -ENOENT ? "" : ", or cannot be run: ",
				found == -ENOENT ? "" : strerror(-found));
	if (e < 0) {
		if (r->folder >= 0)
			close(r->folder);
		free(r);
		return e;
	}
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->ended, NULL);
	*ret = r;
	return 0;
}

void web_recordings_close(struct web_recordings *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	while (r->threads)
		pthread_cond_wait(&r->ended, &r->lock);
	pthread_mutex_unlock(&r->lock);
	pthread_cond_destroy(&r->ended);
	pthread_mutex_destroy(&r->lock);
	close(r->folder);
	free(r);
}
