# Makes a C file from the files of the page, so that stixel-web contains them, each also compressed.
#
#   embed.py OUT.c FILE...      the first is also served at /
#
# SPDX-License-Identifier: Apache-2.0
import gzip
import hashlib
import os
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml"}


def rows(data):
    for at in range(0, len(data), 24):
        yield "\t" + ",".join("%d" % b for b in data[at:at + 24]) + ","


def main(out, files):
    text = ["/* Made by tools/web/embed.py. SPDX-License-Identifier: Apache-2.0 */", '#include "tools/web/server.h"',
            ""]
    table = []
    for number, path in enumerate(files):
        with open(path, "rb") as f:
            data = f.read()
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
