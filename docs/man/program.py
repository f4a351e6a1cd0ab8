# Fills the man page of a program: synopsis, commands, options, exit codes and, for stixel-bridge, the keys of its
# configuration.
#
#   program.py TABLE.json PAGE.scd    a program in C: TABLE.json is the output of --generate table
#   program.py MODULE PAGE.scd        a Python module with parser(version), EXITS and, for @SECTIONS@, sections()
#                                     and in_words()
# SPDX-License-Identifier: Apache-2.0
import importlib
import json
import re
import sys

FIXED = {"help": "Prints help%s, and exits.", "version": "Prints the version, and exits.",
         "help-keys": "Prints the keys of the configuration with their ranges and defaults, all or those of one "
                      "section, and exits."}


def options_of(parser, command):
    found = []
    for action in parser._actions:
        if action.option_strings:
            name = action.option_strings[-1].lstrip("-")
            letters = "".join(o[1:] for o in action.option_strings if not o.startswith("--"))
            found.append({"name": name, "letter": letters, "argument": action.metavar or "", "many": False,
                          "commands": [] if name in FIXED else [command], "help": action.help})
    return found


def table_of(module):
    """Returns the table of a Python program, in the format of C programs. A program with commands also runs without
    one: such a table has "alone"."""
    parser = module.parser("")
    options = options_of(parser, "")
    options.sort(key=lambda o: o["name"] in FIXED)
    commands = []
    for action in parser._actions:
        for helped in getattr(action, "_choices_actions", []):
            below = action.choices[helped.dest]
            commands.append({"name": helped.dest, "help": below.description, "more": "", "operands": " ".join(
                a.metavar for a in below._actions if not a.option_strings)})
            options += [o for o in options_of(below, helped.dest) if o["name"] not in FIXED]
    return {"program": parser.prog, "options": options, "commands": commands, "own": {"name": "", "operands": ""},
            "alone": True, "exits": module.EXITS}


def escaped(text):
    return re.sub(r"([_*\\<>#\[\]`])", r"\\\1", text)


def sentence(text):
    """Adds a capital and a full stop. Keeps lines and paragraphs."""
    text = re.sub(r"\n+", lambda m: "\n\n\t" if len(m.group()) > 1 else "++\n\t", escaped(text))
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def operands(text):
    """Underlines names, but not the points and brackets around them."""
    return re.sub(r"([A-Za-z0-9_=]+(?:\.[A-Za-z][A-Za-z_=]*)*|\.[A-Za-z]+)|(.)",
                  lambda m: "_%s_" % escaped(m[1]) if m[1] else escaped(m[2]), text)


def option_words(option, letter_only=False):
    words = ["*-%s*" % option["letter"]] if option["letter"] else []
    if not (words and letter_only):
        words.append("*--%s*" % escaped(option["name"]))
    return ", ".join(words) + (" " + operands(option["argument"]) if option.get("argument") else "")


def synopsis_of(table, command):
    words = ["*%s*" % escaped(command["name"])] if command["name"] else []
    for o in table["options"]:
        belongs = command["name"] in o["commands"] if table["commands"] else o["name"] not in FIXED
        words += ["\\[%s\\]%s" % (option_words(o, True), "..." * o["many"])] if belongs else []
    return " ".join(words + [operands(command["operands"])] * bool(command["operands"]))


def synopsis(table):
    own = "\\[*-i* _NAME_\\] _COMMAND_ \\[_OPTIONS_\\] \\[_OPERANDS_\\]"
    if table["commands"] and "alone" not in table:
        yield "*%s* %s" % (escaped(table["program"]), own)
        return
    yield "++\n".join("*%s* %s" % (escaped(table["program"]), synopsis_of(table, command))
                      for command in [table["own"], *table["commands"]])


def commands(table):
    for c in table["commands"]:
        yield synopsis_of(table, c) + "\n\t" + sentence(c["help"]) + "\n"
        if c["more"]:
            yield "\t" + sentence(c["more"]) + "\n"


def options(table):
    for o in table["options"]:
        names = ["*%s*" % escaped(name) for name in o["commands"] if name]
        whose = "Of %s: " % " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""
        text = FIXED[o["name"]] if o["name"] in FIXED else sentence(o["help"])
        if o["name"] == "help":
            text %= ", after a command that of the command" if table["commands"] else ""
        yield "%s\n\t%s%s\n" % (option_words(o), whose, text)


def exits(table):
    for code, text in table["exits"]:
        yield "*%d*\n\t%s" % (code, sentence(text))


def sections(module):
    for head, about, rows in module.sections():
        yield "## [%s]\n\n%s\n" % (escaped(head), sentence(about))
        for option in rows:
            limits, default = module.in_words(option)
            yield "*%s*\n\t%s %s%s.\n" % (escaped(option.name), sentence(option.help), sentence(limits)[:-1],
                                          "; default " + escaped(default) if default else "")


def main(source, page):
    if source.endswith(".json"):
        with open(source, encoding="utf-8") as f:
            module, table = None, json.load(f)
    else:
        module = importlib.import_module(source)
        table = table_of(module)
    filled = {"@SYNOPSIS@": lambda: synopsis(table), "@COMMANDS@": lambda: commands(table),
              "@OPTIONS@": lambda: options(table), "@EXITS@": lambda: exits(table),
              "@SECTIONS@": lambda: sections(module)}
    with open(page, encoding="utf-8") as f:
        for line in f.read().splitlines():
            print("\n".join(filled[line]()).rstrip("\n") if line.startswith("@") else line)


main(*sys.argv[1:])
