/*
 * A folder in place of / with the sensor files of boards as their drivers show them, made from a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_POWER_TREE_H
#define SX_TESTS_POWER_TREE_H

#include <stdbool.h>

struct tree {
	char root[64];
};

/* The driver of a chip: INA3221 of mainline Linux, INA3221 of JetPack 4, a chip with one channel. */
enum tree_driver { TREE_HWMON, TREE_IIO, TREE_SINGLE };

struct tree_chip {
	enum tree_driver driver;
	const char *place;     /* I2C bus and address, such as "1-0040" */
	const char *labels[3]; /* NULL: no label file; newer kernels have none for channels that are off */
};

struct tree_board {
	const char *name, *model;
	struct tree_chip chips[4];
	const char *scope;
	const char *counted[6]; /* labels of the rails whose sum is the total */
	const char *gpu;	/* name of the GPU in devfreq */
};

extern const struct tree_board tree_boards[];
extern const int tree_board_count;

/* If one of these functions fails, the test fails. */
void tree_create(struct tree *t);
void tree_remove(struct tree *t);
void tree_put(const struct tree *t, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void tree_delete(const struct tree *t, const char *path);

/*
 * Makes all sensors of the board, and some devices to ignore. Channel n, counted over all chips, draws
 * tree_watts(n).
 */
void tree_make(const struct tree *t, const struct tree_board *b);
double tree_watts(int channel);
/* Returns the sum of the counted channels, W. */
double tree_total(const struct tree_board *b);
const struct tree_board *tree_board(const char *name);

#endif
