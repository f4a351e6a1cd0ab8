/*
 * Inside of the emulated runtime: what the device asks before it works, and what is counted there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_FAULTS_H
#define SX_TESTS_GPU_EMULATE_FAULTS_H

/* Counts; false when the device is lost, or is lost by this. Thread: device. */
bool sx_emulate_may_run(const char *kind);
/* what: "device bytes" or "pinned bytes"; by 1: a call that never fails, since it gives back. */
void sx_emulate_taken(const char *what, long long bytes);
#define SX_ENTER_ALWAYS sx_emulate_taken(__func__, 1)

#endif
