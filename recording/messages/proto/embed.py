# Converts files to C arrays: embed.py OUT.c FILE.fds... writes sx_schema_FILE and sx_schema_FILE_bytes.
# SPDX-License-Identifier: Apache-2.0
import os
import sys

out, *names = sys.argv[1:]
with open(out, "w", encoding="ascii") as f:
    f.write("#include <stddef.h>\n")
    for name in names:
        with open(name, "rb") as g:
            data = g.read()
        word = "sx_schema_" + os.path.splitext(os.path.basename(name))[0]
        f.write("const unsigned char %s[] = {%s};\n" % (word, ",".join(map(str, data))))
        f.write("const size_t %s_bytes = sizeof(%s);\n" % (word, word))
