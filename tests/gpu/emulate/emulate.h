/*
 * What a test may ask the emulated device, beside the runtime's own interface.
 *
 * SX_EMULATE_ORDER   order.h
 * SX_EMULATE_DEVICE  properties, such as "integrated=1,sms=8,cc=87,memory=1073741824,devices=0,map=0"; clocks
 *                    in kHz, bus in bits: properties.cc
 * SX_EMULATE_FAIL    "cudaMalloc:7" fails the seventh call since the reset, "kernel:3" the third kernel
 *                    on the device ("copy", "set", "host" as well), "any:5" the fifth of whatever name;
 *                    "...:7+" that and all later ones;
 *                    "...:7=719" with that error code; "kernel:3=hang" never ends, "kernel:3=skip" is not
 *                    run, and nobody is told. Several with commas between.
 * Each is read where it counts, so that a test may set it at any time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_EMULATE_H
#define SX_TESTS_GPU_EMULATE_EMULATE_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Since the reset: calls of a runtime function ("cudaMalloc"; launches are "cudaLaunchKernel"), or what
 * the device ran ("kernel", "copy", "set", "host"), "any": all of these; "freed in flight": memory while
 * something ran or waited to run; "default stream";
 * now: "device bytes" and "pinned bytes" that are taken, "registrations held" (of host memory),
 * "streams held", "events held", "graphs held"; "lost": the error that the device is lost by, 0 while it
 * works.
 */
unsigned long long sx_emulate_count(const char *what);
/*
 * The first thing that was called or ran since the reset and is not among the names that allowed lists, NULL
 * behind the last; NULL when there is none. What uses the default stream is counted as "default stream" too.
 */
const char *sx_emulate_other_than(const char *const *allowed);
/* Counts from 0, and a lost device is back. Not while it works. */
void sx_emulate_reset(void);

/*
 * Someone else who orders failures, beside SX_EMULATE_FAIL: tests/torture. At most one, before the first
 * call. Any thread calls it.
 */
struct sx_emulate_judge {
	/*
	 * A call of the runtime, by who: 0, the error that it fails with, or -error: it succeeds, and what it
	 * gives the device loses it with that error. What gives back (cudaFree, ...) has done so when it
	 * fails.
	 */
	int (*call)(const char *function, const void *caller);
	/* Around what the runtime does itself, memory that it takes for instance. Nested. */
	void (*begin)(void), (*end)(void);
};
void sx_emulate_judged_by(const struct sx_emulate_judge *judge);

#ifdef __cplusplus
}
#endif

#endif
