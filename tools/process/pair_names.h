/*
 * Names of the result files of image pairs: from the left file, made different where two would be the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_PAIR_NAMES_H
#define SX_TOOLS_PROCESS_PAIR_NAMES_H

/*
 * names[i] of left[i], count of them: its file name without the last suffix. Names that collide get their
 * folder in front ("frame1_left", "frame2_left"), as many as are needed; names that still collide (left.png
 * and left.pgm of one folder) get "-2", "-3". No two names are equal. *names: malloc'ed strings in a
 * malloc'ed table, freed by sx_pair_names_free(). -ENOMEM.
 */
int sx_pair_names(char ***names, const char *const *left, int count);
void sx_pair_names_free(char **names, int count);

#endif
