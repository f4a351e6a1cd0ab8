/*
 * Exchange between main and the threads of a running pipeline: main gives contexts to the frame thread and
 * camera controls to the capture thread, and gets them back. The exchange consists of four atomic pointers,
 * like the waiting place of mailbox.h. Each object has one owner at any time, and no thread waits.
 *
 * Main gives one set of contexts, and one change of controls, at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_EXCHANGE_EXCHANGE_H
#define SX_DAEMON_EXCHANGE_EXCHANGE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "daemon/exchange/camera_controls.h"
#include "daemon/exchange/contexts.h"

struct sx_exchange {
	_Atomic(struct sx_contexts *) next, retired;
	_Atomic(struct sx_camera_controls *) controls, returned_controls;
};

/* Thread: main, after both threads have ended. Destroys contexts that are in the exchange. */
void sx_exchange_finish(struct sx_exchange *x);

/*
 * Thread: main. Gives contexts to the frame thread, which switches to them between two frames. Main then
 * wakes the frame thread.
 */
void sx_exchange_give_contexts(struct sx_exchange *x, struct sx_contexts *contexts);
/* Thread: main. Returns the previous contexts once all of their frames have been published; NULL: not yet. */
struct sx_contexts *sx_exchange_take_retired(struct sx_exchange *x);
/*
 * Thread: frame. Returns new contexts, or NULL. The frame thread later gives the previous ones back with
 * sx_exchange_retire() and wakes main.
 */
struct sx_contexts *sx_exchange_take_contexts(struct sx_exchange *x);
void sx_exchange_retire(struct sx_exchange *x, struct sx_contexts *contexts);

/* Thread: main. Gives camera controls to the capture thread. Main then wakes the capture thread. */
void sx_exchange_give_controls(struct sx_exchange *x, struct sx_camera_controls *controls);
/*
 * Thread: main. Returns true if main owns the controls again. ended: the capture thread has ended and takes
 * no controls.
 */
bool sx_exchange_take_returned_controls(struct sx_exchange *x, bool ended);
/* Thread: capture. Returns controls to set, or NULL. The capture thread gives them back with their result. */
struct sx_camera_controls *sx_exchange_take_controls(struct sx_exchange *x);
void sx_exchange_return_controls(struct sx_exchange *x, struct sx_camera_controls *controls);

#endif
