/*
 * Atomic objects in the C11 model as repaired by RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing
 * Sequential Consistency in C/C++11, PLDI 2017). The model is executed with views: the machine of Kang, Hur,
 * Lahav, Vafeiadis, Dreyer: A Promising Semantics for Relaxed-Memory Concurrency (POPL 2017), without its
 * promises, which RC11 does not have either.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "tests/model/model.h"

static bool is_acquire(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
	       order == __ATOMIC_SEQ_CST;
}

static bool is_release(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* Returns the order of an operation, or the weaker order if this operation is the weakened one. */
static int memory_order(uintptr_t pc, char kind, int order)
{
	unsigned i;

	if (pc == model->weak_pc)
		return model->weak_order;
	if (!model->collecting)
		return order;
	for (i = 0; i < model->sites && model->site[i].pc != pc; i++)
		;
	if (i == model->sites && i < sizeof(model->site) / sizeof(model->site[0]))
		model->site[model->sites++] = (struct site){pc, kind, order};
	return order;
}

/* ---- views ---- */

static unsigned seen_of(const struct view *v, unsigned location)
{
	return location < v->count ? v->seen[location] : 0;
}

static unsigned position_of(unsigned message)
{
	return message ? model->message[message].position : 0;
}

static void view_extend(struct view *v, unsigned count)
{
	if (v->count < count) {
		memset(v->seen + v->count, 0, (count - v->count) * sizeof(v->seen[0]));
		v->count = count;
	}
}

static void view_join(struct view *to, const struct view *from)
{
	for (int i = 0; i < MODEL_THREADS; i++)
		if (from->clock[i] > to->clock[i])
			to->clock[i] = from->clock[i];
	view_extend(to, from->count);
	for (unsigned i = 0; i < from->count; i++)
		if (from->seen[i] != to->seen[i] && position_of(from->seen[i]) > position_of(to->seen[i]))
			to->seen[i] = from->seen[i];
}

static void view_see(struct view *v, unsigned location, unsigned message)
{
	view_extend(v, location + 1);
	if (position_of(message) >= position_of(v->seen[location]))
		v->seen[location] = (uint16_t)message;
}

static uint16_t view_new(void)
{
	if (model->views == VIEWS)
		explore_fail("too many views");
	memset(&model->view[model->views], 0, offsetof(struct view, seen));
	return (uint16_t)model->views++;
}

/*
 * Returns a copy of a thread's view for threads that acquire it. Later operations of the thread are not in
 * the copy.
 */
static uint16_t view_release(struct thread *t)
{
	const uint16_t v = view_new();

	view_join(&model->view[v], &t->now);
	t->now.clock[t - model->thread]++;
	return v;
}

/* ---- locations ---- */

void memory_reset(void)
{
	model->messages = 1;
	model->views = 1;
	memset(&model->total, 0, offsetof(struct view, seen));
	for (int i = 0; i < KERNEL_OBJECTS; i++)
		memset(&model->object[i], 0, offsetof(struct view, seen));
}

static unsigned memory_index(const struct location *l)
{
	return (unsigned)(l - model->location);
}

static uint64_t memory_word(uintptr_t address, unsigned bytes)
{
	uint64_t value = 0;

	memcpy(&value, (const void *)address, bytes);
	return value;
}

static unsigned memory_message(struct location *l, unsigned position, uint64_t value, unsigned view)
{
	const unsigned m = model->messages++;

	if (m == MESSAGES || l->count == PER_LOCATION)
		explore_fail("too many messages");
	for (unsigned i = l->count++; i > position; i--) {
		l->mo[i] = l->mo[i - 1];
		model->message[l->mo[i]].position++;
	}
	l->mo[position] = (uint16_t)m;
	model->message[m] = (struct message){.value = value,
					     .location = (uint16_t)memory_index(l),
					     .position = (uint16_t)position,
					     .view = (uint16_t)view};
	return m;
}

static unsigned memory_slot(uintptr_t address)
{
	unsigned at = (unsigned)(address * 0x9e3779b1u >> 7) % 4096;

	while (model->table[at] && model->location[model->table[at] - 1].address != address)
		at = (at + 1) % 4096;
	return at;
}

unsigned memory_bytes_at(uintptr_t address)
{
	const unsigned at = memory_slot(address);

	return model->table[at] ? model->location[model->table[at] - 1].bytes : 0;
}

/*
 * Returns the location at an address. Locations persist across executions, because addresses are the same in
 * each.
 */
struct location *memory_at(uintptr_t address, unsigned bytes)
{
	const unsigned at = memory_slot(address);
	struct location *l;

	if (!model->table[at]) {
		if (model->locations == LOCATIONS)
			explore_fail("too many locations");
		model->location[model->locations] = (struct location){.address = address, .bytes = bytes};
		model->table[at] = (uint16_t)++model->locations;
	}
	l = &model->location[model->table[at] - 1];
	if (l->bytes != bytes)
		explore_fail("%u bytes of an atomic of %u bytes", bytes, l->bytes);
	if (l->execution != model->execution) {
		l->execution = model->execution;
		l->count = 0;
		memory_message(l, 0, memory_word(address, bytes), 0);
	}
	return l;
}

