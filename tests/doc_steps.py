# The steps of a page that numbers them, with what stands in its blocks: commands, and lines of a configuration.
#
# SPDX-License-Identifier: Apache-2.0
import re
import textwrap

COMMAND = re.compile(r"(stixeld|stixelctl|stixel-\w+) ")


def blocks(path):
    """{number of the step: texts of its blocks in order}; a block is indented by seven columns or more."""
    steps, at, block = {}, None, []
    with open(path, encoding="utf-8") as f:
        for line in [*f, "\n"]:
            number = re.match(r"(\d+)\. ", line)
            if number:
                at = int(number.group(1))
                steps[at] = []
            if at and (line.startswith(" " * 7) or (block and line == "\n")):
                block.append(line)
            elif block:
                steps[at].append(textwrap.dedent("".join(block)).strip("\n"))
                block = []
        if block:
            steps[at].append(textwrap.dedent("".join(block)).strip("\n"))
    return steps


def commands(texts):
    """Their commands, without what is said behind #."""
    return [line.partition(" #")[0].rstrip() for t in texts for line in t.split("\n") if COMMAND.match(line)]


def configuration(texts):
    """The lines that are none."""
    return "\n".join(line for t in texts for line in t.split("\n") if not COMMAND.match(line)) + "\n"
