/*
 * Compiles the installed header alone, as strict C11.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stixel.h>
#include <stixel_convert.h>
#include <stixel_disparity.h>
#include <stixel_messages.h>
#include <stixel_pairs.h>

const char *use_header(const struct stixel_frame *frame);
const char *use_header(const struct stixel_frame *frame)
{
	uint32_t count;
	const struct stixel *s = stixel_column(frame, 0, &count);

	return count && stixel_depth_m(frame->header, s) > 1.0 ? stixel_kind_name(s->kind) : stixel_version();
}
