/*
 * Replaces the status socket's server and the service manager: asks the daemon for pages, passes on requests
 * that change settings as the server's thread would, and receives the messages for systemd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/http/status.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulate/sim.h"
#include "tests/simulate/world.h"

#define REQUESTS 4

struct sx_status_request {
	char body[256];
	int64_t given_ns;
	bool waits;
	unsigned status;
};

struct sx_status_server {
	int fd;
	const struct sx_status_page *pages;
	size_t count;
	void *user;
	bool stopping;
	struct sim_task *task;
	struct sx_status_request request[REQUESTS];
	char page[SX_STATUS_PAGE_BYTES];
};

static const char *const bodies[] = {
	"source.gain=5\n",
	"source.gain=60\nroad.max_age=3\n",
	"road.max_age=9\n",
	"stixels.width=6\n",
	"stixels.p_order=0.3\n",
	"source.gain=1000\n",
	"output.slots=4\n",
	"nonsense\n",
	"stereo.disparities=x\n",
	"log.levels=info\n",
	"source.fps=12\n",
	"stixels.width=2\n",
	"",
	"road.max_age=4\nmodel.p_order=0.4\nstixels.width=8\n",
};

int sx_status_listen(const char *path, unsigned mode, struct sx_why *why)
{
	int fd = sim_fd_make(SIM_EVENT);
	FILE *f = fopen(path, "w");

	if (!f)
		sim_fail("simulation: cannot make %s", path);
	fclose(f);
	return fd;
}

int sx_status_move(struct sx_status_server *s, int listen_fd)
{
	(void)s;
	(void)listen_fd;
	sim_fail("simulation: nobody removes the name of a ring here");
}

void sx_status_tick(struct sx_status_server *s)
{
	(void)s; /* the simulated client is never slow */
}

const char *sx_status_request_body(const struct sx_status_request *o)
{
	return o->body;
}

void sx_status_request_answer(struct sx_status_request *o, unsigned status, const char *text)
{
	SIM_MUST(o->waits, "an order is answered twice");
	SIM_MUST(status == 200 || (text && *text), "an order is refused without a sentence");
	sim_mark("answer", status);
	o->waits = false;
	o->status = status;
	world->requests_done++;
}

static void give_request(struct sx_status_server *s)
{
	for (int i = 0; i < REQUESTS; i++) {
		struct sx_status_request *o = &s->request[i];

		if (o->waits)
			continue;
		snprintf(o->body, sizeof(o->body), "%s",
			 bodies[sim_below(sizeof(bodies) / sizeof(bodies[0]))]);
		o->given_ns = sim->now;
		o->waits = true;
		world->requests++;
		sim_mark("order", i);
		for (size_t k = 0; k < s->count; k++)
			if (s->pages[k].request)
				s->pages[k].request(s->user, o);
		return;
	}
}

static void look_at_requests(const struct sx_status_server *s)
{
	const int64_t calm = world_calm_since();

	for (int i = 0; i < REQUESTS; i++)
		SIM_MUST(!s->request[i].waits || calm == SIM_NEVER ||
				 sim->now - s->request[i].given_ns < 15 * SIM_S ||
				 sim->now - calm < 15 * SIM_S,
			 "an order has waited for %.1f s", (double)(sim->now - s->request[i].given_ns) / 1e9);
}

/*
 * Returns the time between two pages. A page costs as much as a hundred frames, so there are enough of them,
 * but not more.
 */
static int64_t between_pages_ns(void)
{
	if (world->reload_storm)
		return 400 * SIM_MS;
	if (world->phase_kind != CALM || !sim->quiet)
		return 10 * SIM_S;
	return sim->lasting ? 7200 * SIM_S : 120 * SIM_S;
}

static void *serve(void *server)
{
	struct sx_status_server *s = server;
	struct sx_text text;
	struct age_page age;

	while (!s->stopping) {
		const struct sx_status_page *page = &s->pages[sim_below(s->count)];
		unsigned status;

		sim_block(sim->now + sim_between(SIM_MS, between_pages_ns()));
		if (s->stopping)
			break;
		look_at_requests(s);
		if (world->reload_storm && sim_once_in(2)) {
			give_request(s);
			continue;
		}
		if (!sim_once_in(world->reload_storm ? 6 : 4))
			continue;
		sx_text_init(&text, s->page, sizeof(s->page));
		age_page_begins(&age);
		status = page->write(s->user, &text);
		SIM_MUST((status == 200 || status == 503) && !text.cut && text.used > 0,
			 "%s answers %u, %zu bytes", page->path, status, text.used);
		age_check_page(&age, s->page);
	}
	return NULL;
}

int sx_status_start(struct sx_status_server **ret, int listen_fd, const struct sx_status_page *pages,
		    size_t count, void *user, struct sx_why *why)
{
	struct sx_status_server *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*s = (struct sx_status_server){.fd = listen_fd, .pages = pages, .count = count, .user = user};
	s->task = sim_task_create(sim->current->process, "http", serve, s);
	*ret = s;
	return 0;
}

void sx_status_stop(struct sx_status_server *s)
{
	if (!s)
		return;
	for (int i = 0; i < REQUESTS; i++)
		SIM_MUST(!s->request[i].waits, "an order was not answered before the server is stopped");
	s->stopping = true;
	sim_task_wake(s->task);
	pthread_join((pthread_t)(uintptr_t)s->task, NULL);
	close(s->fd);
	free(s);
}

/* ---- libsystemd ---- */

int sd_notify(int unset, const char *state);
int sd_watchdog_enabled(int unset, uint64_t *usec);
int sd_listen_fds_with_names(int unset, char ***names);

int sd_notify(int unset, const char *state)
{
	sim_seam("notify", (unsigned char)*state);
	world_notified(state);
	return 1;
}

int sd_watchdog_enabled(int unset, uint64_t *usec)
{
	*usec = (uint64_t)world->watchdog_ns / 1000;
	return world->watchdog_ns > 0;
}

int sd_listen_fds_with_names(int unset, char ***names)
{
	return 0;
}
