/*
 * What happens in a simulated history: the daemon's lives, its cameras, engine, readers, orders and signals,
 * and what must hold all the time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SIMULATE_WORLD_H
#define SX_TESTS_SIMULATE_WORLD_H

#include "config/option.h"
#include "daemon/options.h"
#include "tests/simulate/camera.h"

struct sx_run;
struct sx_pipeline;

/* Hours of a history. */
enum world_phase {
	CALM,
	NOISE,
	SLOW,
	HANG,
	GONE,
	SILENT,
	STARVED,
	RELOADS,
	CALLS,
	STOP,
	BOUNCE,
	MIXED,
	CLOCK,
	KINDS
};

#define WORLD_FRAMES 4096 /* published ones that are remembered */
#define WORLD_READERS 6

struct world_engine {
	int64_t frame_ns, jitter_ns; /* how long a frame takes */
	unsigned slow, fails;	     /* once in so many frames: 20 times as long; an error */
	bool hangs, reads_early, told_late;
	int64_t spin_ns;
};

/* What happened last, for what must hold some time later. */
struct world_times {
	int64_t disturbed;  /* anything but a good day, up to then */
	int64_t hung;	    /* the engine hung, or failed */
	int64_t long_frame; /* until when a frame takes for which the end need not wait */
	int64_t busy;	    /* the engine has had a pair, or several, since then, if it has one */
	int64_t starved;    /* a thread of the daemon had no processor */
	int64_t lacking;    /* a camera gave nothing, since then; SIM_NEVER: both do */
	int64_t returned;   /* both give images, since then */
	int64_t refused;    /* drivers refused to be opened, until then: it is tried again up to 5 s later */
	int64_t phase;	    /* when it began */
	int64_t published, began, ready, pinged, stop, hurry, reload, exited;
	int64_t running;  /* the state is running, since the first look that found it so; 0: it is not */
	int64_t progress; /* the first frame since the last ping; 0: none */
	int64_t sums;	  /* when they are looked at next */
};

struct world {
	struct camera camera[2];
	_Alignas(4096) char camera_memory[2][FAKE_BUFFERS][CAMERA_BUFFER_BYTES];
	struct camera_rates rates;
	struct world_engine engine;
	bool userptr, faulty_calls;
	bool narrow;	    /* frames have a few columns: what is in them matters little, and costs time */
	int contexts, lent; /* images that the engine reads */
	const void *reading[16];

	/* the life that is going on */
	struct sim_process *daemon; /* NULL: between two lives */
	struct sim_task *main;
	struct sx_run *run;
	struct sx_pipeline *pipeline; /* while its threads may run */
	struct sx_options options;
	struct sx_settings settings;
	struct sx_origins origins;
	int64_t heap_before, watchdog_ns, period_ns, timeout_ns;
	unsigned lives, kills, readies, reloadings, stoppings, signals;
	uint64_t published, pinged_published, overload_before, main_saw[2]; /* of this life */
	uint64_t next_pair;    /* number of the first one that a camera can give, since one was closed */
	uint64_t returns_with; /* and since no_camera was told */
	uint64_t taken_number, put_number;
	const void *source; /* that they are of */
	uint64_t aged;	    /* frames that it begins with */
	bool counts_aged, durations_aged;
	int64_t engine_sum_ns, years;
	bool failure_is_due;

	/* of the whole history */
	struct world_times at;
	uint64_t frames_in_all, pairs_in_all, dropped_in_all, read_in_all, lost_in_all, orders, orders_done;
	struct {
		uint64_t epoch, number;
		uint32_t checksum;
	} frame[WORLD_FRAMES];
	uint64_t epoch, number; /* published last */
	struct sim_timer phase, tick, birth, accident, bounce;
	int phase_kind;
	unsigned reload_storm; /* once in so many ticks */
	unsigned starve;
	unsigned signal_storm;
	uint64_t phases;
	struct world_http {
		struct sim_task *task;
		bool stopping;
	} http;
	struct {
		struct sim_process *process;
		int pid; /* another one may have its place by now */
	} reader[WORLD_READERS];
	int look_ms;	    /* that a reader waits for a frame */
	int64_t settle_ns;  /* of calm: then all is well */
	unsigned stillness; /* counts moments in which all threads sleep */
	uint64_t eager;	    /* tasks of readers that come while a frame is published, as bits */
	char config[128], ring[128], stream[128];
};

extern struct world *world;

void world_init(void);
/* Nobody can go on: time is about to pass. */
void world_quiet(void);
/* The daemon's process ends by itself; hard: from within, with threads running. */
void world_exit(int code, bool hard) __attribute__((noreturn));
/* The driver has got this memory: nobody may read it now. */
void world_buffer_queued(const void *memory);
void world_engine_reads(const void *memory, bool begins);
/* The service manager's end. */
void world_notified(const char *text);
/* Since when all has been well; SIM_NEVER: it is not. */
int64_t world_calm_since(void);
/* The processor was taken from a thread, or a frame hung, since then. */
bool world_troubled_since(int64_t ns);
/* A camera gives nothing, and for so much longer than it takes to be noticed. */
bool world_lacks_since(int64_t more_ns);

/* readers.c */
void readers_churn(void);
/* A frame is about to be published: those who do not wait for it may come now. */
void readers_come(void);
/* http.c: the thread that gives orders. */
void *http_thread(void *pages);

/* age.c */
struct age_page {
	int64_t asked_ns;
	uint64_t published, measured;
	bool known;
};
void age_clocks(void);
uint32_t age_sequence(void);
uint64_t age_frames(void);
void age_pipeline(struct sx_pipeline *p);
void age_tick(void);
void age_check_sums(void);
void age_page_begins(struct age_page *a);
void age_check_page(const struct age_page *a, const char *page);

/* check.c */
void check_life_begins(void);
void check_main_looks(void);
void check_quiet(void);
void check_tick(void);
void check_exit(int code, bool hard);
/* A frame that a reader has got. */
void check_frame(uint64_t epoch, uint64_t number, uint32_t checksum, const char *who);

#endif
