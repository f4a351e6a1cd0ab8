/*
 * The command line of a program as rows of a table. The parser, --help, the man page and the shell completion
 * all use these rows.
 *
 *	PROGRAM [OPTIONS] [COMMAND] [OPTIONS] [OPERANDS]
 *
 * Every program also has --help (-h; after a command: help of that command) and --version. A program with a
 * configuration has --help-keys [SECTION]. Every program has --generate table, which help does not show: it
 * prints the table, from which the build makes the man page (docs/man/program.py) and the completion
 * (tools/completion/complete.py).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CLI_USAGE_H
#define SX_CONFIG_CLI_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/why.h"

enum sx_usage_kind {
	SX_USAGE_FLAG,	  /* bool: set to true */
	SX_USAGE_TEXT,	  /* const char *: the word itself, in argv */
	SX_USAGE_INT,	  /* int, min..max */
	SX_USAGE_SECONDS, /* int, milliseconds; given in seconds with decimals; min..max in seconds */
	SX_USAGE_METRES,  /* double, min..max */
	SX_USAGE_CHOICE,  /* int: index in words */
	SX_USAGE_TWO,	  /* const char *[2]: the word and the next one of the command line */
	SX_USAGE_CALL	  /* take() reads the word */
};

/* Kind of words that the shell completion offers. */
enum sx_usage_offer {
	SX_OFFER_NOTHING,
	SX_OFFER_FILE,
	SX_OFFER_FOLDER,
	SX_OFFER_INSTANCE, /* names of instances that run or have a configuration */
	SX_OFFER_SETTING,  /* SECTION.KEY=VALUE of the option table */
	SX_OFFER_PRESET,   /* names of presets */
	SX_OFFER_SECTION   /* a section of the option table */
};

/* Bit for sx_usage_option.commands: the option belongs to this command only. */
#define SX_USAGE_OF(command) (UINT32_C(1) << (command))

/*
 * One option. Several rows may have the same name, for different commands; either all of them take a word or
 * none does.
 */
struct sx_usage_option {
	const char *name;     /* long name, without "--" */
	char letter;	      /* short name; 0: none */
	const char *argument; /* argument as help shows it, such as "FILE"; NULL: none */
	enum sx_usage_kind kind;
	size_t offset;		  /* offset of the field in the target, bytes */
	double min, max;	  /* inclusive range of a number */
	const char *const *words; /* names of the choices, NULL at the end */
	/*
	 * For SX_USAGE_CALL: reads the word. On failure returns false, with the expected form in why, such as
	 * "wants WIDTHxHEIGHT".
	 */
	bool (*take)(void *target, const char *text, struct sx_why *why);
	enum sx_usage_offer offer;
	bool many;	   /* may be given several times; every use counts */
	uint32_t commands; /* SX_USAGE_OF() bits; 0: all commands, and the program without a command */
	const char *help;  /* effect and default of the option; no full stop */
};

/* Function of the caller's own type; cast it back before calling it. */
typedef void sx_usage_run(void);

struct sx_usage_command {
	const char *name;
	const char *operands; /* operands as help shows them, such as "FILE.png"; "": none */
	int least, most;      /* allowed number of operands */
	enum sx_usage_offer offer;
	sx_usage_run *run;
	const char *help; /* one line of help; no full stop */
	/* Text for the command's own --help and the man page; '\n' ends a line or paragraph. NULL: none. */
	const char *more;
};

struct sx_usage_exit {
	int code;
	const char *meaning;
};

struct sx_usage {
	const char *program;
	const char *about; /* description of the program, in the form of sx_usage_command.more */
	const struct sx_usage_option *options;
	int option_count;
	const struct sx_usage_command *commands; /* NULL: the program has no commands, only operands */
	int command_count;			 /* at most 32 */
	/* command structure of a program without commands; holds its operands */
	struct sx_usage_command own;
	const struct sx_usage_exit *exits; /* exit codes, 0 first */
	int exit_count;
	bool settings;		     /* the program has a configuration: --help-keys exists */
	const char *const *sections; /* sections that the program reads, NULL at the end; NULL: all */
};

/* The words of the command line after its options were taken. */
struct sx_usage_words {
	const struct sx_usage_command *command; /* set on success */
	char **operands;			/* points into argv, which the parser has reordered */
	int operand_count;
};

/*
 * Parses the command line and stores the options in target. Returns -1 to go on, otherwise the exit code: 0
 * after help was printed, 64 (EX_USAGE) after an error message. Options may appear anywhere; "--" ends them.
 */
int sx_usage_parse(const struct sx_usage *u, void *target, int argc, char **argv, struct sx_usage_words *ret);

/* Prints "PROGRAM: ...; try --help" on stderr, with the name of the command if it is not NULL. Returns 64. */
int sx_usage_fail(const struct sx_usage *u, const struct sx_usage_command *command, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints the help of the program, or of one of its commands. */
void sx_usage_help(const struct sx_usage *u, const struct sx_usage_command *command, FILE *to);
/*
 * Returns true if the option exists for this command. command NULL or the program's own: if it exists for all
 * commands.
 */
bool sx_usage_belongs(const struct sx_usage *u, const struct sx_usage_option *o,
		      const struct sx_usage_command *command);

/* Prints the table as JSON: program, options, own (its operands), commands, exits, keys, sections, places. */
void sx_usage_table(const struct sx_usage *u, FILE *to);

#endif
