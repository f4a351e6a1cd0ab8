/*
 * Replaces cameras.c in programs whose pairs come from another source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "tests/torture/cameras.h"

void cameras_unplug(void)
{
	abort();
}

void cameras_plug(void)
{
	abort();
}
