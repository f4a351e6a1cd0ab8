/*
 * The events of a simulated history: the daemon's lives, its cameras, engine, readers, requests and signals,
 * and the invariants that must hold all the time.
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

/* Kinds of phases of a history. */
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

#define WORLD_FRAMES 4096 /* published frames that are remembered */
#define WORLD_READERS 6

struct world_engine {
	int64_t frame_ns, jitter_ns; /* duration of a frame */
	/* rates per frame: one in `slow` frames takes 20 times as long, one in `fails` ends with an error */
	unsigned slow, fails;
	bool hangs, reads_early, reported_late;
	int64_t spin_ns;
};

/* Times of the last events, for invariants that hold after a delay. */
struct world_times {
	int64_t disturbed;  /* end of the last disturbance */
	int64_t hung;	    /* last time at which the engine hung or failed */
	int64_t long_frame; /* end of a frame for which the daemon's exit need not wait */
	/* start of the time in which the engine has always had a pair */
	int64_t busy;
	int64_t starved;  /* last time at which a thread of the daemon had no processor */
	int64_t lacking;  /* since when a camera has delivered nothing; SIM_NEVER: both deliver */
	int64_t returned; /* since when both cameras deliver images */
	/* end of the time in which drivers refused to open; the daemon retries up to 5 s later */
	int64_t refused;
	int64_t phase; /* start of the phase */
	int64_t published, began, ready, pinged, stop, hurry, reload, exited;
	int64_t running;  /* first check that found the state running; 0: not running */
	int64_t progress; /* first frame since the last ping; 0: none */
	int64_t sums;	  /* time of the next check of the sums */
};

struct world {
	struct camera camera[2];
	_Alignas(4096) char camera_memory[2][FAKE_BUFFERS][CAMERA_BUFFER_BYTES];
	struct camera_rates rates;
	struct world_engine engine;
	bool userptr, faulty_calls;
	/* frames have only a few columns, because their content matters little and costs time */
	bool narrow;
	int contexts, lent; /* contexts of the engine, and images that it reads */
	const void *reading[16];

	/* the current life */
	struct sim_process *daemon; /* NULL: between two lives */
	struct sim_task *main;
	struct sx_run *run;
	struct sx_pipeline *pipeline; /* set while its threads may run */
	struct sx_options options;
	struct sx_settings settings;
	struct sx_origins origins;
	int64_t heap_before, watchdog_ns, period_ns, timeout_ns;
	unsigned lives, kills, readies, reloadings, stoppings, signals;
	uint64_t published, pinged_published, overload_before, main_saw[2]; /* counters of this life */
	/* number of the first pair that a camera can deliver since the last one was closed */
	uint64_t next_pair;
	/* number of the first pair that a camera can deliver after no_camera was reported */
	uint64_t returns_with;
	uint64_t taken_number, put_number;
	const void *source; /* source of these pair numbers */
	uint64_t aged;	    /* number of earlier frames with which a life begins */
	bool counts_aged, durations_aged;
	int64_t engine_sum_ns, years;
	bool failure_is_due;

	/* the whole history */
	struct world_times at;
	uint64_t frames_in_all, pairs_in_all, dropped_in_all, read_in_all, lost_in_all, requests,
		requests_done;
	struct {
		uint64_t epoch, number;
		uint32_t checksum;
	} frame[WORLD_FRAMES];
	uint64_t epoch, number; /* last published frame */
	struct sim_timer phase, tick, birth, accident, bounce;
	int phase_kind;
	unsigned reload_storm; /* rate of reloads: one in this number of ticks */
	unsigned starve;
	unsigned signal_storm;
	uint64_t phases;
	struct world_http {
		struct sim_task *task;
		bool stopping;
	} http;
	struct {
		struct sim_process *process;
		int pid; /* checked because another process may have the slot by now */
	} reader[WORLD_READERS];
	int look_ms;	    /* how long a reader waits for a frame, ms */
	int64_t settle_ns;  /* time of calm after which all must be well */
	unsigned stillness; /* number of moments at which all threads slept */
	uint64_t eager;	    /* tasks of readers that look while a frame is being published, as bits */
	char config[128], ring[128], stream[128];
};

extern struct world *world;

void world_init(void);
/* Called before time passes, when no thread can go on. */
void world_quiet(void);
/* Ends the daemon's process from inside. hard: at once, with other threads still running. */
void world_exit(int code, bool hard) __attribute__((noreturn));
/* The driver owns this memory from now on: the daemon must not read it. */
void world_buffer_queued(const void *memory);
void world_engine_reads(const void *memory, bool begins);
/* Receives a notification as the service manager. */
void world_notified(const char *text);
/* Returns since when all has been well; SIM_NEVER: not now. */
int64_t world_calm_since(void);
/* True if a thread lost its processor, or a frame hung, after ns. */
bool world_troubled_since(int64_t ns);
/* True if a camera has delivered nothing for more_ns longer than the daemon needs to notice. */
bool world_lacks_since(int64_t more_ns);

/* readers.c */
void readers_churn(void);
/* Wakes the eager readers, because a frame is about to be published. */
void readers_come(void);
/* http.c: the thread that sends requests. */
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
/* Checks a frame that a reader received. */
void check_frame(uint64_t epoch, uint64_t number, uint32_t checksum, const char *who);

#endif
