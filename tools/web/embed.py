# Makes a C file from the files of the page, so that stixel-web contains them, each also compressed. Indentation, and
# comments other than the licence, are left out: a browser has to load the files before the first picture.
#
#   embed.py OUT.c FILE...      the first is also served at /
#
# SPDX-License-Identifier: Apache-2.0
import gzip
import hashlib
import os
import re
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml"}


def bare(text):
    """Returns a file of the page without indentation, lines of comments, and comments behind code. A comment with a
    quote stays, because it may be the end of a text."""
    lines = (re.sub(r"\s+// [^\"'`]*$", "", line.strip()) for line in text.splitlines())
    return "".join(line + "\n" for line in lines if line and not (line.startswith("//") and "SPDX" not in line))


def rows(data):
    for at in range(0, len(data), 24):
        yield "\t" + ",".join("%d" % b for b in data[at:at + 24]) + ","


def main(out, files):
    text = ["/* Made by tools/web/embed.py. SPDX-License-Identifier: Apache-2.0 */", '#include "tools/web/server.h"',
            ""]
    table = []
    for number, path in enumerate(files):
        with open(path, encoding="utf-8") as f:
            data = bare(f.read()).encode()
        name = os.path.basename(path)
        for array, content in (("data", data), ("packed", gzip.compress(data, 9, mtime=0))):
            text += ["static const unsigned char %s_%d[] = {" % (array, number), *rows(content), "};", ""]
        tag = hashlib.sha256(data).hexdigest()[:20]
        for url in ["/"] * (number == 0) + ["/" + name]:
            table.append('\t{"%s", "%s", "\\"%s\\"", data_%d, sizeof(data_%d), "\\"%s-gzip\\"", packed_%d, '
                         'sizeof(packed_%d)},' % (url, TYPES[os.path.splitext(name)[1]], tag, number, number, tag,
                                                  number, number))
    text += ["const struct web_asset web_assets[] = {", *table, "\t{0},", "};", ""]
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(text))


main(sys.argv[1], sys.argv[2:])
