/*
 * Returns the runtime directories of an instance, for programs in other languages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/runtime_dirs.h"
#include "include/stixel.h"

int stixel_place(unsigned place, const char *program, char *folder, size_t bytes)
{
	if (!program || !folder || !bytes)
		return -EINVAL;
	if (place >= SX_RUNTIME_DIRS)
		return -ENOENT;
	return sx_runtime_dir_name_of((enum sx_runtime_dir)place, program, folder, bytes);
}
