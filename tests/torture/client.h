/*
 * A reader and a monitor inside the daemon's own process: by frames.sock and status.sock of
 * $RUNTIME_DIRECTORY. Whatever goes wrong is an answer; nothing waits for longer than 4 s. For a thread
 * that has called torture_begin_own().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_TORTURE_CLIENT_H
#define SX_TESTS_TORTURE_CLIENT_H

/* The code of the answer, 0: none. The body goes into the file, if there is one. */
int client_get(const char *page, const char *file);
int client_order(const char *line);
/* Reads so many frames, and stays connected. Connects anew when it was thrown out, once. */
void client_stream(int frames);
void client_hang_up(void);

#endif
