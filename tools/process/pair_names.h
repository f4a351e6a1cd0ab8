/*
 * Chooses names for the result files of image pairs: from the left file, made different if two names would be
 * equal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_PAIR_NAMES_H
#define SX_TOOLS_PROCESS_PAIR_NAMES_H

/*
 * Chooses names[i] for left[i], `count` of them: the file name without its last suffix. Names that collide
 * get their folder in front ("frame1_left", "frame2_left"), and more folders if necessary. Names that still
 * collide (left.png and left.pgm of one folder) get "-2", "-3". No two names are equal. *names: malloc'ed
 * strings in a malloc'ed table; the caller frees it with sx_pair_names_free(). Returns 0 or -ENOMEM.
 */
int sx_pair_names(char ***names, const char *const *left, int count);
void sx_pair_names_free(char **names, int count);

#endif
