/*
 * Two cameras whose driver is played (tests/kit/fake_v4l2.h): a pair each time the capture thread
 * waits. Time goes faster while they are absent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_TORTURE_CAMERAS_H
#define SX_TESTS_TORTURE_CAMERAS_H

/* From the capture thread's next wait on. Any thread. */
void cameras_unplug(void);
void cameras_plug(void);

#endif
