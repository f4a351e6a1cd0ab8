/*
 * Ends a process that broke a contract (contract.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

/* Text that is built without the C library's formats, which may take locks. */
struct contract_text {
	char text[SX_LOG_TEXT_BYTES];
	size_t used;
};

static void contract_add(struct contract_text *t, const char *word)
{
	for (; *word && t->used < sizeof(t->text) - 1; word++)
		t->text[t->used++] = *word;
}

static void contract_add_number(struct contract_text *t, long long value)
{
	unsigned long long rest = value < 0 ? 0ULL - (unsigned long long)value : (unsigned long long)value;
	char digits[24], *d = digits + sizeof(digits) - 1;

	*d = 0;
	do {
		*--d = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		*--d = '-';
	contract_add(t, d);
}

/*
 * Begins the text: "daemon/channels/mailbox.c:57: contract broken: ". Removes "../", because compilers name
 * files relative to the build folder.
 */
static void contract_begin(struct contract_text *t, const char *file, int line)
{
	while (!strncmp(file, "../", 3))
		file += 3;
	contract_add(t, file);
	contract_add(t, ":");
	contract_add_number(t, line);
	contract_add(t, ": contract broken: ");
}

static void contract_end(const struct contract_text *t) __attribute__((noreturn));
static void contract_end(const struct contract_text *t)
{
	sx_log_last(SX_LOG_BASE, t->text);
	_exit(SX_CONTRACT_EXIT);
}

void sx_contract_broken(const char *file, int line, const char *what, long long a, long long b)
{
	struct contract_text t = {{0}, 0};

	contract_begin(&t, file, line);
	contract_add(&t, what);
	contract_add(&t, ", with ");
	contract_add_number(&t, a);
	contract_add(&t, " and ");
	contract_add_number(&t, b);
	contract_end(&t);
}

void sx_contract_broken_state(const char *file, int line, const char *what)
{
	struct contract_text t = {{0}, 0};

	contract_begin(&t, file, line);
	contract_add(&t, what);
	contract_end(&t);
}

void sx_clock_lost(void)
{
	struct contract_text t = {{0}, 0};
	const int error = errno;

	contract_add(&t, "CLOCK_MONOTONIC cannot be read (errno ");
	contract_add_number(&t, error);
	contract_add(&t, "): nothing can go on without it");
	contract_end(&t);
}
