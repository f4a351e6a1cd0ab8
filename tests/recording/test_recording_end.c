/*
 * Tests a malicious file: an end of the data that contains another end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "recording/mcap.h"
#include "recording/recording.h"

/*
 * The outer end contains a whole chunk and another end. Garbage follows, so that the reader takes the outer
 * end for damaged and goes back into it.
 */
static void test_an_end_within_an_end(void **state)
{
	uint8_t file[164] = {0};
	char path[64];
	struct sx_why why;
	struct sx_recording *r;
	struct sx_record record;
	int fd, e, damages = 0;

	memcpy(file, SX_MCAP_MAGIC, SX_MCAP_MAGIC_BYTES);
	file[8] = 1; /* an empty header */
	file[9] = 8;
	file[25] = SX_MCAP_DATA_END;
	file[26] = 66;
	file[38] = SX_MCAP_CHUNK; /* an empty chunk */
	file[39] = 40;
	file[87] = SX_MCAP_DATA_END;
	file[88] = 4;
	snprintf(path, sizeof(path), "/dev/shm/sx-recording-end-%d", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, file, sizeof(file)), sizeof(file));
	close(fd);
	e = sx_recording_open(&r, path, &why);
	unlink(path);
	assert_int_equal(e, 0);
	while ((e = sx_recording_next(r, &record)) > 0)
		damages += record.kind == SX_RECORD_DAMAGE;
	assert_int_equal(e, 0);
	assert_true(damages > 0 || sx_recording_state(r)->cut_bytes > 0);
	sx_recording_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_an_end_within_an_end)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
