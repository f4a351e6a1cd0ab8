# The fuzz targets, and functions that replay.py, run and coverage share: how targets are built, and their corpora.
# SPDX-License-Identifier: Apache-2.0
"""A corpus is the fuzzer's start: tests/fuzz/corpus/TARGET.tar.xz, minimised by coverage; the inputs that once gave a
finding, tests/fuzz/found/TARGET/; and other files of the tree."""
import collections
import glob
import io
import os
import re
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

# most: limit of an input, bytes. seeds: files of the tree. parsers: files whose lines the corpus must reach.
Target = collections.namedtuple("Target", "what most seeds parsers")
TARGETS = {
    "calibration": Target("calibration files of every format", 4096, ["tests/config/data/*"],
                          ["config/calibration/calibration*.c", "config/text/file.c"]),
    "config": Target("a configuration file, its calibration and -s", 4096, ["systemd/example.conf"],
                     ["config/parse.c", "config/load*.c", "config/value.c", "config/text/number.c",
                      "config/classes.c"]),
    "feed": Target("class scores and disparity maps of a hostile writer", 4096, [],
                   ["ipc/feed/*.c", "ipc/check.c"]),
    "frame": Target("a frame, and what draws it or makes tables and messages of it", 8192, [],
                    ["ipc/check.c", "ipc/client/scan.c", "ipc/client/points.c", "ipc/client/geometry.c",
                     "tools/draw/overlay.c", "tools/draw/bird.c", "tools/draw/stixel_csv.c",
                     "recording/messages/messages.c", "recording/messages/scene.c", "tools/ctl/top/scene.c",
                     "tools/web/packet.c"]),
    "image": Target("PNG, PGM, PPM and JPEG, as files and of a camera", 4096, [], ["capture/image/*.c"]),
    "pairs": Target("a hostile writer of pairs", 4096, [],
                    ["capture/shared/format.c", "capture/shared/link.c", "capture/shared/shared.c"]),
    "reader": Target("the reader library at a hostile publisher's ring", 4096, [],
                     ["ipc/client/ring.c", "ipc/client/reader.c", "ipc/client/status.c"]),
    "recording": Target("a recording, its checksums made right", 16384, [],
                        ["recording/recording.c", "recording/recording_content.c", "recording/recording_open.c",
                         "recording/recording_summary.c", "recording/recording_window.c", "recording/bytes.c",
                         "recording/mcap.c"]),
    "reload": Target("changes of a configuration that runs", 4096, [],
                     ["daemon/change.c", "config/load.c", "config/load_files.c", "config/settings.c"]),
    "requests": Target("requests to the status socket and to stixel-web", 4096, [],
                       ["ipc/http/status.c", "ipc/http/status_post.c", "ipc/http/status_send.c",
                        "tools/web/address.c", "tools/web/login.c",
                        "tools/web/metrics.c",
                        "tools/web/settings_request.c", "tools/web/reply.c", "tools/web/server.c",
                        "tools/web/users.c"]),
    "stream": Target("packets of frames.sock, to the daemon and to the library", 4096, [],
                     ["ipc/stream.c", "ipc/client/socket.c"]),
    "times": Target("time stamps of recorded images", 4096, [], ["capture/recorded_times.c"]),
    "v4l2": Target("cameras whose drivers do as they like", 4096, [],
                   ["capture/v4l2/pairing.c", "capture/v4l2/v4l2.c", "capture/v4l2/v4l2_controls.c",
                    "capture/v4l2/v4l2_decode.c", "capture/v4l2/v4l2_device.c", "capture/v4l2/v4l2_drop.c",
                    "capture/v4l2/v4l2_pairs.c", "capture/v4l2/v4l2_queue.c", "capture/v4l2/v4l2_setup.c",
                    "capture/v4l2/v4l2_camera_controls.c"]),
}
# Target with planted faults, for the check of replays only.
PLANTED = "planted"
# Limits that stop a target: INPUT_S seconds of CPU time for one input (fuzz.c), and memory. libFuzzer's own limit uses
# the wall clock. It is only for an input that waits for ever and uses no CPU time.
# entropic_...: libFuzzer searches a list of rare features at each feature of each input. A long list took half of the
# time.
INPUT_S = 20
LIMITS = ["-timeout=1200", "-rss_limit_mb=1024", "-entropic_feature_frequency_threshold=4"]
# quarantine: more memory than an input frees, but small enough that freed memory is still in the CPU caches when it is
# used again
ENVIRONMENT = {"ASAN_OPTIONS": "strict_string_checks=1:detect_stack_use_after_return=1:detect_leaks=1:"
                               "quarantine_size_mb=16:malloc_context_size=12",
               "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1", "FUZZ_INPUT_S": str(INPUT_S)}
