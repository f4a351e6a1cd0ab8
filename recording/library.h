/*
 * Common part of the public functions of libstixel-recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_LIBRARY_H
#define SX_RECORDING_LIBRARY_H

#include <stdbool.h>

/*
 * Calls work(object, arg) and returns its result. If a contract breaks in it, sets *broken, which belongs to
 * the object, and returns -ENOTRECOVERABLE. Every later call with that object returns the same.
 */
int sx_library_guard(bool *broken, int (*work)(void *object, void *arg), void *object, void *arg);

#endif
