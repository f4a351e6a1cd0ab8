/*
 * Shared memory whose other end writes whenever it likes, and a clock that goes on when somebody looks:
 * all as the input has it, so that the same input gives the same.
 *
 * What reads the memory is compiled with shared_hook.h before it: the other end has its turn before each
 * load of a word, at every system call and whenever the clock is asked. So it comes between any two loads,
 * as another thread would, but again at the same place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_FUZZ_SHARED_H
#define SX_TESTS_FUZZ_SHARED_H

#include "include/stixel.h"
#include "tests/fuzz/fails.h"

#define SHARED_BYTES 16384u
/* Where the object lies for who opens it; nothing else does. What is opened beside it is not there. */
#define SHARED_FOLDER "/fuzz"

/* A ring of 2, 4 or 8 slots whose sizes agree. Bits of shared_begin(). */
#define SHARED_SOUND 1u
/* The clock's first moment: times of a ring that are near it are of now. */
#define SHARED_NOW_NS INT64_C(1000000000000)

enum { SHARED_LIVE = 512, SHARED_SLOTS = 1024 };

/* What the system says of the object and its publisher: of an input that ends with FAILS_PEER (fails.h). */
enum {
	SHARED_OTHER = 1,   /* it belongs to another user */
	SHARED_PLACE = 2,   /* as does the instance's folder in /run, or a folder of the group SHARED_GROUP */
	SHARED_OPEN = 4,    /* whoever likes may write it */
	SHARED_NO_FILE = 8, /* it is no regular file */
	SHARED_PROCESS = 16,  /* the header names a process that we can see */
	SHARED_DIED = 32,     /* it is dead */
	SHARED_OLD = 64,      /* the kernel knows no descriptors of processes */
	SHARED_STRANGER = 128 /* it has begun at another time than the header says */
};
#define SHARED_GROUP 4242u

/*
 * Makes the object of the input: its bytes, with a sound header of that magic where bits say so. Returns
 * the memory. It is written on when shared_write() has said from what.
 */
uint8_t *shared_begin(struct fuzz_input *in, unsigned bits, uint64_t magic);
/* One word of the header is another: when all is in its place. */
void shared_break(struct fuzz_input *in);
/* One of the first words is another, each in one of some ways: of an input that ends with FAILS_HEADER. */
void shared_break_layout(void);
/*
 * From now on the other end writes: of each three bytes of the input and the eight or the one behind them
 * after how many turns, where, and what, or how much more than before.
 */
void shared_write(struct fuzz_input *in);
/* The other end writes no more, and nothing else changes. */
void shared_rest(void);
/* Nobody writes any more, and the system is the real one again. True: a call has failed (fails.h). */
bool shared_end(void);
int64_t shared_now_ns(void);
void shared_pass(int64_t ns);

/* The slot of number n of a sound ring. */
struct stixel_ring_slot *shared_slot(uint64_t n);

#endif
