# The folders: the purpose of each, and the folders whose headers it may include. No other file has this table:
# includes.py enforces it, and the table in docs/develop/architecture.md is generated from it.
#
# Usage: folders.py ROOT [--write | --self-check]; --write brings the document up to date.
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import rule

FILES_MAX = 32  # number of files directly in a folder, without meson.build
# Folder, one-line description, folders it may include ("x/*": x and all folders below). A folder may always include
# itself and include/.
FOLDERS = [
    ("include", "the installed header: record, frame, ring layout, client library", []),
    ("base",
     "image view, pair, clock, log, sentences about failures, queues, runtime directories, statistics; libc only", []),
    ("stages", "the contract of an engine, checks of parameters, and the reference engine, which calls every stage",
     ["base", "stages/*"]),
    ("stages/params", "parameters of every stage, and the values of those that are left open", ["base"]),
    ("stages/rectify", "rectification, what is computed: lens models, the map, plain C",
     ["base", "stages/stereo"]),
    ("stages/stereo", "disparity, what is computed: a contract and plain C for each stage",
     ["base", "stages/params"]),
    ("stages/pyramid", "pyramid search, what is computed: scales, choice of cells, order of steps",
     ["base", "stages/params", "stages/stereo"]),
    ("stages/diagnostics", "what a pair says about its cameras: darkness, flat areas, rows", ["base"]),
    ("stages/road", "the road, what is computed: its plane, bend and ground, how sure they are",
     ["base", "stages/params"]),
    ("stages/motion", "motion between two frames, what is computed: features, the camera's step, velocities of stixels",
     ["base", "stages/params", "stages/pyramid", "stages/road"]),
    ("stages/motion/filter", "motion over several frames: the chain of frames, filtered velocities, objects",
     ["base", "stages/motion"]),
    ("stages/stixels", "stixels, what is computed: columns, evidence, segmenters, record",
     ["base", "stages/params", "stages/stereo", "stages/road"]),
    ("cpu", "the same bytes, fast: worker threads, parts of a frame, choice of kernels", ["base", "stages/*"]),
    ("cpu/pyramid", "bodies of the kernels of pyramid search, compiled once for each instruction set",
     ["base", "stages/*", "cpu", "cpu/kernels", "cpu/vec"]),
    ("cpu/motion", "motion between two frames, the same bytes, fast: kernels for each instruction set, and their tasks",
     ["base", "stages/*", "cpu", "cpu/vec"]),
    ("cpu/kernels", "bodies of kernels, compiled once for each instruction set",
     ["base", "stages/*", "cpu", "cpu/vec"]),
    ("cpu/engine", "the engine: device, contexts, and the tasks of a frame in their order",
     ["base", "stages/*", "cpu", "cpu/motion"]),
    ("cpu/vec", "vectors of each instruction set under the same names", ["base"]),
    ("predict", "how long a frame would take on a board without measurements; stored or checkpoint path costs",
     ["base", "stages", "stages/stereo", "stages/stixels"]),
    ("gpu", "what all folders of the CUDA engine share: contracts of its stages, device memory, warp primitives",
     ["base", "stages/*"]),
    ("gpu/host", "the engine's host side in plain C: contexts, the captured graph, input, taps",
     ["base", "stages/*", "predict", "gpu", "gpu/ingest", "gpu/stereo", "gpu/diagnostics", "gpu/stixels", "gpu/fastdt",
      "gpu/zncc", "gpu/motion", "gpu/pyramid", "gpu/slanted"]),
    ("gpu/ingest", "kernels from camera pixels to grey levels, raw ones rectified", ["base", "stages/*", "gpu"]),
    ("gpu/stereo", "kernels of disparity on the default way: census, costs, SGM, winner, filters",
     ["base", "stages/*", "gpu", "gpu/ingest"]),
    ("gpu/diagnostics", "kernels of what a pair says about its cameras", ["base", "stages/*", "gpu"]),
    ("gpu/fastdt", "kernels of FastDT aggregation", ["base", "stages/*", "gpu", "gpu/stereo"]),
    ("gpu/zncc", "kernels of ZNCC costs", ["base", "stages/*", "gpu"]),
    ("gpu/motion", "kernels of motion between two frames, and the chain of frames in device memory",
     ["base", "stages/*", "gpu", "gpu/stereo"]),
    ("gpu/pyramid", "kernels of pyramid search", ["base", "stages/*", "gpu", "gpu/stereo"]),
    ("gpu/stixels", "kernels of road, columns, flat stixels (DP, RDP) and the record", ["base", "stages/*", "gpu"]),
    ("gpu/slanted", "kernels of slanted stixels", ["base", "stages/*", "gpu"]),
    ("engines", "which engine computes: choosing one, loading the CUDA module",
     ["base", "stages", "cpu/engine", "gpu"]),
    ("capture", "where pairs come from: the source interface, image files, the synthetic source",
     ["base", "stages/rectify", "capture/image", "capture/scene"]),
    ("capture/image", "image files in: PNG, PGM/PPM, JPEG", ["base"]),
    ("capture/scene", "the synthetic street, drawn; its raw cameras",
     ["base", "stages/rectify", "capture/scene/surface", "capture/scene/motion", "capture/scene/weather"]),
    ("capture/scene/surface", "facets of the synthetic world and their looks: noise, patterns, tones of materials",
     ["base"]),
    ("capture/scene/weather", "darkness and rain in the synthetic world, and drops on a lens",
     ["base", "capture/scene/surface"]),
    ("capture/scene/motion", "what moves in the synthetic world, and when: paths, speeds, things, the camera",
     ["base", "capture/scene/surface"]),
    ("capture/v4l2", "V4L2 cameras: devices, buffers, pairing, what happens when one goes away",
     ["base", "capture", "capture/image"]),
    ("capture/shared", "pairs of another process: its connection, its buffers, read without trust",
     ["base", "stages/rectify", "capture", "capture/v4l2"]),
    ("ipc", "where results go: ring, stream socket, what the status says", ["base"]),
    ("ipc/feed", "what other processes give: class scores and disparity maps in shared memory, read without trust",
     ["base", "ipc"]),
    ("ipc/http", "the status socket: HTTP, who is at the other end, who gives way, and requests",
     ["base", "ipc"]),
    ("ipc/client", "libstixel: readers of frames, scans and points of them, writers of scores and maps",
     ["base", "ipc", "ipc/feed"]),
    ("gstreamer", "stixelsink: an element of GStreamer that gives two videos to the daemon; over libstixel alone", []),
    ("recording", "recordings of frames: MCAP files, their reader and writer", ["base", "ipc", "capture/image"]),
    ("recording/messages",
     "what viewers draw of frames: colours, places in space, messages of stixelctl export and of stixel-bridge",
     ["base", "ipc", "recording"]),
    ("power", "where the watts come from: sensors, energy by frames, the board", ["base"]),
    ("config", "the option table and everything made from it: parser, help, man page",
     ["base", "stages", "stages/params", "capture", "power", "config/text", "config/calibration"]),
    ("config/calibration",
     "calibration files of OpenCV, ROS, Kalibr, EuRoC, ORB-SLAM, VINS, ZED, KITTI, Middlebury: raw or rectified",
     ["base", "stages", "stages/rectify", "config/text"]),
    ("config/text", "files read whole, numbers and words as people write them", ["base"]),
    ("config/cli", "command lines as tables: parser, help, man page, completion",
     ["base", "config", "config/text"]),
    ("daemon", "the only place where all meets: threads, health, signals, readiness",
     ["base", "stages/*", "engines", "capture/*", "ipc", "ipc/feed", "ipc/http", "power", "config/*", "daemon/*"]),
    ("daemon/camera", "whether the baseline is in metres, by the road that maps show", ["base", "stages/*"]),
    ("daemon/channels", "what main and other threads hand each other while frames go on: contexts, controls, requests",
     ["base", "stages", "capture", "ipc/http", "daemon/camera", "daemon/motion"]),
    ("daemon/feeds", "what other processes give for pairs, scores and maps, and the pairs that are offered to them",
     ["base", "stages/*", "capture", "config", "ipc", "ipc/feed", "daemon/channels", "daemon/telemetry"]),
    ("daemon/instance", "the instance's folder below /run with lock and sockets; the service manager; supervisor",
     ["base", "capture", "ipc", "ipc/http"]),
    ("daemon/motion", "what status and frames say about motion: its figures, fields, records of stixels and objects",
     ["base", "ipc", "stages/motion", "stages/motion/filter", "stages/road"]),
    ("daemon/row_error", "row corrections: which one the images need, and the rig with it",
     ["base", "stages/*", "daemon/telemetry"]),
    ("daemon/telemetry", "what the daemon counts and measures, and what images say of the cameras",
     ["base", "daemon/motion", "stages/*", "capture", "ipc", "ipc/feed"]),
    ("tools", "scripts: demo, test; the programs are made here from the folders below", []),
    ("tools/common", "what programs share: arguments, progress, files, a question to the status socket",
     ["base", "config", "engines"]),
    ("tools/draw", "pictures and tables of a frame: overlay, bird's eye, CSV", ["base", "recording/messages"]),
    ("tools/pairs", "what is wrong with a rig, by a few of its pairs: places found again, statistics, verdicts",
     ["base", "stages/diagnostics"]),
    ("tools/process", "stixel-process: files in, disparity, stixels and overlay out",
     ["base", "stages/*", "engines", "capture/*", "config/*", "tools/common", "tools/draw", "tools/pairs"]),
    ("tools/bench", "stixel-bench: how fast this machine is",
     ["base", "stages/*", "predict", "engines", "capture/*", "config/*", "ipc", "power", "tools/common"]),
    ("tools/ctl", "stixelctl: its sub-commands",
     ["base", "ipc", "recording", "config/*", "tools/common", "tools/draw"]),
    ("tools/ctl/record", "stixelctl record, info and replay: files of frames, written, looked at and published again",
     ["base", "ipc", "recording", "recording/messages", "tools/common", "tools/draw", "tools/ctl"]),
    ("tools/ctl/doctor", "stixelctl doctor: what is wrong with this machine; asks cameras, engine and sensors itself",
     ["base", "ipc", "ipc/feed", "config", "capture/*", "engines", "power", "predict", "tools/common", "tools/pairs",
      "tools/ctl"]),
    ("tools/ctl/endurance", "stixelctl endurance: whether a daemon keeps up for minutes or days, by budgets",
     ["base", "ipc", "tools/common", "tools/ctl"]),
    ("tools/ctl/top", "stixelctl top: the live page in a terminal",
     ["base", "recording/messages", "ipc", "tools/common", "tools/draw", "tools/ctl"]),
    ("tools/ctl/export", "stixelctl export: recordings with what viewers draw",
     ["base", "ipc", "recording", "recording/messages", "tools/common", "tools/ctl"]),
    ("tools/calibrate", "stixel-calibrate: K, D, R and T of two raw cameras, in Python with OpenCV", []),
    ("tools/web", "stixel-web: the dashboard's server, and its page",
     ["base", "config", "recording", "recording/messages", "ipc", "ipc/http", "config/cli", "tools/common",
      "tools/draw"]),
    ("python", "the Python module stixel over libstixel, stixel-bridge and stixel-segment", []),
    ("ros", "packages for ROS 2: message definitions, a node over python/", []),
    ("systemd", "unit, status socket, user, camera names, drop-ins, example configuration; no program", []),
    ("packaging", "Debian packages, and what cross builds need; tools/package makes them", []),
    ("docs", "this documentation, man pages, examples", []),
    ("tests", "checks, tests, makers of data; a folder for each folder above", ["*"]),
]
ROWS = {name: (line, may) for name, line, may in FOLDERS}
BEGIN, END = "<!-- folders: made by tests/style/folders.py -->\n", "<!-- end of folders -->\n"
DOCUMENT = "docs/develop/architecture.md"


