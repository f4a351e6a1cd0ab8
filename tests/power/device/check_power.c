/*
 * Measures the power of the machine that it runs on, with the daemon's sampler. For boards and cards that
 * have not been tested yet. On a card, compares the energy by its counter with the watts that the driver
 * reports. Needs no library except the driver's own.
 *
 *	check_power [ina|nvml|rapl|auto] [SECONDS] [ROOT]
 *
 * Prints the board, a line a second, and the sums. Exit: 0; 1 a check failed; 77 there is no sensor (1 with
 * SX_REQUIRE_GPU set).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "power/board.h"
#include "power/sampler.h"

#define SKIPPED 77
#define FPS 30
#define SEARCH_S 20 /* timeout of the search: a sleeping driver takes seconds to answer */
#define LINE_MS 1000
#define ASK_MS 50
#define ALIKE 0.2 /* largest relative difference between two measurements of the same card */

static const char *const sources[] = {"auto", "ina", "nvml", "rapl"};
static unsigned failed;

static uint64_t frames_by_clock(const void *user)
{
	return (uint64_t)(sx_now_ns() / (SX_NS_PER_S / FPS));
}

static void pause_ms(int ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&t, NULL);
}

static void check(bool good, const char *what, double got, double low, double high)
{
	printf("%s %s: %.6g, wanted is %.6g..%.6g\n", good ? "ok      " : "NOT OK  ", what, got, low, high);
	failed += !good;
}

static void check_range(const char *what, double got, double low, double high)
{
	check(isfinite(got) && got >= low && got <= high, what, got, low, high);
}

/*
 * Returns the driver's function for the watts of card 0, to compare with the sampler. NULL without a driver.
 */
static int (*find_driver(void **device))(void *, unsigned *)
{
	void *handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), *symbol[3];
	static const char *const names[] = {"nvmlInit_v2", "nvmlDeviceGetHandleByIndex_v2",
					    "nvmlDeviceGetPowerUsage"};
	int (*init)(void);
	int (*by_index)(unsigned, void **);
	int (*power)(void *, unsigned *);

	for (int i = 0; i < 3; i++)
		if (!handle || !(symbol[i] = dlsym(handle, names[i])))
			return NULL;
	memcpy(&init, &symbol[0], sizeof(init));
	memcpy(&by_index, &symbol[1], sizeof(by_index));
	memcpy(&power, &symbol[2], sizeof(power));
	return init() == 0 && by_index(0, device) == 0 ? power : NULL;
}

static void print_board(const char *root)
{
	struct sx_board b;

	sx_board_read(&b, root);
	printf("board     %s\n", *b.model ? b.model : "unknown");
	printf("mode      %" PRId64 " %s\n", b.mode_id, b.mode);
	printf("clocks    cpu %" PRId64 " of %" PRId64 " Hz (%s), gpu %" PRId64 " of %" PRId64
	       ", memory %" PRId64 "\n",
	       b.cpu_hz, b.cpu_max_hz, b.governor, b.gpu_hz, b.gpu_max_hz, b.memory_hz);
}

/* Waits until the sampler has found a sensor and prints it. Returns false if there is none. */
static bool wait_for_sensor(struct sx_sampler *s)
{
	struct sx_sampler_look l = {0};

	for (int i = 0; i < SEARCH_S * 1000 / ASK_MS && l.changes == 0; i++) {
		pause_ms(ASK_MS);
		sx_sampler_look(s, sx_now_ns(), &l);
	}
	if (!*l.source) {
		printf("no sensor: %s\n", l.reason);
		return false;
	}
	printf("sensor    %s: %s, %s, every %d ms\n", l.source, l.scope, l.device, l.interval_ms);
	return true;
}

static void print_line(const struct sx_sampler_look *l, int second)
{
	const struct sx_meter_readings *f = &l->readings;

	printf("%3d s  %.3f W (10 s: %.3f)  %.6f J/frame  %.6f fps/W  age %.0f ms  gpu %" PRId64 " Hz%s%s\n",
	       second, f->watts, f->watts_10s, f->joules_per_frame, f->fps_per_watt, (double)f->age_ns / 1e6,
	       l->gpu_hz, *l->reason ? "  " : "", l->reason);
	fflush(stdout);
}

static void measure(struct sx_sampler *s, int seconds)
{
	struct sx_sampler_look first, l;
	const struct sx_meter_readings *f = &l.readings;
	void *device = NULL;
	int (*power)(void *, unsigned *);
	double sum = 0.0, measured;
	unsigned mw, asked = 0;

	sx_sampler_look(s, sx_now_ns(), &first);
	power = strcmp(first.source, "nvml") == 0 ? find_driver(&device) : NULL;
	for (int i = 1; i <= seconds; i++) {
		for (int k = 0; k < LINE_MS / ASK_MS; k++) {
			pause_ms(ASK_MS);
			if (power && power(device, &mw) == 0) {
				sum += mw / 1e3;
				asked++;
			}
		}
		sx_sampler_look(s, sx_now_ns(), &l);
		print_line(&l, i);
	}
	measured = f->seconds - first.readings.seconds;
	check_range("seconds measured", measured, 0.8 * seconds, 1.5 * seconds + 1.0);
	check_range("mean watts", (f->joules - first.readings.joules) / measured, 0.1, 5000.0);
	check_range("joules a frame x fps a watt", f->joules_per_frame * f->fps_per_watt, 0.999, 1.001);
	check_range("frames a second", (double)(f->frames - first.readings.frames) / measured, 0.9 * FPS,
		    1.1 * FPS);
	if (asked)
		check_range("mean watts by the driver's own word",
			    (f->joules - first.readings.joules) / measured, (1.0 - ALIKE) * sum / asked,
			    (1.0 + ALIKE) * sum / asked);
}

int main(int argc, char **argv)
{
	struct sx_power_params p = {.interval_ms = 100, .root = argc > 3 ? argv[3] : NULL};
	const char *source = argc > 1 ? argv[1] : "auto";
	int seconds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 10;
	struct sx_power_engine engine = {.gpu = strcmp(source, "nvml") == 0};
	struct sx_sampler *s;

	for (p.source = SX_POWER_AUTO; p.source < SX_POWER_NONE && strcmp(source, sources[p.source]);
	     p.source++)
		;
	if (p.source == SX_POWER_NONE || seconds < 2 || seconds > 3600 || argc > 4) {
		fprintf(stderr, "usage: check_power [auto|ina|nvml|rapl] [SECONDS, from 2] [ROOT]\n");
		return 1;
	}
	print_board(p.root);
	if (sx_sampler_start(&s, &p, &engine, frames_by_clock, NULL) < 0)
		return 1;
	if (!wait_for_sensor(s)) {
		sx_sampler_stop(s);
		return getenv("SX_REQUIRE_GPU") ? 1 : SKIPPED;
	}
	measure(s, seconds);
	sx_sampler_stop(s);
	printf("%u checks failed\n", failed);
	return failed ? 1 : 0;
}
