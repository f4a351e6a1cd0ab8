/*
 * Asks a status socket: one GET or POST, by HTTP over a Unix socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_ASK_H
#define SX_TOOLS_COMMON_ASK_H

struct sx_question {
	const char
		/* kind of program: SX_RUNTIME_DIR_PROGRAM (also if NULL) or SX_RUNTIME_DIR_BRIDGE */
		*program;
	const char *name;   /* name of the instance or bridge; the caller has checked it */
	const char *target; /* "/status" */
	const char *post;   /* the body of a POST, a string; NULL: a GET */
	int timeout_ms;
};

struct sx_reply {
	/*
	 * The HTTP status code (200, 404, 503, ...), or negative errno: -ENOENT if no such program runs,
	 * -EACCES if the program may run but this user may not open its folder, -ETIMEDOUT without an answer
	 * in time, -EMSGSIZE above 1 MiB, -EPROTO if the answer is not HTTP, chunked or cut short.
	 */
	int code;
	char *body;    /* ends with a 0; sx_reply_finish() frees it. NULL if code is negative */
	char why[512]; /* a sentence unless code is 200 */
};

/*
 * Asks the socket in the first runtime directory (base/runtime_dirs.h) in which a program answers. Fills *ret
 * and returns its code.
 */
int sx_socket_ask(const struct sx_question *q, struct sx_reply *ret);
/* Asks the socket at path and ignores program and name of q. -ENOENT, -ECONNREFUSED: no server there. */
int sx_socket_ask_at(const char *path, const struct sx_question *q, struct sx_reply *ret);
/* Frees the body. */
void sx_reply_finish(struct sx_reply *r);

#endif