def row_of(folder):
    """Returns the row that applies to a folder: its own, or that of the nearest folder above."""
    while folder and folder not in ROWS:
        folder = os.path.dirname(folder)
    return folder or None


def names(word, folder):
    """Returns whether a word of a row ("x", "x/*", "*") matches this folder."""
    return word in ("*", folder) or (word.endswith("/*") and (folder == word[:-2] or folder.startswith(word[:-1])))


def may_include(folder, target):
    """Returns whether a file of one folder may include a header of the other. Both are folders of the tree."""
    mine, its = row_of(folder), row_of(target)
    return its in (mine, "include") or mine is None or any(names(word, its) for word in ROWS[mine][1])


def ring(rows):
    """Returns folders that may include each other in a ring, with the first one repeated at the end. None: there is
    no ring."""
    below = {a: [b for b in rows if b != a and any(names(w, b) for w in rows[a][1])] for a in rows}
    done = set()

    def walk(way):
        for name in below[way[-1]]:
            if name in way:
                return way[way.index(name):] + [name]
            found = None if name in done else walk(way + [name])
            if found:
                return found
        done.add(way[-1])
        return None

    return next((found for found in (walk([name]) for name in rows) if found), None)


def check_rings():
    way = ring(ROWS)
    if not way:
        return []
    return ["tests/style/folders.py:1: a ring of folders, each of which may include the next: " + " -> ".join(way)]


