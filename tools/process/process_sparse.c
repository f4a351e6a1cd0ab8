/*
 * stixel-process: finds why pairs have few disparities. Wrongly combined pairs still give results, only with
 * fewer disparities.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "tools/pairs/faults.h"
#include "tools/process/process.h"

static const char likely[] =
	"likely left and right are swapped, the rows of both images are off against each other, "
	"or the images are not rectified";
static const char in_line[] = "its images are neither exchanged nor out of line: likely there is too little "
			      "texture, or things are nearer than stereo.disparities reaches";

/* Computes statistics of the pair in the context. Returns false if this fails. */
static bool sparse_stats(const struct process *p, struct sx_pair_stats *f)
{
	const struct sx_stereo_params *s = &p->config.params.stereo;
	struct sx_pairs *pairs = NULL;
	struct sx_image left, right;
	bool done;

	done = p->engine.backend->peek(p->context, SX_TAP_LEFT, &left) == 0 &&
	       p->engine.backend->peek(p->context, SX_TAP_RIGHT, &right) == 0 &&
	       sx_pairs_create(&pairs, left.width, left.height, s->min_disparity, s->disparities) == 0 &&
	       sx_pairs_add(pairs, &left, &right, NULL, 0) == 0;
	if (done)
		sx_pairs_stats(pairs, f);
	sx_pairs_destroy(pairs);
	return done;
}

/*
 * Returns the density of the pair with its images exchanged, NAN if unknown. Afterwards the context holds the
 * exchanged pair.
 */
static double density_exchanged(const struct process *p)
{
	const struct sx_pair pair = {.number = 1, .left = p->slots.slot->right, .right = p->slots.slot->left};

	/* raw images cannot be exchanged: each shows the lens of its side */
	if (p->config.rectify || p->engine.backend->submit(p->context, &pair, NULL, NULL, NULL) < 0 ||
	    p->engine.backend->wait(p->context, -1) < 0)
		return (double)NAN;
	return p->engine.backend->result(p->context)->diagnostics.measured /
	       ((double)p->config.width * p->config.height);
}

void process_sparse_look(struct process *p, const char *name, double percent)
{
	struct sx_pair_finding finding[SX_PAIR_FAULTS];
	struct sx_pair_stats f;
	size_t used = 0;
	int n;

	if (p->sparse++)
		return;
	p->sparse_name = name;
	p->sparse_density = percent;
	snprintf(p->sparse_why, sizeof(p->sparse_why), "%s", likely);
	if (!sparse_stats(p, &f))
		return;
	f.density = percent / 100;
	if (f.behind > 0.5)
		f.exchanged = density_exchanged(p);
	n = sx_pair_faults(&f, finding);
	for (int i = 0; i < n && used < sizeof(p->sparse_why); i++)
		if (finding[i].fault != SX_PAIR_THIN)
			used += (size_t)snprintf(p->sparse_why + used, sizeof(p->sparse_why) - used, "%s%s",
						 used ? "; " : "", finding[i].text);
	if (!used && !isnan(f.agree))
		snprintf(p->sparse_why, sizeof(p->sparse_why), "%s", in_line);
}

void process_sparse_note(const struct process *p)
{
	if (!p->sparse)
		return;
	if (p->sparse == p->done && p->done == 1)
		fprintf(stderr, SX_PROGRAM ": %s: only %.1f %% of the pixels have a disparity; %s\n",
			p->sparse_name, p->sparse_density, p->sparse_why);
	else
		fprintf(stderr,
			SX_PROGRAM ": %d of %d pairs have a disparity for less than %.0f %% of their "
				   "pixels (%s: %.1f %%); %s\n",
			p->sparse, p->done, 100 * SX_PAIRS_SPARSE, p->sparse_name, p->sparse_density,
			p->sparse_why);
}
