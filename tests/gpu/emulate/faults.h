/*
 * Inside of the emulated runtime: what the device asks before it works, and what is counted there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_FAULTS_H
#define SX_TESTS_GPU_EMULATE_FAULTS_H

/* Counts; false when the device is lost, is lost by this, or skips it. Thread: device. */
bool sx_emulate_may_run(const char *kind);
/* what: "... bytes" or "... held", what is there now; or a name to count. */
void sx_emulate_taken(const char *what, long long more);
/* Of calls that never fail, since they give back. */
#define SX_ENTER_ALWAYS sx_emulate_taken(__func__, 1)

#endif
