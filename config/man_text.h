/*
 * Text in scdoc's language, of which man pages are made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_MAN_TEXT_H
#define SX_CONFIG_MAN_TEXT_H

#include <stdio.h>

/*
 * Text with what scdoc marks up by made harmless. A line that begins with one of "#[-|"
 * would still mean something.
 */
void sx_man_text(const char *text, FILE *to);

#endif
