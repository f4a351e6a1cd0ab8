/*
 * The command line of a program as rows of a table: what parses it, --help, the man page and the completion
 * of the shells are made from the same rows.
 *
 *	PROGRAM [OPTIONS] [COMMAND] [OPTIONS] [OPERANDS]
 *
 * Every program also has --help (-h; after a command: of that command), --version, --help-keys [SECTION]
 * where it takes a configuration, and --generate table, which help does not show: it prints the table, from
 * which man page (docs/man/program.py) and completion (tools/completion/complete.py) are made in the build.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CLI_USAGE_H
#define SX_CONFIG_CLI_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum sx_usage_kind {
	SX_USAGE_FLAG,	  /* bool: set to true */
	SX_USAGE_TEXT,	  /* const char *: the word, which lies in argv */
	SX_USAGE_INT,	  /* int, min..max */
	SX_USAGE_SECONDS, /* int, milliseconds; given in seconds with decimals, min..max */
	SX_USAGE_CHOICE,  /* int: place in words */
	SX_USAGE_TWO,	  /* const char *[2]: the next word of the command line as well */
	SX_USAGE_CALL	  /* take() decides */
};

/* What a shell offers where a word is wanted. */
enum sx_usage_offer {
	SX_OFFER_NOTHING,
	SX_OFFER_FILE,
	SX_OFFER_FOLDER,
	SX_OFFER_INSTANCE, /* names of those that run or have a configuration */
	SX_OFFER_SETTING,  /* SECTION.KEY=VALUE of the option table */
	SX_OFFER_SECTION   /* of the option table */
};

/* For sx_usage_option.commands: an option of some commands only. */
#define SX_USAGE_OF(command) (UINT32_C(1) << (command))

/*
 * One option. The same name may stand in several rows for different commands, all with or all without a word.
 */
struct sx_usage_option {
	const char *name;     /* long, without "--" */
	char letter;	      /* short, 0: none */
	const char *argument; /* "FILE", as help shows it; NULL: none */
	enum sx_usage_kind kind;
	size_t offset;		  /* of the field in the target */
	double min, max;	  /* inclusive, numbers */
	const char *const *words; /* choices, NULL at the end */
	/* SX_USAGE_CALL: true, or false and what is wanted instead, such as "wants WIDTHxHEIGHT" */
	bool (*take)(void *target, const char *text, char *why, size_t why_bytes);
	enum sx_usage_offer offer;
	bool many;	   /* may be given often, each counts */
	uint32_t commands; /* SX_USAGE_OF(), 0: all, and the program without a command */
	const char *help;  /* what it does, with its default; no full stop */
};

/* Of the caller's own type; cast back to be called. */
typedef void sx_usage_run(void);

struct sx_usage_command {
	const char *name;
	const char *operands; /* "FILE.png", as help shows it; "": none */
	int least, most;      /* operands */
	enum sx_usage_offer offer;
	sx_usage_run *run;
	const char *help; /* one line; no full stop */
	/* sentences for its own --help and the man page, lines and paragraphs as cut by '\n'; NULL: none */
	const char *more;
};

struct sx_usage_exit {
	int code;
	const char *meaning;
};

struct sx_usage {
	const char *program;
	const char *about; /* sentences, as of sx_usage_command.more */
	const struct sx_usage_option *options;
	int option_count;
	const struct sx_usage_command *commands; /* NULL: the program has none, operands are its own */
	int command_count;			 /* at most 32 */
	struct sx_usage_command own;		 /* operands of a program without commands */
	const struct sx_usage_exit *exits;	 /* code 0 first */
	int exit_count;
	bool settings;		     /* it takes a configuration: --help-keys */
	const char *const *sections; /* those that it reads, NULL at the end; NULL: all */
};

/* What is left of the command line. */
struct sx_usage_words {
	const struct sx_usage_command *command; /* never NULL on success */
	char **operands;			/* in argv, which was put in order */
	int operand_count;
};

/*
 * Puts the options into target. -1: go on; else the exit code: help was printed (0), or a sentence about what
 * is wrong (64, EX_USAGE). Options may stand anywhere; "--" ends them.
 */
int sx_usage_parse(const struct sx_usage *u, void *target, int argc, char **argv, struct sx_usage_words *ret);

/*
 * "PROGRAM: ...; try --help" on stderr, with the command's name where there is one (NULL: none). Returns 64.
 */
int sx_usage_fail(const struct sx_usage *u, const struct sx_usage_command *command, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Help of the program, or of one of its commands. */
void sx_usage_help(const struct sx_usage *u, const struct sx_usage_command *command, FILE *to);
/* true: the option is there for this command; command NULL or the program's own: for all of them. */
bool sx_usage_belongs(const struct sx_usage *u, const struct sx_usage_option *o,
		      const struct sx_usage_command *command);

/* Prints the table as JSON: program, options, own (its operands), commands, exits, keys, sections, places. */
void sx_usage_table(const struct sx_usage *u, FILE *to);

#endif
