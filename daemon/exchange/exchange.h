/*
 * What main hands to the threads of a pipeline while frames go on, and gets back: contexts to the frame
 * thread, controls of the cameras to the capture thread. Four atomic pointers, as the waiting place of
 * handover.h: at any time everything has one owner, and nobody waits.
 *
 * Main hands over one set of contexts, and one change of controls, at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_EXCHANGE_EXCHANGE_H
#define SX_DAEMON_EXCHANGE_EXCHANGE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "daemon/exchange/contexts.h"
#include "daemon/exchange/tune.h"

struct sx_exchange {
	_Atomic(struct sx_contexts *) next, retired;
	_Atomic(struct sx_tune *) tune, tuned;
};

/* Main, when both threads have ended: destroys contexts that are on their way. */
void sx_exchange_finish(struct sx_exchange *x);

/* Main. Then wakes the frame thread, which goes over to them between two frames. */
void sx_exchange_give_contexts(struct sx_exchange *x, struct sx_contexts *contexts);
/* Main. The ones before, all of whose frames have been published; NULL: not yet. */
struct sx_contexts *sx_exchange_take_retired(struct sx_exchange *x);
/* Thread: frame. Contexts to go over to, or NULL; the ones before go back to main, which is woken then. */
struct sx_contexts *sx_exchange_take_contexts(struct sx_exchange *x);
void sx_exchange_retire(struct sx_exchange *x, struct sx_contexts *contexts);

/* Main. Then wakes the capture thread. */
void sx_exchange_give_tune(struct sx_exchange *x, struct sx_tune *tune);
/* Main. True: it is main's again. ended: the capture thread looks at nothing any more. */
bool sx_exchange_take_tuned(struct sx_exchange *x, bool ended);
/* Thread: capture. Controls to be set, or NULL; they go back to main with what became of them. */
struct sx_tune *sx_exchange_take_tune(struct sx_exchange *x);
void sx_exchange_return_tune(struct sx_exchange *x, struct sx_tune *tune);

#endif
