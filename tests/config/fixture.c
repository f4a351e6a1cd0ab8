/*
 * Creates a folder for configuration files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/config/fixture.h"

static char folder[64];
static struct sx_settings settings;

int fixture_setup(void **state)
{
	/* uses memory if possible: thousands of files are rewritten, and disks flush each of them */
	snprintf(folder, sizeof(folder), "%s/stixel-test-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

int fixture_teardown(void **state)
{
	sx_settings_finish(&settings);
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fixture_path(const char *name)
{
	static char path[4][512];
	static int next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", folder, name);
	return path[next];
}

const char *fixture_write(const char *name, const void *bytes, size_t size)
{
	const char *path = fixture_path(name), *slash = strrchr(name, '/');
	char parent[512];
	FILE *f;

	if (slash) {
		snprintf(parent, sizeof(parent), "%s/%.*s", folder, (int)(slash - name), name);
		assert_true(mkdir(parent, 0700) == 0 || errno == EEXIST);
	}
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	return path;
}

const char *fixture_text(const char *name, const char *text)
{
	return fixture_write(name, text, strlen(text));
}

size_t fixture_garble(char *text, size_t room, const char *seed, int round, uint64_t *state)
{
	static const char marks[] = "\n[]{}<>/:-&*!%.e9 ,=\"'_\0\xc3"; /* fragments of formats */
	const size_t size = strlen(seed);
	uint64_t x = *state;

	assert_true(size < room && size > 11);
	memcpy(text, seed, size);
	for (int changes = round % 3; changes >= 0; changes--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		text[x % size] = x >> 60 ? marks[(x >> 32) % (sizeof(marks) - 1)] : (char)(x >> 40);
	}
	*state = x;
	return size - (size_t)round % 11;
}

/* Returns all sentences, with the folder's name replaced by DIR. */
static char *sentences(const struct sx_errors *e)
{
	char *text = NULL, *all;
	size_t size, n = 0, length = strlen(folder);
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	sx_errors_print(e, f);
	fclose(f);
	all = calloc(1, size + 1);
	assert_non_null(all);
	for (const char *c = text; *c;) {
		if (!strncmp(c, folder, length)) {
			memcpy(all + n, "DIR", 3);
			n += 3;
			c += length;
		} else {
			all[n++] = *c++;
		}
	}
	free(text);
	return all;
}

struct sx_settings *fixture_load(const char *file, const char *const *overrides, const char *expected)
{
	struct sx_errors errors = {0};
	struct sx_settings fresh;
	int count = 0, r;
	char *said;

	while (overrides && overrides[count])
		count++;
	r = sx_settings_load(&fresh, file, overrides, count, true, &errors);
	said = sentences(&errors);
	assert_string_equal(said, expected);
	assert_int_equal(r, *expected ? -EINVAL : 0);
	free(said);
	sx_errors_finish(&errors);
	if (r)
		return NULL;
	sx_settings_finish(&settings);
	settings = fresh;
	return &settings;
}
