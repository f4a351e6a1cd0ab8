/*
 * Tests faults of libstixel-recording: a fault is an error of the call in which it occurs, and the process
 * goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/contract.h"
#include "include/stixel_recording.h"
#include "recording/recording.h"

static int steps;
static bool broken_open;
static sx_recording_wait_fn *asked;
static void *asked_user;

int __wrap_sx_recording_open_fd(struct sx_recording **ret, int fd, const char *path, char *why,
				size_t why_bytes);
void __wrap_sx_recording_close(struct sx_recording *r);
void __wrap_sx_recording_on_wait(struct sx_recording *r, sx_recording_wait_fn *wait, void *user);
int __wrap_sx_recording_next(struct sx_recording *r, struct sx_record *record);

int __wrap_sx_recording_open_fd(struct sx_recording **ret, int fd, const char *path, char *why,
				size_t why_bytes)
{
	close(fd);
	sx_must_be(!broken_open);
	*ret = (struct sx_recording *)&steps; /* the test never dereferences this pointer */
	return 0;
}

void __wrap_sx_recording_close(struct sx_recording *r)
{
}

void __wrap_sx_recording_on_wait(struct sx_recording *r, sx_recording_wait_fn *wait, void *user)
{
	asked = wait;
	asked_user = user;
}

/* Replaces the function with one that works for a long time, then breaks a contract. */
int __wrap_sx_recording_next(struct sx_recording *r, struct sx_record *record)
{
	int e = 0;

	sx_must(++steps, <, 3);
	for (int i = 0; e == 0 && i < 1000; i++)
		e = asked(asked_user, -1);
	return e;
}

static int any_fd(void)
{
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void a_fault_is_an_error(void **state)
{
	struct stixel_recording *r = NULL;
	struct stixel_record record;

	broken_open = true;
	assert_int_equal(stixel_recording_open(&r, any_fd(), "x", NULL, 0), -ENOTRECOVERABLE);
	assert_null(r);
	broken_open = false;
	assert_int_equal(stixel_recording_open(&r, any_fd(), "x", NULL, 0), 0);
	/* after much work a call returns, so that the caller can handle signals */
	for (int i = 0; i < 2; i++)
		assert_int_equal(stixel_recording_next(r, &record, sizeof(record)), -EAGAIN);
	assert_int_equal(stixel_recording_next(r, &record, sizeof(record)), -ENOTRECOVERABLE);
	assert_int_equal(steps, 3);
	assert_int_equal(stixel_recording_next(r, &record, sizeof(record)), -ENOTRECOVERABLE);
	assert_int_equal(stixel_recording_seek(r, 1), -ENOTRECOVERABLE);
	assert_int_equal(steps, 3); /* after a fault the library does not use the recording again */
	stixel_recording_close(r);
	assert_non_null(strstr(stixel_recording_strerror(-ENOTRECOVERABLE), "fault"));
}

static void wrong_arguments(void **state)
{
	struct stixel_recording *r;
	struct stixel_record record;
	struct stixel_recording_info info;

	assert_int_equal(stixel_recording_open(NULL, any_fd(), "x", NULL, 0), -EINVAL);
	assert_int_equal(stixel_recording_open(&r, any_fd(), NULL, NULL, 0), -EINVAL);
	assert_int_equal(stixel_recording_next(NULL, &record, sizeof(record)), -EINVAL);
	assert_int_equal(stixel_recording_seek(NULL, 0), -EINVAL);
	assert_int_equal(stixel_recording_info(NULL, &info, sizeof(info)), -EINVAL);
	stixel_recording_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_is_an_error),
		cmocka_unit_test(wrong_arguments),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