def table():
    lines = ["| folder | what | may include |", "|---|---|---|"]
    for name, line, may in FOLDERS:
        lines.append("| %s/ | %s | %s |" % (name, line, "everything" if may == ["*"] else ", ".join(may) or "-"))
    return "\n".join(lines).replace("/*", "/\\*") + "\n"


def parts(text):
    """Returns the text before, in and after the table of a document. None: the document has no place for the table."""
    if BEGIN not in text or END not in text:
        return None
    before, rest = text.split(BEGIN, 1)
    inside, behind = rest.split(END, 1)
    return before, inside, behind


def check(root):
    found, count = check_rings(), {}
    whole = os.path.exists(os.path.join(root, "meson.build"))  # not a tree with a planted fault
    for name in rule.files(root):
        folder = os.path.dirname(name)
        if os.path.basename(name) != "meson.build":
            count[folder] = count.get(folder, 0) + 1
    for folder, files in sorted(count.items()):
        if files > FILES_MAX:
            found.append("%s:1: %d files, at most %d: divide it" % (folder, files, FILES_MAX))
    for name in ROWS:
        if whole and not os.path.isdir(os.path.join(root, name)):
            found.append("tests/style/folders.py:1: there is no folder %s/" % name)
    if os.path.exists(os.path.join(root, DOCUMENT)):
        p = parts(rule.read(root, DOCUMENT))
        if p is None or p[1] != table():
            found.append("%s:1: its table of folders is not that of tests/style/folders.py (--write)" % DOCUMENT)
    return found


