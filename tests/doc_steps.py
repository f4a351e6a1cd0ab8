# The numbered steps of a documentation page, with the content of their blocks: commands and lines of a configuration.
# A comment <!-- not in the guest: REASON --> before a block marks commands that cannot run in the virtual machine.
# SPDX-License-Identifier: Apache-2.0
import re
import textwrap

COMMAND = re.compile(r"(sudo|ls|systemctl|v4l2-ctl|stixeld|stixelctl|stixel-\w+) ")
MARK = re.compile(r" *<!-- not in the guest: .+ -->$")


class Block(str):
    """The text of a block. marked: its commands cannot run in the virtual machine."""

    marked = False


def blocks(path):
    """Returns {number of the step: its Blocks in order}. A block is indented by seven columns or more. As in
    Markdown an empty line does not end a block. A block that mixes commands with other lines is an error, because a
    copy of the block would contain both."""
    steps, at, block, marked = {}, None, [], False

    def end_block():
        nonlocal marked
        if block:
            steps[at].append(Block(textwrap.dedent("".join(block)).strip("\n")))
            steps[at][-1].marked, marked = marked, False
            block.clear()

    with open(path, encoding="utf-8") as f:
        for line in f:
            number = re.match(r"(\d+)\. ", line)
            if at and (line.startswith(" " * 7) or (block and line == "\n")):
                block.append(line)
                continue
            end_block()
            marked = marked or bool(MARK.match(line.rstrip()))
            if number:
                at = int(number.group(1))
                steps[at] = []
    end_block()
    for number, texts in steps.items():
        for text in texts:
            if len({bool(COMMAND.match(line)) for line in text.split("\n") if line}) > 1:
                raise AssertionError("%s, step %d: commands and other lines in one block:\n%s" % (path, number, text))
    return steps


def commands(texts):
    """Returns the commands of the texts, without comments after #."""
    return [line.partition(" #")[0].rstrip() for t in texts for line in t.split("\n") if COMMAND.match(line)]


def configurations(texts):
    """Returns the texts that contain no commands."""
    return [t + "\n" for t in texts if not COMMAND.match(t)]
