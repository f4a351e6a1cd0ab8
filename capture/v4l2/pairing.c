/*
 * Pairs images by time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/v4l2/pairing.h"

#include <string.h>

#include "base/contract.h"

static int64_t apart(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

bool sx_pairing_add(struct sx_pairing *p, int side, int index, int64_t ns)
{
	int n = p->side[side].count, at = n;

	sx_must_index(side, 2);
	if (n == SX_PAIRING_ROOM)
		return false;
	p->side[side].last_ns = ns;
	/* keep the images sorted, even if a driver's time stamps go back */
	while (at > 0 && p->side[side].images[at - 1].ns > ns)
		p->side[side].images[--at].overtaken++;
	memmove(&p->side[side].images[at + 1], &p->side[side].images[at],
		(size_t)(n - at) * sizeof(p->side[side].images[0]));
	p->side[side].images[at] = (struct sx_pairing_image){index, ns, 0};
	p->side[side].count++;
	return true;
}

bool sx_pairing_forget(struct sx_pairing *p, int side, int index)
{
	struct sx_pairing_image *images = p->side[side].images;
	int n = p->side[side].count, at = 0;

	sx_must_index(side, 2);
	while (at < n && images[at].index != index)
		at++;
	if (at == n)
		return false;
	memmove(&images[at], &images[at + 1], (size_t)(n - at - 1) * sizeof(images[0]));
	p->side[side].count--;
	return true;
}

/*
 * Returns the index of the image of a side that is nearest to ns; of two equally near ones the older; -1: the
 * side is empty.
 */
static int nearest(const struct sx_pairing *p, int side, int64_t ns)
{
	int best = -1;

	sx_must_index(side, 2);
	for (int i = 0; i < p->side[side].count; i++)
		if (best < 0 ||
		    apart(p->side[side].images[i].ns, ns) < apart(p->side[side].images[best].ns, ns))
			best = i;
	return best;
}

/*
 * Returns the index of the partner: both images are nearest to each other and within the tolerance. -1: none.
 */
static int partner(const struct sx_pairing *p, int side, int at)
{
	int64_t ns;
	int other;

	sx_must_index(at, p->side[side].count);
	ns = p->side[side].images[at].ns;
	other = nearest(p, 1 - side, ns);
	if (other < 0 || apart(p->side[1 - side].images[other].ns, ns) > p->tolerance_ns)
		return -1;
	return nearest(p, side, p->side[1 - side].images[other].ns) == at ? other : -1;
}

static void drop_image(struct sx_pairing_result *r, int side, int index, enum sx_pairing_fate fate)
{
	sx_must_index(r->dropped_count, 2 * SX_PAIRING_ROOM);
	r->dropped[r->dropped_count].side = side;
	r->dropped[r->dropped_count].index = index;
	r->dropped[r->dropped_count++].fate = fate;
}

/* Removes the oldest n images of a side. */
static void remove_oldest(struct sx_pairing *p, int side, int n)
{
	sx_must_be(n >= 0 && n <= p->side[side].count);
	p->side[side].count -= n;
	memmove(p->side[side].images, p->side[side].images + n,
		(size_t)p->side[side].count * sizeof(p->side[side].images[0]));
}

/* Takes the pair at left, right. All older images are dropped. */
static void take_pair(struct sx_pairing *p, int left, int right, struct sx_pairing_result *r)
{
	const int at[2] = {left, right};

	sx_must_be(!r->found);
	r->found = true;
	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < at[side]; i++)
			drop_image(r, side, p->side[side].images[i].index,
				   partner(p, side, i) >= 0 ? SX_PAIRING_OVERLOAD : SX_PAIRING_UNPAIRED);
		r->pair[side] = p->side[side].images[at[side]];
	}
	for (int side = 0; side < 2; side++)
		remove_oldest(p, side, at[side] + 1);
}

/* Drops images whose time stamps jumped ahead. */
static void drop_ahead(struct sx_pairing *p, int side, struct sx_pairing_result *r)
{
	struct sx_pairing_image *images = p->side[side].images;
	int kept = 0;

	sx_must_index(side, 2);
	for (int i = 0; i < p->side[side].count; i++)
		if (images[i].overtaken < SX_PAIRING_WAIT)
			images[kept++] = images[i];
		else
			drop_image(r, side, images[i].index, SX_PAIRING_UNPAIRED);
	p->side[side].count = kept;
}

/*
 * Returns the newest time of a side. A stamp ahead of the last image does not count, so that it makes no
 * other image late.
 */
static int64_t newest_ns(const struct sx_pairing *p, int side)
{
	sx_must(p->side[side].count, >, 0);
	const int64_t ns = p->side[side].images[p->side[side].count - 1].ns;

	return ns < p->side[side].last_ns ? ns : p->side[side].last_ns;
}

/*
 * Gives up images for which every further image of the other side is too late, and the oldest ones beyond
 * SX_PAIRING_WAIT.
 */
static void give_up(struct sx_pairing *p, int side, struct sx_pairing_result *r)
{
	const bool others = p->side[1 - side].count > 0;
	int n = 0;

	sx_must(p->side[side].count, <=, SX_PAIRING_ROOM);
	while (n < p->side[side].count) {
		bool late = others && newest_ns(p, 1 - side) > p->side[side].images[n].ns + p->tolerance_ns;

		if (!late && p->side[side].count - n <= SX_PAIRING_WAIT)
			break;
		drop_image(r, side, p->side[side].images[n++].index, SX_PAIRING_UNPAIRED);
	}
	remove_oldest(p, side, n);
}

void sx_pairing_take(struct sx_pairing *p, struct sx_pairing_result *ret)
{
	ret->found = false;
	ret->dropped_count = 0;
	for (int left = p->side[0].count - 1; left >= 0 && !ret->found; left--) {
		int right = partner(p, 0, left);

		if (right >= 0)
			take_pair(p, left, right, ret);
	}
	for (int side = 0; side < 2; side++)
		drop_ahead(p, side, ret);
	for (int side = 0; side < 2; side++)
		give_up(p, side, ret);
}