def write(root):
    p = parts(rule.read(root, DOCUMENT))
    if p is None:
        sys.exit("%s has no place for the table of folders" % DOCUMENT)
    with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as f:
        f.write(p[0] + BEGIN + table() + END + p[2])


SOUND = {DOCUMENT: "text\n" + BEGIN + table() + END + "more\n",
         **{"base/f%d.c" % i: "" for i in range(FILES_MAX)},
         "base/meson.build": ""}
PLANTED = [
    ({"base/g.c": ""}, ["base:1:", "%d files" % (FILES_MAX + 1)]),
    ({DOCUMENT: "text\n" + BEGIN + table().replace("libc only", "libc") + END}, [DOCUMENT + ":1:"]),
    ({DOCUMENT: "no table\n"}, [DOCUMENT + ":1:"]),
]

if __name__ == "__main__":
    if "--write" in sys.argv[2:]:
        write(sys.argv[1])
    else:
        planted = {"x": ("", ["y"]), "y": ("", ["x/*"]), "z": ("", ["x", "y"])}
        if ring(planted) != ["x", "y", "x"] or ring({"x": ("", ["y"]), "y": ("", []), "z": ("", ["x", "y"])}):
            sys.exit("the search for rings is wrong")
        rule.main(check, SOUND, PLANTED)
