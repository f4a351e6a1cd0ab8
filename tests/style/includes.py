# Folders include only as the table of folders.py permits, with paths from the root, and use no private headers of
# others.
# SPDX-License-Identifier: Apache-2.0
import os
import re

import folders
import rule

INSTALLED = {"stixel.h", "include/stixel.h", "stixel_convert.h", "include/stixel_convert.h", "stixel_disparity.h",
             "include/stixel_disparity.h", "stixel_recording.h", "stixel_pairs.h", "include/stixel_pairs.h"}
# Libraries with restricted use, and the folders that may include them.
SYSTEM = [
    (re.compile(r"cuda|nvml|nvrtc"), {"gpu", "tests"}),
    (re.compile(r"ini\.h$|yaml\.h$"), {"config"}),
    (re.compile(r"png\.h$"), {"capture/image", "tools/draw", "tools/process", "tools/web", "tests"}),
    (re.compile(r"^gst/"), {"gstreamer", "tests"}),
    (re.compile(r"jpeglib\.h$|jerror\.h$"), {"capture/image", "tools/draw", "tests"}),
    (re.compile(r"linux/videodev2\.h$"), {"capture/v4l2", "tools/ctl/doctor", "tests"}),
    (re.compile(r"microhttpd"), {"ipc", "tools/web", "tests"}),
    (re.compile(r"jansson"), {"tools", "tests"}),
    (re.compile(r"systemd/"), {"daemon"}),
    (re.compile(r"ncurses\.h$|^term\.h$"), {"tools/ctl/top"}),
    (re.compile(r"zstd"), {"recording", "tests"}),
    (re.compile(r"zlib"), {"recording", "tools/web", "tests"}),
    (re.compile(r"\.pb-c\.h$"), {"recording/messages"}),
]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def within(folder, rooms):
    return any(folder == r or folder.startswith(r + "/") for r in rooms)


def quoted(root, name, target):
    folder = os.path.dirname(name)
    if target in INSTALLED:
        return None
    if "/" not in target:
        return "'%s' is not written from the root" % target
    if not os.path.exists(os.path.join(root, target)):
        return "'%s' does not exist" % target
    home = os.path.dirname(target)
    # tests that simulate the whole daemon, or make its calls fail, may use all private headers
    whole = folder in ("tests/simulate", "tests/torture")
    inside = whole or folder in (home, "tests/" + home) or folder.startswith("tests/%s/" % home)
    if target.endswith("_priv.h") and not inside:
        return "'%s' is private to its folder and its tests" % target
    if not folders.may_include(folder, home):
        return "%s/ may not include '%s'" % (folder, target)
    return None


def check(root):
    found = []
    for name in rule.files(root, ".c", ".h", ".cu", ".cuh", ".cc"):
        folder = os.path.dirname(name)
        if not folders.row_of(folder):
            found.append("%s:1: folder %s/ is not in the table of folders" % (name, folder))
            continue
        text = rule.read(root, name)
        for m in INCLUDE.finditer(text):
            line = text.count("\n", 0, m.start()) + 1
            wrong = quoted(root, name, m.group(2)) if m.group(1) == '"' else None
            if m.group(1) == "<":
                for pattern, rooms in SYSTEM:
                    if pattern.search(m.group(2)) and not within(folder, rooms):
                        wrong = "<%s> belongs to %s" % (m.group(2), ", ".join(sorted(rooms)))
            if wrong:
                found.append("%s:%d: %s" % (name, line, wrong))
    return found


