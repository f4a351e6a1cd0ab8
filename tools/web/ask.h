/*
 * Asks the daemons: finds instances, and fetches the pages of their status sockets.
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
/* shortest interval between two requests to a daemon for one page, for any number of browsers, ms */
#define WEB_ANSWER_AGE_MS 400

struct web_names {
	char name[WEB_INSTANCES][WEB_NAME_BYTES];
	size_t count;
	size_t foreign; /* number of rings left out because their owner is not trusted with the name */
	size_t beyond;	/* number of instances left out because there are more than WEB_INSTANCES */
};

/*
 * Finds the instances that run, or have run and left their ring, ordered by name. If *only has names, finds
 * these alone. Instances with a socket are taken before the others, because root owns the folders of sockets,
 * while any user may create files in the folder of the rings.
 */
void web_ask_instances(struct web_names *ret, const struct web_names *only);
/* Returns true if *only has this name, or if *only is empty. */
bool web_ask_may(const struct web_names *only, const char *name);

enum web_page { WEB_PAGE_STATUS, WEB_PAGE_METRICS, WEB_PAGE_SETTINGS, WEB_PAGES };

struct web_answer {
	pthread_mutex_t lock; /* held while the daemon is asked, so that further requests share the answer */
	char instance[WEB_NAME_BYTES];
	int64_t asked_ns; /* 0: not asked yet */
	struct sx_reply reply;
};

/* Newest answers. The name of the instance determines the index. Thread: any. */
struct web_asks {
	struct web_answer answer[WEB_PAGES][WEB_INSTANCES];
};

void web_asks_init(struct web_asks *a);
void web_asks_finish(struct web_asks *a);

/*
 * Fills *ret with the page of an instance, at most WEB_ANSWER_AGE_MS old. Returns its code as
 * sx_socket_ask(). sx_reply_finish() frees the reply.
 */
int web_ask(struct web_asks *a, const char *instance, enum web_page page, struct sx_reply *ret);
/*
 * Sends a settings request by POST to /settings of an instance. Works as web_ask(), but keeps no answer and
 * discards the stored answer of that page.
 */
int web_ask_settings(struct web_asks *a, const char *instance, const char *request, struct sx_reply *ret);

#endif
