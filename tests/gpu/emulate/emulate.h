/*
 * Settings and queries of the emulated device for tests, beside the runtime's own interface.
 *
 * SX_EMULATE_ORDER   order.h
 * SX_EMULATE_DEVICE  properties, such as "integrated=1,sms=8,cc=87,memory=1073741824,devices=0,map=0"; clocks
 *                    in kHz, bus in bits: properties.cc
 * SX_EMULATE_FAIL    "cudaMalloc:7" fails the seventh call since the reset, "kernel:3" the third kernel
 *                    on the device ("copy", "set", "host" as well), "any:5" the fifth of any name;
 *                    "...:7+" the seventh and all later ones;
 *                    "...:7=719" with that error code; "kernel:3=hang" never ends, "kernel:3=skip" is not
 *                    run, without an error. Several entries are separated by commas.
 * Each variable is read when it is used, so that a test may set it at any time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_EMULATE_H
#define SX_TESTS_GPU_EMULATE_EMULATE_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns a count. Since the reset: calls of a runtime function ("cudaMalloc"; launches are
 * "cudaLaunchKernel"), or work that the device ran ("kernel", "copy", "set", "host"), "any": all of these;
 * "freed in flight": memory freed while work ran or waited to run; "default stream". Now: "device bytes" and
 * "pinned bytes" in use, "registrations held" (of host memory), "streams held", "events held", "graphs held";
 * "lost": the error that lost the device, 0 while it works.
 */
unsigned long long sx_emulate_count(const char *what);
/*
 * Returns the first call or work since the reset whose name is not in `allowed` (NULL ends the list). Returns
 * NULL if there is none. Use of the default stream is also counted as "default stream".
 */
const char *sx_emulate_other_than(const char *const *allowed);
/* Resets all counts to 0 and restores a lost device. Must not be called while the device works. */
void sx_emulate_reset(void);

/*
 * Second source of ordered failures, beside SX_EMULATE_FAIL: tests/torture. At most one, set before the first
 * call. Any thread calls it.
 */
struct sx_emulate_judge {
	/*
	 * Decides about one call of the runtime. `caller`: address of the caller. Returns 0; or the error
	 * with which the call fails; or -error: the call succeeds, and its work on the device loses the
	 * device with that error. Functions that free something (cudaFree, ...) have freed it even if they
	 * fail.
	 */
	int (*call)(const char *function, const void *caller);
	/* Called around the runtime's own work, for instance its memory allocations. Calls may be nested. */
	void (*begin)(void), (*end)(void);
};
void sx_emulate_judged_by(const struct sx_emulate_judge *judge);

#ifdef __cplusplus
}
#endif

#endif
