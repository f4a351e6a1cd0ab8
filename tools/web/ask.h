/*
 * What the daemons say of themselves: which instances there are, and the pages of their status sockets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_ASK_H
#define SX_TOOLS_WEB_ASK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/common/ask.h"

#define WEB_INSTANCES 32
#define WEB_NAME_BYTES 72
#define WEB_ANSWER_AGE_MS 400 /* however many browsers look, a daemon is asked this often at most */

struct web_names {
	char name[WEB_INSTANCES][WEB_NAME_BYTES];
	size_t count;
	size_t foreign; /* left out: rings of users that are not trusted with their names */
	size_t beyond;	/* left out: more than WEB_INSTANCES */
};

/*
 * Instances that run or have run here and left their ring, in order; those in *only alone if it has any.
 * Those that have a socket come first: their folders are root's, while any user may make files where rings
 * lie.
 */
void web_ask_instances(struct web_names *ret, const struct web_names *only);
/* Accepted: it is in *only, or that is empty. */
bool web_ask_may(const struct web_names *only, const char *name);

enum web_page { WEB_PAGE_STATUS, WEB_PAGE_METRICS, WEB_PAGE_SETTINGS, WEB_PAGES };

struct web_answer {
	pthread_mutex_t lock; /* held while the daemon is asked: who comes meanwhile shares the answer */
	char instance[WEB_NAME_BYTES];
	int64_t asked_ns; /* 0: none yet */
	struct sx_reply reply;
};

/* The newest answers, at a place that follows from the name. Any thread. */
struct web_asks {
	struct web_answer answer[WEB_PAGES][WEB_INSTANCES];
};

void web_asks_init(struct web_asks *a);
void web_asks_finish(struct web_asks *a);

/*
 * Fills *ret with the page of an instance, not older than WEB_ANSWER_AGE_MS, and returns its code, as
 * sx_socket_ask(). sx_reply_finish() frees it.
 */
int web_ask(struct web_asks *a, const char *instance, enum web_page page, struct sx_reply *ret);
/*
 * POST of an order to /settings of an instance. As web_ask(), but nothing is kept, and what is kept of that
 * page is asked anew.
 */
int web_ask_order(struct web_asks *a, const char *instance, const char *order, struct sx_reply *ret);

#endif
