/*
 * A folder that stands for / : sensors of boards as their drivers show them, made from a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_POWER_TREE_H
#define SX_TESTS_POWER_TREE_H

#include <stdbool.h>

struct tree {
	char root[64];
};

/* How a driver shows a chip: mainline's INA3221, that of JetPack 4, a chip of one channel. */
enum tree_driver { TREE_HWMON, TREE_IIO, TREE_SINGLE };

struct tree_chip {
	enum tree_driver driver;
	const char *place;     /* "1-0040" */
	const char *labels[3]; /* NULL: no label file, as newer kernels do for channels that are off */
};

struct tree_board {
	const char *name, *model;
	struct tree_chip chips[4];
	const char *scope;
	const char *counted[6]; /* labels that make up the whole */
	const char *gpu;	/* its name in devfreq */
};

extern const struct tree_board tree_boards[];
extern const int tree_board_count;

/* Fail the test when something cannot be made. */
void tree_create(struct tree *t);
void tree_remove(struct tree *t);
void tree_put(const struct tree *t, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void tree_delete(const struct tree *t, const char *path);

/* All sensors of the board, and some that are none of ours. Channel n of all draws tree_watts(n). */
void tree_make(const struct tree *t, const struct tree_board *b);
double tree_watts(int channel);
/* What the counted channels draw together. */
double tree_total(const struct tree_board *b);
const struct tree_board *tree_board(const char *name);

#endif
