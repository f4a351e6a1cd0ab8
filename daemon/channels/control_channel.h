/*
 * Control channel between main and the threads of a running pipeline. Main gives contexts to the frame thread
 * and camera controls to the capture thread. Both threads give them back. The channel consists of four atomic
 * pointers. Each object has one owner at any time, and no thread waits.
 *
 * Main gives one set of contexts, and one change of controls, at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_CHANNELS_CONTROL_CHANNEL_H
#define SX_DAEMON_CHANNELS_CONTROL_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "daemon/channels/camera_controls.h"
#include "daemon/channels/contexts.h"

struct sx_control_channel {
	_Atomic(struct sx_contexts *) next, retired;
	_Atomic(struct sx_camera_controls *) controls, returned_controls;
};

/* Thread: main, after both threads have ended. Destroys contexts that are in the channel. */
void sx_control_channel_finish(struct sx_control_channel *x);

/*
 * Thread: main. Gives contexts to the frame thread, which switches to them between two frames. Main then
 * wakes the frame thread.
 */
void sx_control_channel_give_contexts(struct sx_control_channel *x, struct sx_contexts *contexts);
/* Thread: main. Returns the previous contexts once all of their frames have been published; NULL: not yet. */
struct sx_contexts *sx_control_channel_take_retired(struct sx_control_channel *x);
/*
 * Thread: frame. Returns new contexts, or NULL. The frame thread later gives the previous ones back with
 * sx_control_channel_retire() and wakes main.
 */
struct sx_contexts *sx_control_channel_take_contexts(struct sx_control_channel *x);
void sx_control_channel_retire(struct sx_control_channel *x, struct sx_contexts *contexts);

/* Thread: main. Gives camera controls to the capture thread. Main then wakes the capture thread. */
void sx_control_channel_give_controls(struct sx_control_channel *x, struct sx_camera_controls *controls);
/*
 * Thread: main. Takes the camera controls back. Returns true if main owns them now. ended: the capture thread
 * has ended, so main also takes back controls that the thread has not taken.
 */
bool sx_control_channel_take_returned_controls(struct sx_control_channel *x, bool ended);
/* Thread: capture. Returns controls to set, or NULL. The capture thread gives them back with their result. */
struct sx_camera_controls *sx_control_channel_take_controls(struct sx_control_channel *x);
void sx_control_channel_return_controls(struct sx_control_channel *x, struct sx_camera_controls *controls);

#endif
