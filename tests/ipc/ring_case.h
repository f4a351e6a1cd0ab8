/*
 * Setup shared by the tests of a ring: a temporary folder, the path of instance "a" in it, and frames of a
 * few columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_IPC_RING_CASE_H
#define TESTS_IPC_RING_CASE_H

#include <stdio.h>

#include "tests/ipc/help.h"

static const struct help_shape small = {.columns = 40};

static char dir[64];
static char path[128];

static int setup(void **state)
{
	help_dir_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/stixeld.a", dir);
	return 0;
}

static int teardown(void **state)
{
	help_dir_remove(dir);
	return 0;
}

#endif