/*
 * True if no other thread has written the location in any execution so far. If another thread does so later,
 * the exploration restarts.
 */
static bool memory_own(const struct location *l)
{
	return !(l->writers & ~(1u << model->self));
}

static void memory_note_writer(struct location *l)
{
	if (!(l->writers & 1u << model->self)) {
		l->writers |= 1u << model->self;
		model->restart = true;
	}
}

static unsigned memory_least(const struct thread *t, const struct location *l, bool total)
{
	unsigned least = position_of(seen_of(&t->now, memory_index(l)));
	unsigned of_total = total ? position_of(seen_of(&model->total, memory_index(l))) : 0;

	return least > of_total ? least : of_total;
}

bool memory_has(const struct thread *t, const struct location *l, uint32_t from)
{
	for (unsigned i = memory_least(t, l, t->total); i < l->count; i++)
		if (l->mo[i] >= from && !(t->pending == PENDING_RMW && model->message[l->mo[i]].pinned))
			return true;
	return false;
}

/* ---- loads ---- */

static void memory_acquire(struct thread *t, const struct location *l, unsigned m, int order)
{
	const unsigned view = model->message[m].view;

	view_see(&t->now, memory_index(l), m);
	if (view)
		view_join(is_acquire(order) ? &t->now : &t->acquired, &model->view[view]);
}

/*
 * Chooses a message that may be read, newest first. change: for a read-modify-write, whose message directly
 * follows the one that it reads. unlike: for a compare-and-exchange, the expected value.
 */
static unsigned memory_choose(const struct thread *t, const struct location *l, bool total, bool change,
			      const uint64_t *unlike)
{
	uint16_t readable[PER_LOCATION];
	unsigned count = 0;

	for (unsigned i = l->count; i-- > memory_least(t, l, total);) {
		const struct message *m = &model->message[l->mo[i]];

		if (l->mo[i] >= t->from && !(change && m->pinned && !(unlike && m->value != *unlike)))
			readable[count++] = l->mo[i];
	}
	if (!count) /* read-modify-writes of other threads have already read all messages that this one may read */
		explore_prune();
	return readable[l->filler ? 0 : explore_choose(count)];
}

uint64_t memory_load(uintptr_t address, unsigned bytes, int order, uintptr_t pc)
{
	struct thread *t = explore_self();
	struct location *l = memory_at(address, bytes);
	bool total;
	unsigned m;

	order = memory_order(pc, 'l', order);
	total = order == __ATOMIC_SEQ_CST;
	if (memory_own(l) || l->filler)
		t->from = 0;
	else
		explore_wait(PENDING_LOAD, l, total);
	m = memory_choose(t, l, total, false, NULL);
	memory_acquire(t, l, m, order);
	explore_trace("load  %#lx: %#llx (%u of %u), pc %#lx", (unsigned long)address,
		      (unsigned long long)model->message[m].value, position_of(m) + 1, l->count,
		      (unsigned long)pc);
	return model->message[m].value;
}

uint64_t memory_look(uintptr_t address, unsigned bytes)
{
	struct thread *t = explore_self();
	struct location *l = memory_at(address, bytes);
	const unsigned m = memory_choose(t, l, false, false, NULL);

	view_see(&t->now, memory_index(l), m);
	return model->message[m].value;
}

/* ---- stores ---- */

static unsigned memory_publish(struct thread *t, struct location *l, unsigned position, uint64_t value,
			       int order, unsigned read)
{
	unsigned view = is_release(order) ? view_release(t) : t->released, m;

	/* read-modify-writes continue a release sequence */
	if (read && model->message[read].view) {
		const unsigned both = view_new();

		view_join(&model->view[both], &model->view[model->message[read].view]);
		if (view)
			view_join(&model->view[both], &model->view[view]);
		view = both;
	}
	m = memory_message(l, position, value, view);
	view_see(&t->now, memory_index(l), m);
	if (order == __ATOMIC_SEQ_CST)
		view_see(&model->total, memory_index(l), m);
	if (position + 1 == l->count)
		memcpy((void *)l->address, &value, l->bytes);
	return m;
}

/*
 * Chooses the position of a store: after all messages that the thread has seen, and not between a
 * read-modify-write and the message that it read.
 */
static unsigned memory_place(const struct thread *t, const struct location *l, bool total)
{
	unsigned position[PER_LOCATION], count = 0;

	for (unsigned i = l->count; i > memory_least(t, l, total); i--)
		if (!model->message[l->mo[i - 1]].pinned)
			position[count++] = i;
	return position[explore_choose(count)];
}

void memory_store(uintptr_t address, unsigned bytes, uint64_t value, int order, uintptr_t pc)
{
	struct thread *t = explore_self();
	struct location *l = memory_at(address, bytes);
	bool total;

	order = memory_order(pc, 's', order);
	total = order == __ATOMIC_SEQ_CST;
	memory_note_writer(l);
	if (total)
		explore_wait(PENDING_STORE, l, true);
	memory_publish(t, l, memory_own(l) ? l->count : memory_place(t, l, total), value, order, 0);
	explore_trace("store %#lx: %#llx, pc %#lx", (unsigned long)address, (unsigned long long)value,
		      (unsigned long)pc);
}

