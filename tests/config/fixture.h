/*
 * Creates a folder for configuration files, loads them, and checks the sentences.
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

/* Set up and tear down a test: create a new folder, and delete it with its content. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Returns the full path of a name in the folder. Four paths can be in use at once. */
const char *fixture_path(const char *name);
/* Writes a file and creates its folder. Returns its full path. */
const char *fixture_write(const char *name, const void *bytes, size_t size);
const char *fixture_text(const char *name, const char *text);
/*
 * Copies seed into text (room bytes), changes up to three bytes and returns how many bytes remain. `round` is
 * the number of the variant. `state` is the state of the random generator, not 0.
 */
size_t fixture_garble(char *text, size_t room, const char *seed, int round, uint64_t *state);

/*
 * Loads the main file (may be NULL) and overrides (NULL at the end). Fails the test unless the sentences
 * equal `expected` (a newline after each; "DIR" stands for the folder) and the result fits: 0 for no
 * sentences, else -EINVAL.
 */
struct sx_settings *fixture_load(const char *file, const char *const *overrides, const char *expected);

#endif
