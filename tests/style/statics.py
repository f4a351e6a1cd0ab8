# A function that is static carries a word of its module, so that grep, debuggers and profilers tell it from others.
# SPDX-License-Identifier: Apache-2.0
import re

import rule

MOST = 3  # files that may have a static function of the same name
ATTRIBUTE = r"(?:__attribute__|__launch_bounds__)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
STATIC = re.compile(r"^(?:template\b[^;{]*?>\s*|%s\s*)*(?:static|__global__)\b(?:%s|[^;={}()])*?\b(?!__)(\w+)\(" %
                    (ATTRIBUTE, ATTRIBUTE), re.M)


def check(root):
    places = {}
    for name in rule.files(root, ".c", ".cu", ".cc"):
        if name.startswith("tests/"):
            continue
        text = rule.code(rule.read(root, name))
        for m in STATIC.finditer(text):
            places.setdefault(m.group(1), {}).setdefault(name, text.count("\n", 0, m.start(1)) + 1)
    found = []
    for word, files in sorted(places.items()):
        if len(files) > MOST:
            found += ["%s:%d: static %s() is a name in %d files, at most %d: let it carry a word of its module"
                      % (name, line, word, len(files), MOST) for name, line in sorted(files.items())]
    return found


def tree(form, count):
    return {"base/%d.c" % i: form for i in range(count)}


SOUND = {
    **tree("static int take(void)\n{\n\treturn 0;\n}\n", 3),
    **{"tests/%d.c" % i: "static int take(void)\n{\n\treturn 0;\n}\n" for i in range(3)},
    **{"cpu/%d.h" % i: "static inline int take(void)\n{\n\treturn 0;\n}\n" for i in range(4)},
    "base/x.c": "/*\nstatic int take(void)\n*/\nint y = f(take());\nstatic const int a[] = {\n\tB(1),\n};\n",
}
PLANTED = [
    (tree("static int\ntake(void)\n{\n\treturn 0;\n}\n", 4), ["base/3.c:2:", "take()", "4 files"]),
    (tree("static int __attribute__((format(printf, 2, 3))) refuse(int x, const char *y, ...)\n{\n}\n", 4),
     ["refuse()"]),
    (tree("__attribute__((format(printf, 1, 2))) static int why(const char *y, ...)\n{\n}\n", 4), ["why()"]),
    (tree("template <int A>\nstatic __global__ void __launch_bounds__(32 * (2)) run(int a)\n{\n}\n", 4),
     ["base/0.c:2:", "run()"]),
    ({"gpu/a.cu": "static struct a *take(int x);\n"}, ["gpu/a.cu:1:", "take()"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
