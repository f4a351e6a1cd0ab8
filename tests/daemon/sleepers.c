/*
 * A reader with very many threads. All of them sleep on a ring's bell, and sleep again after each wake-up.
 * Usage: sleepers RING THREADS. Prints how many threads sleep, and runs until it is stopped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/stixel.h"

#define STACK_BYTES (32 * 1024)

static const uint32_t *bell;

static void *sleeper(void *user)
{
	for (;;)
		syscall(SYS_futex, bell, FUTEX_WAIT, __atomic_load_n(bell, __ATOMIC_ACQUIRE), NULL, NULL, 0);
	return user;
}

int main(int argc, char **argv)
{
	const int wanted = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
	int fd = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1, count = 0;
	const uint8_t *page = mmap(NULL, STIXEL_RING_SLOTS_OFFSET, PROT_READ, MAP_SHARED, fd, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	if (page == MAP_FAILED)
		return 1;
	bell = &((const struct stixel_ring_live *)(page + STIXEL_RING_LIVE_OFFSET))->bell;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	while (count < wanted && pthread_create(&thread, &attributes, sleeper, NULL) == 0)
		count++;
	printf("%d\n", count);
	fflush(stdout);
	for (;;)
		pause();
}
