/*
 * A folder for configuration files, and loading them with a look at the sentences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_CONFIG_FIXTURE_H
#define TESTS_CONFIG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "config/config.h"
#include "config/option.h"

/* Setup and teardown of a test: a fresh folder, gone afterwards with everything in it. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Full path of a name in the folder (four can be in use at once). */
const char *fixture_path(const char *name);
/* Writes a file, making the folder that it is in. Returns its full path. */
const char *fixture_write(const char *name, const void *bytes, size_t size);
const char *fixture_text(const char *name, const char *text);
/*
 * Copies seed into text (room bytes), changes up to three bytes of it and returns how many bytes are left of
 * it. round: which of many. state: of the generator, not 0.
 */
size_t fixture_garble(char *text, size_t room, const char *seed, int round, uint64_t *state);

/*
 * Loads main file (may be NULL) and overrides (NULL at the end). Fails the test unless the sentences
 * are exactly expected (newline after each; "DIR" stands for the folder), and the result is 0 for
 * none, -EINVAL otherwise.
 */
struct sx_settings *fixture_load(const char *file, const char *const *overrides, const char *expected);

#endif
