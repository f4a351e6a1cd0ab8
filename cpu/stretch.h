/*
 * The grey range of a Y16 pair, computed on all workers. The result is that of sx_ingest_stretch().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_STRETCH_H
#define SX_CPU_STRETCH_H

#include <stddef.h>

#include "cpu/pool.h"
#include "stages/stereo/ingest.h"

/* Returns the bytes of counts in sx_stretch_find(). */
size_t sx_stretch_count_bytes(int threads);
/* Finds the grey range. The running job calls it. counts: memory for the pool's threads, overwritten. */
struct sx_stretch sx_stretch_find(struct sx_pool *pool, const struct sx_image *left,
				  const struct sx_image *right, uint32_t *counts);

#endif
