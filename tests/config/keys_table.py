#!/usr/bin/env python3
# Writes or checks the tables of keys in docs/, which come from the option table.
#
#   keys_table.py CONFIG_DUMP ROOT           exits with 1 if a document has another table
#   keys_table.py CONFIG_DUMP ROOT --write   writes the tables
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import sys

CHANGES = {
    "nothing": "nothing",
    "controls": "the cameras' controls, set by the capture thread",
    "contexts": "new contexts",
    "camera": "new contexts, and the mark of a changed camera",
    "calibration": "that mark, and new contexts if images are rectified or measured otherwise",
    "rows": "that mark, and new contexts if another correction of rows applies",
    "restart": "a restart",
}
BEGIN, END = "<!-- %s: made by tests/config/keys_table.py -->\n", "<!-- end of %s -->\n"


def value_of(values, key):
    section, name = key.split(".")
    return values[section][name]


def listed(keys, whole):
    """Returns `[section]` for each section that is listed as a whole, otherwise `section.key`, `key`."""
    sections = {}
    for key in keys:
        sections.setdefault(key.split(".")[0], []).append(key)
    words = ["`[%s]`" % s for s in sections if len(sections[s]) == whole[s]]
    for s, names in sections.items():
        if len(names) != whole[s]:
            words.append("`%s`" % names[0] + "".join(", `%s`" % n.split(".")[1] for n in names[1:]))
    return ", ".join(words)


def table_of_changes(options, values):
    # docs/develop/model.md has the keys of [model]. Their earlier names do not count as keys.
    options = {k: o for k, o in options.items() if not k.startswith("model.") and "now" not in value_of(values, k)}
    whole = {}
    for key in options:
        section = key.split(".")[0]
        whole[section] = whole.get(section, 0) + 1
    lines = ["| a change needs | keys |", "|---|---|"]
    for change, text in list(CHANGES.items())[:-1]:
        lines.append("| %s | %s |" % (text, listed([k for k, o in options.items() if o["change"] == change], whole)))
    lines.append("| %s | every other key |" % CHANGES["restart"])
    return "\n".join(lines) + "\n"


def table_of_constants(options, values):
    was = {o["now"]: "%s.%s" % (s, k) for s, keys in values.items() for k, o in keys.items() if "now" in o}
    lines = ["| key | before | range | default | a change needs | what |", "|---|---|---|---|---|---|"]
    for name, of in values["model"].items():
        key = "model." + name
        initial = of["default"]
        initial = ("yes" if initial else "no") if isinstance(initial, bool) else initial
        lines.append("| `%s` | `%s` | %s | %s | %s | %s |" % (
            key, was[key], options[key]["allowed"], initial, CHANGES[options[key]["change"]], options[key]["help"]))
    return "\n".join(lines) + "\n"


TABLES = {"docs/use/service.md": ("changes", table_of_changes),
          "docs/develop/model.md": ("constants", table_of_constants)}


def dumped(dump, what):
    return json.loads(subprocess.run([dump, what, "source.kind=synthetic"], capture_output=True, text=True,
                                     check=True).stdout)


def main(dump, root, write):
    options, values, stale = dumped(dump, "options"), dumped(dump, "json"), []
    for name, (mark, make) in TABLES.items():
        path = os.path.join(root, name)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        before, rest = text.split(BEGIN % mark, 1)
        new = before + BEGIN % mark + make(options, values) + END % mark + rest.split(END % mark, 1)[1]
        if new != text and write:
            with open(path, "w", encoding="utf-8") as f:
                f.write(new)
        elif new != text:
            stale.append("%s: its table of %s is not that of the option table: tests/config/keys_table.py --write"
                         % (name, mark))
    print("\n".join(stale))
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], "--write" in sys.argv[3:]))
