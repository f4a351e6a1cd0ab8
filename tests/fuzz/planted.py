# Faults that are planted one by one, each of which its target has to find within a minute (tests/fuzz/run --planted):
# target, file, text, text in its place, what it is.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shlex
import subprocess

import targets

PLANTED = [
    ("reader", "ipc/check.c", "\t    h->slot_stride % 64 || ", "\t    ", "slots that lie on odd bytes"),
    ("reader", "ipc/check.c", """STIXEL_HEADER_BYTES_LEAST ||
\t    (uint64_t)h->slot_header_bytes + h->frame_capacity > h->slot_stride)""", "STIXEL_HEADER_BYTES_LEAST)",
     "frames that are larger than slots"),
    ("reader", "ipc/check.c", "if (slots_end > h->total_bytes || ", "if (", "slots behind the end of the object"),
    ("reader", "ipc/client/reader.c", """\t\tif (head <= r->last) /* gone back, as no publisher's does */
\t\t\treturn 0;
""", "", "a head that goes back between two looks"),
    ("feed", "ipc/check.c", "h->live_offset % 64 ||", "!h->live_offset ||", "a live part on odd bytes"),
    ("recording", "recording/bytes.c", "bytes > c->left", "bytes > c->left + 4", "a cursor goes 4 bytes too far"),
    ("recording", "recording/recording.c", """\tif ((uint64_t)have < SX_MCAP_HEAD_BYTES + bytes)
\t\treturn damaged(r, cut);
""", "", "a chunk is cut by the end of the file"),
    ("recording", "recording/recording.c", """\tif (whole && (uint64_t)n < SX_MCAP_HEAD_BYTES + rec.bytes)
\t\treturn damaged(r, cut);
""", "", "a record is cut by the end of the file"),
    ("frame", "ipc/check.c", "offsets[u] > offsets[u + 1] || offsets[u + 1] > h->stixel_count",
     "offsets[u] > offsets[u + 1]", "a column has more stixels than there are"),
    ("stream", "ipc/stream.c", "\t\ts->count.garbage += n > 0;\n\t\tdrop_client(s, c);\n",
     "\t\ts->count.garbage += n > 0;\n", "who does not greet stays"),
    ("config", "config/parse.c", "\tif (!files) {\n\t\tl->out_of_memory = true;\n\t\treturn;\n",
     "\tif (!files) {\n\t\treturn;\n", "no memory for the names of files is no error"),
    ("reload", "daemon/live_read.c", "if (bytes && bytes <= p->frame_bytes)", "if (bytes)",
     "frames that the ring has no room for"),
    ("v4l2", "capture/v4l2/v4l2_pairs.c", "i < v->count && !t->slot && r == 0", "i < 1 && !t->slot && r == 0",
     "the right camera's buffers are not given back"),
]
FIND_S = 60


def check_texts(faults):
    """Each text is in its source, once."""
    for _, path, old, _, what in faults:
        with open(os.path.join(targets.TOP, path), encoding="utf-8") as f:
            count = f.read().count(old)
        if count != 1:
            raise SystemExit("planted.py: '%s': %s has its text %d times" % (what, path, count))


def compile_command(build, path, link):
    """How the file was compiled for what is linked: for the fuzzer's own libraries before others. And its object."""
    own = tuple(word for word in link if word.endswith(".o")) + tuple(
        word + ".p/" for word in link if word.endswith(".a"))
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        entries = [e for e in json.load(f)
                   if os.path.normpath(os.path.join(e["directory"], e["file"])) == os.path.join(targets.TOP, path)
                   and e["output"].startswith(own)]
    if not entries:
        raise SystemExit("planted.py: %s is no part of it" % path)
    entry = min(entries, key=lambda e: not e["output"].startswith("tests/fuzz/"))
    return shlex.split(entry["command"]), entry["output"]


def plant(build, folder, fault):
    """The target with this fault: its object before the archives, where the linker finds it first."""
    name, path, old, new, _ = fault
    commands = subprocess.run(["ninja", "-t", "commands", "tests/fuzz/fuzz_" + name], cwd=build, check=True,
                              stdout=subprocess.PIPE, text=True).stdout.splitlines()
    link = shlex.split(commands[-1])
    source, made, program = (os.path.join(folder, os.path.basename(path)), os.path.join(folder, "fault.o"),
                             os.path.join(folder, "fuzz_" + name))
    with open(os.path.join(targets.TOP, path), encoding="utf-8") as f, open(source, "w", encoding="utf-8") as to:
        to.write(f.read().replace(old, new))
    words, was = compile_command(build, path, link)
    words[words.index("-o") + 1] = made
    words[words.index("-c") + 1] = source
    words[words.index("-MF") + 1] = made + ".d"
    subprocess.run(words + ["-w", "-Wno-error"], cwd=build, check=True)
    at = link.index("-o") + 1
    link[at:at + 1] = [program, made]
    link = [word for word in link if word != was]
    subprocess.run(link, cwd=build, check=True)
    return program
