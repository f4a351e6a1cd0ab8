# Fills the page of a program in Python: options, exit codes and the keys of its configuration.
#
#   program.py MODULE PAGE.scd    MODULE has parser(version), EXITS and, for @SECTIONS@, sections() and in_words()
#
# SPDX-License-Identifier: Apache-2.0
import importlib
import re
import sys


def escaped(text):
    return re.sub(r"([_*\\<>#\[\]`])", r"\\\1", text)


def sentence(text):
    return escaped(text[:1].upper() + text[1:] + ".")


def options(parser):
    for action in parser._actions:
        argument = " _%s_" % escaped(action.metavar) if action.metavar else ""
        yield ", ".join("*%s*" % name for name in action.option_strings) + argument
        yield "\t%s\n" % sentence(action.help)


def exits(module):
    for code, text in module.EXITS:
        yield "*%d*\n\t%s\n" % (code, sentence(text))


def sections(module):
    for head, about, rows in module.sections():
        yield "## [%s]\n\n%s\n" % (escaped(head), sentence(about))
        for option in rows:
            limits, default = module.in_words(option)
            yield "*%s*\n\t%s %s%s.\n" % (escaped(option.name), sentence(option.help), sentence(limits)[:-1],
                                          "; default " + escaped(default) if default else "")


def main(name, page):
    module = importlib.import_module(name)
    parser = module.parser("")
    filled = {"@SYNOPSIS@": lambda: ["*%s* [_options_]" % parser.prog], "@OPTIONS@": lambda: options(parser),
              "@EXITS@": lambda: exits(module), "@SECTIONS@": lambda: sections(module)}
    with open(page, encoding="utf-8") as f:
        for line in f.read().splitlines():
            print("\n".join(filled[line]()).rstrip("\n") if line.startswith("@") else line)


main(*sys.argv[1:])
