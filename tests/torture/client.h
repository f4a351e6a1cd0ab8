/*
 * A reader and a monitor inside the daemon's own process. They use frames.sock and status.sock of
 * $RUNTIME_DIRECTORY. Every error is an answer, and no call waits for longer than 4 s. Call only from a
 * thread that has called torture_begin_own().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_TORTURE_CLIENT_H
#define SX_TESTS_TORTURE_CLIENT_H

/*
 * Returns the HTTP code of the answer, or 0 if there is none. Writes the body to the file unless it is NULL.
 */
int client_get(const char *page, const char *file);
int client_order(const char *line);
/*
 * Reads `frames` frames, and stays connected. If the daemon has closed the connection, connects again once.
 */
void client_stream(int frames);
void client_hang_up(void);

#endif