SOUND = {
    "base/a.h": "", "base/a.c": '#include <stdio.h>\n#include "base/a.h"\n', "stages/params/params.h": "",
    "stages/stereo/sgm.h": "", "stages/stereo/sgm_priv.h": "", "capture/a.h": "", "daemon/run.h": "", "power/a.h": "",
    "stages/stereo/sgm.c": '#include "stages/stereo/sgm_priv.h"\n#include "base/a.h"\n', "include/stixel.h": "",
    "config/load.c": '#include <ini.h>\n#include "stages/params/params.h"\n', "engines/select.h": "",
    "ipc/ring.c": '#include "include/stixel.h"\n#include "stixel.h"\n', "tools/ctl/ctl.c": '#include "base/a.h"\n',
    "tools/bench/bench.c": '#include "stages/stereo/sgm.h"\n', "gpu/cuda.cuh": "#include <cuda_runtime.h>\n",
    "tools/ctl/doctor/camera.c": '#include "capture/a.h"\n#include <linux/videodev2.h>\n',
    "gpu/stereo/sgm.cu": '#include "gpu/cuda.cuh"\n',
    "tests/base/test_a.c": '#include "stages/stereo/sgm.h"\n', "tests/daemon/test_run.c": '#include "daemon/run.h"\n',
    "tests/stages/stereo/test_sgm.c": '#include "stages/stereo/sgm_priv.h"\n',
    "engines/select.c": '#include "stages/engine.h"\n', "stages/engine.h": "",
    "daemon/run.c": '#include "stages/stereo/sgm.h"\n#include "daemon/run.h"\n#include "engines/select.h"\n',
}
PLANTED = [
    ({"base/b.c": '#include "stages/stereo/sgm.h"\n'}, ["base/b.c:1:", "may not include 'stages/stereo/sgm.h'"]),
    ({"stages/b.c": '\n #  include "daemon/run.h"\n'}, ["stages/b.c:2:", "may not include"]),
    ({"config/b.c": '#include "stages/stereo/sgm.h"\n'}, ["config/b.c:1:"]),
    ({"stages/stixels/b.c": '#include "stages/rectify/b.h"\n', "stages/rectify/b.h": ""},
     ["stages/stixels/b.c:1:", "may not include"]),
    ({"engines/b.c": '#include "stages/stereo/sgm.h"\n'}, ["engines/b.c:1:"]),
    ({"gpu/b.c": '#include "gpu/stereo/b.h"\n', "gpu/stereo/b.h": ""}, ["gpu/b.c:1:"]),
    ({"tools/ctl/b.c": '#include "stages/stereo/sgm.h"\n'}, ["tools/ctl/b.c:1:"]),
    ({"tools/ctl/b.c": '#include "capture/a.h"\n'}, ["tools/ctl/b.c:1:"]),
    ({"power/b.c": '#include "stages/stereo/sgm.h"\n'}, ["power/b.c:1:"]),
    ({"tools/ctl/b.c": '#include "power/a.h"\n'}, ["tools/ctl/b.c:1:"]),
    ({"tools/b.c": '#include "daemon/run.h"\n'}, ["tools/b.c:1:"]),
    ({"stages/b.c": '#include "stages/none.h"\n'}, ["does not exist"]),
    ({"cpu/b.c": '#include "stages/stereo/sgm_priv.h"\n'}, ["private"]),
    ({"tests/cpu/b.c": '#include "stages/stereo/sgm_priv.h"\n'}, ["private"]),
    ({"base/b.c": '#include "a.h"\n'}, ["from the root"]),
    ({"base/b.c": "#include <yaml.h>\n"}, ["<yaml.h> belongs to config"]),
    ({"cpu/b.c": "#include <cuda_runtime.h>\n"}, ["belongs to gpu"]),
    ({"tools/ctl/b.c": "#include <linux/videodev2.h>\n"}, ["belongs to"]),
    ({"ipc/b.c": "#include <zstd.h>\n"}, ["belongs to recording"]),
    ({"ipc/b.c": '#include "ipc/feed/b.h"\n', "ipc/feed/b.h": '#include "ipc/b.h"\n', "ipc/b.h": ""}, ["ipc/b.c:1:"]),
    ({"misc/b.c": ""}, ["not in the table"]),
]

if __name__ == "__main__":
    rule.main(check, SOUND, PLANTED)
