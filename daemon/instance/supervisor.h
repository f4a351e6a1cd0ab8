/*
 * Several instances in one process. Each has a thread of its own, in which it runs as it would as the main
 * thread of a process: with its own pipeline, ring, sockets, status and log lines. The supervisor is the main
 * thread. It has what a process has once: signals, the service manager, the watchdog and the rings of the log.
 *
 * An instance that fails leaves the others alone. The supervisor starts it again after a pause, as the service
 * manager does with a process, if a new start may help: exit codes 69, 70 and 73. A reload starts it again in
 * any case. When no instance runs any more, the process ends with the exit code of the first one that failed,
 * and the service manager decides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_SUPERVISOR_H
#define SX_DAEMON_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/instance/member.h"
#include "daemon/instance/service_manager.h"

/*
 * Runs one instance to its end and returns its exit code. restarted: not the first time. Thread: the
 * instance's own.
 */
typedef int sx_supervised_run(void *user, struct sx_member *member, bool restarted);

struct sx_supervised {
	struct sx_member member; /* the caller has set log.name */
	sx_supervised_run *run;
	void *user;

	/* only the supervisor uses the fields below */
	pthread_t thread;
	bool running;	  /* thread has to be joined */
	bool lost;	  /* the instance was abandoned: only a new process can start it again */
	int starts, code; /* code: of the last end; 0 before the first */
	int64_t started_ns;
	int64_t restart_ns; /* time of the next start; 0: none */
	int64_t pause_ns;   /* pause before the last restart */
	bool hang_logged;
};

/*
 * Runs all instances to their end. Returns the exit code of the process; *abandoned: threads of an engine or a
 * source still run, so end the process by _exit(). Thread: main, which must be the only thread.
 */
int sx_supervise(struct sx_supervised *list, int count, bool *abandoned);

#endif
