/*
 * Simulates shared memory whose publisher writes at any time, and a clock that advances when it is read. The
 * input determines both, so the same input gives the same result.
 *
 * The reader's code is compiled with shared_hook.h before it. The publisher gets a turn before each load of a
 * word, at each system call, and whenever the clock is read. So it writes between any two loads, as another
 * thread would, but always in the same places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_FUZZ_SHARED_H
#define SX_TESTS_FUZZ_SHARED_H

#include "include/stixel.h"
#include "tests/fuzz/fails.h"

#define SHARED_BYTES 16384u
/* Folder of the object. The object is its only file. Other files opened there do not exist. */
#define SHARED_FOLDER "/fuzz"

/* Bit of shared_begin(): a ring of 2, 4 or 8 slots whose sizes agree. */
#define SHARED_SOUND 1u
/* Start value of the clock. Times in a ring that are near it count as current. */
#define SHARED_NOW_NS INT64_C(1000000000000)

enum { SHARED_LIVE = 512, SHARED_SLOTS = 1024 };

/*
 * Answers of the system about the object and its publisher, for an input that ends with FAILS_PEER (fails.h).
 */
enum {
	SHARED_OTHER = 1,     /* the object belongs to another user */
	SHARED_PLACE = 2,     /* also the folder in /run, or the object's group is SHARED_GROUP */
	SHARED_OPEN = 4,      /* all users may write the object; with SHARED_PLACE: only its group */
	SHARED_NO_FILE = 8,   /* the object is no regular file */
	SHARED_PROCESS = 16,  /* the header names a process that the reader can see */
	SHARED_DIED = 32,     /* this process is dead */
	SHARED_OLD = 64,      /* the kernel has no process descriptors */
	SHARED_STRANGER = 128 /* the process started at another time than the header says */
};
#define SHARED_GROUP 4242u

/*
 * Makes the object from the input: its bytes, and a valid header with that magic if bits say so. Returns the
 * memory. The publisher writes to it after shared_write().
 */
uint8_t *shared_begin(struct fuzz_input *in, unsigned bits, uint64_t magic);
/* Changes one word of the header. Call after all other parts are in place. */
void shared_break(struct fuzz_input *in);
/*
 * Changes one of the header's first words in one of several ways, for an input that ends with FAILS_HEADER.
 */
void shared_break_layout(void);
/*
 * Starts the publisher's writes. Each takes three bytes of the input, and eight or one more: the number of
 * turns until the write, its place, and the new value or the amount to add.
 */
void shared_write(struct fuzz_input *in);
/* Ends the publisher's writes. The memory does not change any more. */
void shared_rest(void);
/* Ends the writes and the simulation of the system. True if a call has failed (fails.h). */
bool shared_end(void);
int64_t shared_now_ns(void);
void shared_pass(int64_t ns);

/* Returns the slot of number n in a valid ring. */
struct stixel_ring_slot *shared_slot(uint64_t n);

#endif
