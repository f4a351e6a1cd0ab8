/*
 * Finds the stixels that are obstacles in space.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/messages/obstacles.h"

#include <stdlib.h>

#include "include/stixel_convert.h"

uint8_t *sx_obstacles(const struct stixel_frame *f)
{
	const struct stixel_points_options all = {.of = STIXEL_POINTS_OF_OBSTACLES,
						  .coordinates = STIXEL_COORDINATES_CAMERA};
	const uint64_t room = 2 * (uint64_t)f->header->stixel_count; /* foot and top */
	struct stixel_point *points = malloc((room + 1) * sizeof(*points));
	uint8_t *found = calloc(f->header->stixel_count + (size_t)1, 1);
	int64_t count;

	if (!points || !found) {
		free(points);
		free(found);
		return NULL;
	}
	count = stixel_points(f, &all, sizeof(all), points, room);
	for (int64_t i = 0; i < count && i < (int64_t)room; i++)
		found[points[i].id] = 1;
	free(points);
	return found;
}