# replay.c limits the memory of the process. hard_rss_limit_mb would do so with a thread that opens /proc/self/statm now
# and then: a target that counts descriptors would find a descriptor that is not its own.
REPLAY = {"ASAN_OPTIONS": ENVIRONMENT["ASAN_OPTIONS"] + ":max_allocation_size_mb=1024"}
LEAN = ["-Dfuzz=true", "-Dtests=false", "-Dman=disabled", "-Dcuda=disabled", "-Dpython=false", "-Dsystemd=disabled",
        "-Db_lundef=false", "-Ddebug=false", "-Doptimization=1"]
SANITIZED = LEAN + ["-Db_sanitize=address,undefined", "-Dc_args=-g1", "-Dwerror=true"]


def say(text):
    print("%s: %s" % (os.path.basename(sys.argv[0]), text), file=sys.stderr, flush=True)


def build(folder, options):
    """Configures the build once, and compiles what the targets need. Ends the program if that fails."""
    log = folder + ".log"
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    environment = dict(os.environ)
    if "clang" not in environment.get("CC", ""):
        environment["CC"] = "clang"
    with open(log, "w", encoding="utf-8") as out:
        steps = [["ninja", "-C", folder, "fuzz"]]
        if not os.path.exists(os.path.join(folder, "build.ninja")):
            steps.insert(0, ["meson", "setup", *options, folder, TOP])
        for step in steps:
            if subprocess.run(step, stdout=out, stderr=out, env=environment, check=False).returncode:
                out.flush()
                with open(log, encoding="utf-8") as f:
                    sys.stderr.write("".join(f.readlines()[-40:]))
                sys.exit("%s failed; all of it is in %s" % (step[0], log))


def program(folder, name):
    return os.path.join(folder, "tests/fuzz", "fuzz_" + name)


def dictionary_of(name, folder):
    """Returns a file with words of the target's input: its dictionary, or the keys of the configuration from the
    table."""
    own = os.path.join(HERE, "dictionaries", name + ".dict")
    if name not in ("config", "reload"):
        return own if os.path.exists(own) else None
    with open(os.path.join(TOP, "config/options.c"), encoding="utf-8") as f:
        rows = re.findall(r'^\t[A-Z_]+\("(\w+)", "(\w+)"', f.read(), re.M)
    words = {"[%s]\\x0a" % section for section, _ in rows} | {key + " = " for _, key in rows} | {
        "%s.%s=" % row for row in rows}
    path = os.path.join(folder, name + ".dict")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines('"%s"\n' % word for word in sorted(words))
    return path


def archive_of(name):
    return os.path.join(HERE, "corpus", name + ".tar.xz")


def unpack(name, folder):
    """Writes the corpus into the folder, which is emptied first."""
    subprocess.run(["rm", "-rf", folder], check=True)
    os.makedirs(folder)
    if os.path.exists(archive_of(name)):
        with tarfile.open(archive_of(name)) as archive:
            for member in archive:
                with open(os.path.join(folder, os.path.basename(member.name)), "wb") as f:
                    f.write(archive.extractfile(member).read())
    seeds = TARGETS[name].seeds if name in TARGETS else []
    for pattern in seeds + ["tests/fuzz/found/%s/*" % name]:
        paths = sorted(glob.glob(os.path.join(TOP, pattern)))
        if not paths and pattern in seeds:
            sys.exit("%s: no file is named %s" % (name, pattern))
        for path in paths:
            with open(path, "rb") as f, open(os.path.join(folder, "tree-" + os.path.basename(path)), "wb") as to:
                to.write(f.read())


def pack(name, folder):
    """Packs the files of a folder into the archive. The same files give the same bytes."""
    with tarfile.open(archive_of(name), "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as archive:
        for file in sorted(os.listdir(folder), key=lambda f: (os.path.getsize(os.path.join(folder, f)), f)):
            with open(os.path.join(folder, file), "rb") as f:
                content = f.read()
            member = tarfile.TarInfo(file[:16])
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return os.path.getsize(archive_of(name))
