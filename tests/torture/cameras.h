/*
 * Two cameras whose driver is simulated (tests/kit/fake_v4l2.h): a pair is ready each time the capture thread
 * waits. Time runs faster while the cameras are absent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_TORTURE_CAMERAS_H
#define SX_TESTS_TORTURE_CAMERAS_H

/* Take effect at the capture thread's next wait. Any thread. */
void cameras_unplug(void);
void cameras_plug(void);

#endif
