/*
 * Text in scdoc's language, the source of man pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_MAN_TEXT_H
#define SX_CONFIG_MAN_TEXT_H

#include <stdio.h>

/*
 * Prints text with scdoc's markup characters escaped. A line that begins with one of "#[-|" is not escaped
 * and would still be markup.
 */
void sx_man_text(const char *text, FILE *to);

#endif
