/*
 * Functions of the pipeline that its threads call: size, pinned memory, its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "base/log.h"
#include "base/wake.h"
#include "daemon/pipeline.h"

int sx_pipeline_slots(const struct sx_settings *s)
{
	sx_must(s->engine.contexts + 2, <=, SX_QUEUED_PAIRS_MAX);
	return s->engine.contexts + 2;
}

static bool fits_camera(const struct sx_camera *a, const struct sx_camera *b)
{
	return a && b ? memcmp(a, b, sizeof(*a)) == 0 : a == b;
}

static bool fits_rig(const struct sx_rig *a, const struct sx_rig *b)
{
	return a && b ? memcmp(a, b, sizeof(*a)) == 0 : a == b;
}

bool sx_pipeline_fits(const struct sx_source_info *a, const struct sx_source_info *b)
{
	return a->width == b->width && a->height == b->height && a->pixel == b->pixel && a->live == b->live &&
	       a->awaited == b->awaited && fits_camera(a->camera, b->camera) && fits_rig(a->rig, b->rig);
}

void sx_pipeline_pin(struct sx_pipeline *p)
{
	const struct sx_feed_input *const inputs[] = {&p->feeds.semantics.in, &p->feeds.external.in};
	struct sx_block block;
	int failed = 0, error = 0;

	if (!p->source)
		return;
	for (int i = 0; sx_source_block(p->source, i, &block); i++) {
		int r = sx_engine_pin(p->c.engine, block.memory, block.bytes);

		failed += r < 0;
		error = r < 0 ? r : error;
	}
	for (size_t k = 0; k < sizeof(inputs) / sizeof(inputs[0]); k++) {
		sx_must(inputs[k]->count, <=, p->context_count);
		for (int i = 0; i < inputs[k]->count; i++) {
			int r = sx_engine_pin(p->c.engine, inputs[k]->block[i].memory,
					      inputs[k]->block[i].bytes);

			failed += r < 0;
			error = r < 0 ? r : error;
		}
	}
	if (failed > 0)
		sx_log(CAPTURE, WARNING,
		       "%d buffers of pairs cannot be pinned (%s): what lies in them costs one more copy",
		       failed, strerror(-error));
}

void sx_pipeline_unpin(struct sx_pipeline *p)
{
	sx_engine_unpin_all(p->c.engine);
}

void sx_pipeline_stop(struct sx_pipeline *p)
{
	atomic_store(&p->stop, true);
	sx_wake(p->mailbox.capture_fd);
	sx_wake(p->mailbox.frame_fd);
}

void sx_pipeline_end(struct sx_pipeline *p, enum sx_end end, const char *why)
{
	enum sx_end expected = SX_END_NONE;

	sx_must(end, !=, SX_END_NONE);
	/*
	 * The first thread that ends the pipeline writes why. main reads it after both threads have been
	 * joined.
	 */
	if (atomic_compare_exchange_strong(&p->end, &expected, end)) {
		sx_why_set(&p->why, "%s", why);
	}
	sx_pipeline_stop(p);
	sx_wake(p->c.main_fd);
}
