#!/usr/bin/env python3
# Fills stixel-frame(5) and libstixel(3) from the installed headers: offset, type and comment of every field, and every
# function with its comment. The compiler asserts these offsets.
# SPDX-License-Identifier: Apache-2.0
import re
import sys


def plain(text):
    """Returns a comment as one line of scdoc."""
    text = re.sub(r"/\*|\*/", " ", text)
    text = " ".join(re.sub(r"(?m)^\s*\*", " ", text).split())
    return re.sub(r"([_*\\<>#\[\]`])", r"\\\1", text)


def body_of(header, name):
    return re.search(r"(?ms)^struct %s \{\n(.*?)^\};" % name, header).group(1)


def fields(header, name):
    """Returns a list of (offset, type, name, comment). Fields that share a line share its comment."""
    offsets = dict(re.findall(r"STIXEL_AT\(%s, (\w+), (\d+)\)" % name, header))
    rows, comment, at = [], None, 0
    for line in re.findall(r"[^\n;]*;(?:[ \t]*/\*.*?\*/)?|[ \t]*/\*.*?\*/", body_of(header, name), re.S):
        code, _, after = line.partition(";")
        if not after and "/*" in line and ";" not in line.split("/*")[0]:
            comment = plain(line)
            continue
        said = plain(after) or (comment or "")
        comment = None
        words = re.match(r"\s*(const )?(struct \w+|\w+) (.*)",
                         re.sub(r"/\*.*?\*/", "", code, flags=re.S).replace("\n", " "))
        for item in words.group(3).split(","):
            field, array = re.match(r"\s*\**(\w+)((?:\[\w+\])*)", item).groups()
            bits = {"double": 64, "float": 32}.get(words.group(2)) or int(
                re.search(r"(\d+)_t$|char$", words.group(2)).group(1) or 8)
            size = bits // 8
            count = 1
            for n in re.findall(r"\[(\w+)\]", array):
                count *= int(n) if n.isdigit() else int(re.search(r"#define %s (\d+)" % n, header).group(1))
            at += -at % size
            if int(offsets.get(field, at)) != at:
                sys.exit("layout.py: struct %s: %s is at %s, counted %d" % (name, field, offsets[field], at))
            array = re.sub(r"STIXEL_\w+", lambda m: re.search(r"#define %s (\d+)" % m.group(0), header).group(1), array)
            rows.append((at, words.group(2) + array, field, said))
            at += size * count
            said = "as above" if said else ""
    if at + -at % 8 != int(re.search(r"STIXEL_SIZE\(%s, (\d+)\)" % name, header).group(1)):
        sys.exit("layout.py: struct %s: its fields end at %d" % (name, at))
    return rows


def table(header, name):
    size = re.search(r"STIXEL_SIZE\(%s, (\d+)\)" % name, header)
    lines = ["*struct %s*, %s bytes" % (name.replace("_", "\\_"), size.group(1)), ""]
    first = True
    for at, kind, field, said in fields(header, name):
        kind = re.sub(r"([_\[\]])", r"\\\1", kind)
        left, wide = ("[", "<") if first else (" ", " ")
        lines += ["|%s %d" % (left, at), ":%s %s" % (left, kind), ":%s *%s*" % (left, field), ":%s %s" % (wide, said)]
        first = False
    return "\n".join(lines)


def functions(header):
    out = []
    pattern = r"(/\*(?:(?!\*/).)*?\*/\n)?((?:STIXEL_API [^;]+?;\n)+)"
    for comment, group in re.findall(pattern, header, re.S):
        for text in re.findall(r"STIXEL_API ([^;]+);", group):
            text = " ".join(text.split())
            out.append("*%s*" % re.sub(r"([_*\\<>#\[\]])", r"\\\1", text))
            out.append("\t" + (plain(comment) or "See the function above."))
            out.append("")
            comment = comment if comment else ""
    return "\n".join(out).rstrip()


def main():
    header = ""
    for name in sys.argv[1:-1]:
        with open(name, encoding="utf-8") as f:
            header += f.read()
    with open(sys.argv[-1], encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[:1] == ["@STRUCT@"]:
                print(table(header, words[1]))
            elif words == ["@FUNCTIONS@"]:
                print(functions(header))
            else:
                sys.stdout.write(line)


if __name__ == "__main__":
    main()