uint64_t memory_change(uintptr_t address, unsigned bytes, uint64_t (*make)(uint64_t old, uint64_t with),
		       uint64_t with, int order, uintptr_t pc)
{
	struct thread *t = explore_self();
	struct location *l = memory_at(address, bytes);
	uint64_t old;
	unsigned m;

	order = memory_order(pc, 'x', order);
	memory_note_writer(l);
	if (memory_own(l) && order != __ATOMIC_SEQ_CST)
		t->from = 0;
	else
		explore_wait(PENDING_RMW, l, order == __ATOMIC_SEQ_CST);
	m = memory_choose(t, l, order == __ATOMIC_SEQ_CST, true, NULL);
	old = model->message[m].value;
	memory_acquire(t, l, m, order);
	model->message[m].pinned = true;
	memory_publish(t, l, position_of(m) + 1, make(old, with), order, m);
	explore_trace("change %#lx: %#llx to %#llx, pc %#lx", (unsigned long)address, (unsigned long long)old,
		      (unsigned long long)make(old, with), (unsigned long)pc);
	return old;
}

bool memory_compare(uintptr_t address, unsigned bytes, uint64_t *expected, uint64_t desired, int order,
		    int failure, uintptr_t pc)
{
	struct thread *t = explore_self();
	struct location *l = memory_at(address, bytes);
	const int meant = order;
	bool total;
	unsigned m;

	order = memory_order(pc, 'x', order);
	if (order != meant && !is_acquire(order))
		failure = __ATOMIC_RELAXED;
	total = order == __ATOMIC_SEQ_CST;
	if (memory_own(l) && model->message[l->mo[l->count - 1]].value != *expected)
		t->from = 0; /* the exchange fails whatever other threads do */
	else
		explore_wait(PENDING_LOAD, l, total);
	m = memory_choose(t, l, total, true, expected);
	if (model->message[m].value != *expected) {
		*expected = model->message[m].value;
		memory_acquire(t, l, m, failure);
		explore_trace("compare %#lx: finds %#llx, pc %#lx", (unsigned long)address,
			      (unsigned long long)*expected, (unsigned long)pc);
		return false;
	}
	memory_note_writer(l);
	memory_acquire(t, l, m, order);
	model->message[m].pinned = true;
	memory_publish(t, l, position_of(m) + 1, desired, order, m);
	explore_trace("compare %#lx: sets %#llx, pc %#lx", (unsigned long)address,
		      (unsigned long long)desired, (unsigned long)pc);
	return true;
}

/* ---- declarations of setup ---- */

void model_atomic(const void *object, size_t bytes)
{
	memory_at((uintptr_t)object, (unsigned)bytes);
}

void model_filler(const void *begin, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 8)
		memory_at((uintptr_t)begin + i, 8)->filler = true;
}

void model_witness(const void *word)
{
	memory_at((uintptr_t)word, 8)->filler = false;
}

/* ---- fences and system calls ---- */

void memory_fence(int order, uintptr_t pc)
{
	struct thread *t = explore_self();

	order = memory_order(pc, 'f', order);
	if (order == __ATOMIC_SEQ_CST)
		explore_wait(PENDING_STORE, NULL, true);
	if (is_acquire(order))
		view_join(&t->now, &t->acquired);
	if (order == __ATOMIC_SEQ_CST) {
		view_join(&t->now, &model->total);
		view_join(&model->total, &t->now);
	}
	if (is_release(order))
		t->released = view_release(t);
	explore_trace("fence %d, pc %#lx", order, (unsigned long)pc);
}

void memory_system(unsigned object)
{
	struct thread *t = explore_self();
	struct view *v = &model->object[object];

	view_join(&t->now, v);
	view_join(v, &t->now);
	t->now.clock[model->self]++;
}

/* ---- plain stores into shared memory ---- */

/* Registers the words of the store before it is done, so that their old values can still be read. */
void memory_plain(struct thread *t, uintptr_t address, size_t bytes)
{
	for (uintptr_t word = address & ~(uintptr_t)7; word < address + bytes; word += 8)
		memory_at(word, 8);
	t->plain = address;
	t->plain_bytes = bytes;
}

/* Publishes the words as relaxed stores. */
void memory_plain_flush(struct thread *t)
{
	const uintptr_t end = t->plain + t->plain_bytes;
	uintptr_t word = t->plain & ~(uintptr_t)7;

	if (!word)
		return;
	t->plain = 0;
	for (; word < end; word += 8) {
		struct location *l = memory_at(word, 8);

		memory_note_writer(l);
		if (memory_word(word, 8) != model->message[l->mo[l->count - 1]].value)
			memory_publish(t, l, l->count, memory_word(word, 8), __ATOMIC_RELAXED, 0);
	}
}
