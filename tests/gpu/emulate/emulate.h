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
 * now: "device bytes" and "pinned bytes" that are taken, "streams held", "events held", "graphs held".
 */
unsigned long long sx_emulate_count(const char *what);
/*
 * The first thing that was called or ran since the reset and is not among the names that allowed lists, NULL
 * behind the last; NULL when there is none. What uses the default stream is counted as "default stream" too.
 */
const char *sx_emulate_other_than(const char *const *allowed);
/* Counts from 0, and a lost device is back. Not while it works. */
void sx_emulate_reset(void);

#ifdef __cplusplus
}
#endif

#endif
