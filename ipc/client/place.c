/*
 * Returns the folders of sockets, for programs in other languages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/places.h"
#include "include/stixel.h"

int stixel_place(unsigned place, const char *program, char *folder, size_t bytes)
{
	if (!program || !folder || !bytes)
		return -EINVAL;
	if (place >= SX_PLACES)
		return -ENOENT;
	return sx_place_folder_of((enum sx_place)place, program, folder, bytes);
}
