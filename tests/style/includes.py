# Folders include downwards only (docs/architecture.md, folders), from the root, and private headers stay at home.
# SPDX-License-Identifier: Apache-2.0
import fnmatch
import os
import re

import rule

COMPUTING = {"stages", "cpu", "gpu", "capture"}
MAY = {
    "include": set(),
    "base": set(),
    "stages": {"base"},
    "capture": {"base"},
    "ipc": {"base"},
    "power": {"base"},
    "config": {"base"},
    "cpu": {"base", "stages"},
    "gpu": {"base", "stages"},
    "daemon": {"base", "stages", "cpu", "gpu", "capture", "ipc", "power", "config"},
    "tools": {"base", "ipc", "config"},
    "tests": {"base", "stages", "cpu", "gpu", "capture", "ipc", "power", "config", "tools"},
    "docs": set(),
}
# Single headers beyond the table: the settings are made of the parameters of those who use them.
ALSO = {"config": {"stages/params.h", "stages/engine.h", "capture/source.h", "power/params.h"}}
# The tools that compute: stixel-process and stixel-bench.
COMPUTING_TOOLS = ["tools/process*", "tools/bench*", "tools/settings_args*"]
# stixelctl is a client like any other; only these files of its doctor ask a camera what it offers, open an engine, and
# read a power sensor.
DOCTOR = {"tools/doctor_camera.c": {"capture"}, "tools/doctor_modes.c": {"capture"}, "tools/doctor_modes.h": {"capture"},
          "tools/doctor_engine.c": {"cpu", "gpu"}, "tools/doctor_power.c": {"gpu", "power"}}
INSTALLED = {"stixel.h", "include/stixel.h"}
# Libraries that must not spread: who may include which.
SYSTEM = [
    (re.compile(r"cuda|nvml|nvrtc"), {"gpu", "tests"}),
    (re.compile(r"ini\.h$|yaml\.h$"), {"config"}),
    (re.compile(r"png\.h$|turbojpeg\.h$|linux/videodev2\.h$"), {"capture", "tools", "tests"}),
    (re.compile(r"microhttpd|jansson"), {"ipc", "daemon", "tools", "tests"}),
    (re.compile(r"systemd/"), {"daemon"}),
    (re.compile(r"ncurses\.h$|^term\.h$"), {"tools"}),
    (re.compile(r"zstd|zlib|\.pb-c\.h$"), {"tools", "tests"}),
]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def may(name, target):
    folder, to = name.split("/")[0], target.split("/")[0]
    if target in INSTALLED or to == folder or to in MAY[folder] or target in ALSO.get(folder, ()):
        return True
    if to in DOCTOR.get(name, ()):
        return True
    return to in COMPUTING and any(fnmatch.fnmatch(name, p) for p in COMPUTING_TOOLS)


def quoted(root, name, target):
    folder = name.split("/")[0]
    if target not in INSTALLED and "/" not in target:
        return "'%s' is not written from the root" % target
    if target not in INSTALLED and not os.path.exists(os.path.join(root, target)):
        return "'%s' does not exist" % target
    home = os.path.dirname(target)
    if re.search(r"_priv\.h$", target) and os.path.dirname(name) not in (home, "tests/" + home):
        return "'%s' is private to its folder and its tests" % target
    if folder in MAY and not may(name, target):
        return "%s/ may not include '%s'" % (folder, target)
    return None


def check(root):
    found = []
    for name in rule.files(root, ".c", ".h", ".cu", ".cuh", ".cc"):
        folder = name.split("/")[0]
        if folder not in MAY:
            found.append("%s:1: folder %s/ is not in the table of folders" % (name, folder))
            continue
        text = rule.read(root, name)
        for m in INCLUDE.finditer(text):
            line = text.count("\n", 0, m.start()) + 1
            wrong = quoted(root, name, m.group(2)) if m.group(1) == '"' else None
            if m.group(1) == "<":
                for pattern, folders in SYSTEM:
                    if pattern.search(m.group(2)) and folder not in folders:
                        wrong = "<%s> belongs to %s" % (m.group(2), ", ".join(sorted(folders)))
            if wrong:
                found.append("%s:%d: %s" % (name, line, wrong))
    return found


SOUND = {
    "base/a.h": "", "base/a.c": '#include <stdio.h>\n#include "base/a.h"\n', "stages/params.h": "", "stages/sgm.h": "",
    "stages/sgm_priv.h": "", "stages/sgm.c": '#include "stages/sgm_priv.h"\n#include "base/a.h"\n',
    "config/load.c": '#include <ini.h>\n#include "stages/params.h"\n', "include/stixel.h": "", "daemon/run.h": "",
    "ipc/ring.c": '#include "include/stixel.h"\n#include "stixel.h"\n', "tools/ctl.c": '#include "base/a.h"\n',
    "tools/bench.c": '#include "stages/sgm.h"\n', "capture/a.h": "", "tools/doctor_camera.c": '#include "capture/a.h"\n', "tests/base/test_a.c": '#include "stages/sgm.h"\n',
    "tests/stages/test_sgm.c": '#include "stages/sgm_priv.h"\n',
    "daemon/run.c": '#include "stages/sgm.h"\n#include "daemon/run.h"\n',
}
PLANTED = [
    ({"base/b.c": '#include "stages/sgm.h"\n'}, ["base/b.c:1:", "may not include 'stages/sgm.h'"]),
    ({"stages/b.c": '\n #  include "daemon/run.h"\n'}, ["stages/b.c:2:", "may not include"]),
    ({"config/b.c": '#include "stages/sgm.h"\n'}, ["config/b.c:1:"]),
    ({"tools/ctl_b.c": '#include "stages/sgm.h"\n'}, ["tools/ctl_b.c:1:"]),
    ({"tools/doctor.c": '#include "capture/a.h"\n'}, ["tools/doctor.c:1:"]),
    ({"tools/doctor_engine.c": '#include "capture/a.h"\n'}, ["tools/doctor_engine.c:1:"]),
    ({"power/b.c": '#include "stages/sgm.h"\n'}, ["power/b.c:1:"]),
    ({"tools/ctl_b.c": '#include "power/a.h"\n', "power/a.h": ""}, ["tools/ctl_b.c:1:"]),
    ({"tests/b.c": '#include "daemon/run.h"\n'}, ["tests/b.c:1:"]),
    ({"stages/b.c": '#include "stages/none.h"\n'}, ["does not exist"]),
    ({"cpu/b.c": '#include "stages/sgm_priv.h"\n'}, ["private"]),
    ({"tests/cpu/b.c": '#include "stages/sgm_priv.h"\n'}, ["private"]),
    ({"base/b.c": '#include "a.h"\n'}, ["from the root"]),
    ({"base/b.c": "#include <yaml.h>\n"}, ["<yaml.h> belongs to config"]),
    ({"cpu/b.c": "#include <cuda_runtime.h>\n"}, ["belongs to gpu"]),
    ({"ipc/b.c": "#include <zstd.h>\n"}, ["belongs to tests, tools"]),
    ({"misc/b.c": ""}, ["not in the table"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
