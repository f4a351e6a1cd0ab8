/*
 * What the public functions of libstixel-recording share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_LIBRARY_H
#define SX_RECORDING_LIBRARY_H

#include <stdbool.h>

/*
 * Calls work(object, arg) and returns what it does. If a contract breaks in it, sets *broken, which belongs to the
 * object, and returns -ENOTRECOVERABLE, as each call with that object from then on.
 */
int sx_library_guard(bool *broken, int (*work)(void *object, void *arg), void *object, void *arg);

#endif
