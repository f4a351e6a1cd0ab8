"""Structures and numbers of the module are those of <stixel.h>: offset and size of every field, value of every name.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import os
import re
import subprocess
import tempfile
import unittest

import support
import stixel
from stixel import _layout, _library

HEADER = os.path.join(support.SOURCE, "include", "stixel.h")
HEADERS = [HEADER, *(HEADER.replace(".h", "_%s.h" % name)
                     for name in ("convert", "disparity", "pairs", "recording", "messages"))]
CC = os.environ["STIXEL_CC"].split()
STRUCTS = {"stixel": stixel.STIXEL, "stixel_motion": _layout.MOTION_RECORD, "stixel_place": stixel.PLACE,
           "stixel_object": stixel.OBJECT,
           "stixel_frame_header": stixel.HEADER, "stixel_frame": _layout.CFrame,
           "stixel_status": _layout.CStatus, "stixel_scores_format": _layout.CScoresFormat,
           "stixel_scores_planes": _layout.CScoresPlanes, "stixel_disparity_format": _layout.CDisparityFormat,
           "stixel_disparity_map": _layout.CDisparityMap, "stixel_raw_camera": _layout.CRawCamera,
           "stixel_pairs_format": _layout.CPairsFormat, "stixel_pairs_images": _layout.CPairsImages,
           "stixel_pairs_counters": _layout.CPairsCounters, "stixel_scan_options": _layout.CScanOptions,
           "stixel_point": stixel.POINT, "stixel_box": stixel.BOX, "stixel_boxes_options": _layout.CBoxesOptions,
           "stixel_free_column": stixel.FREE_COLUMN,
           "stixel_free_options": _layout.CFreeOptions, "stixel_points_options": _layout.CPointsOptions,
           "stixel_record": _layout.CRecord, "stixel_recording_info": _layout.CRecordingInfo,
           "stixel_message_topic": _layout.CMessageTopic, "stixel_message": _layout.CMessage}
# enum of the header -> class, prefix of its names in the header
ENUMS = {"stixel_kind": (_layout.Kind, "STIXEL_"), "stixel_clock": (_layout.Clock, "STIXEL_CLOCK_"),
         "stixel_stamp": (_layout.Stamp, "STIXEL_STAMP_"), "stixel_road": (_layout.RoadOrigin, "STIXEL_ROAD_"),
         "stixel_motion_state": (_layout.MotionState, "STIXEL_MOTION_"),
         "stixel_plane": (_layout.Plane, "STIXEL_PLANE_"), "stixel_state": (_layout.State, "STIXEL_STATE_"),
         "stixel_publisher": (_layout.Publisher, "STIXEL_PUBLISHER_"),
         "stixel_free": (_layout.Free, "STIXEL_FREE_"),
         "stixel_scan_as": (_layout.ScanAs, "STIXEL_SCAN_AS_"),
         "stixel_points_of": (_layout.PointsOf, "STIXEL_POINTS_OF_"),
         "stixel_coordinates": (_layout.Coordinates, "STIXEL_COORDINATES_"),
         "stixel_pixel": (_layout.Pixel, "STIXEL_PIXEL_"), "stixel_lens": (_layout.Lens, "STIXEL_LENS_"),
         "stixel_part": (_layout.Part, "STIXEL_PART_"),
         "stixel_record_kind": (_layout.RecordKind, "STIXEL_RECORD_"),
         "stixel_message_kind": (_layout.MessageKind, "STIXEL_MESSAGE_")}
FLAGS = {"STIXEL_FLAG_": _layout.Flag, "STIXEL_FRAME_": _layout.FrameFlag, "STIXEL_OPEN_": _layout.Open}
NO_FLAGS = {"STIXEL_FRAME_MAGIC", "STIXEL_FRAME_BYTES_MAX"}
NUMBERS = {"STIXEL_ABI_MAJOR": _layout.ABI_MAJOR, "STIXEL_STAGES": _layout.STAGES,
           "STIXEL_HEADER_BYTES_LEAST": _layout.HEADER_BYTES_LEAST,
           "STIXEL_STAGE_NAME_BYTES": _layout.STAGE_NAME_BYTES,
           "STIXEL_DISPARITY_UNKNOWN": _layout.DISPARITY_UNKNOWN, "STIXEL_CLASSES_MAX": _layout.CLASSES_MAX}


def text():
    found = ""
    for header in HEADERS:
        with open(header, encoding="utf-8") as f:
            found += f.read()
    return re.sub(r"/\*.*?\*/", "", found, flags=re.S)


def fields(struct):
    """Returns the names of a struct's fields, in order."""
    body = re.search(r"(?m)^struct %s \{(.*?)^\};" % struct, text(), re.S).group(1)
    return [re.search(r"(\w+)\s*(?:\[\w+\])*\s*$", name).group(1)
            for line in body.split(";") if line.strip() for name in line.split(",")]


def names(enum):
    return re.findall(r"(STIXEL_\w+) =", re.search(r"enum %s \{(.*?)\}" % enum, text(), re.S).group(1))


def defines(prefix):
    return sorted(set(re.findall(r"#define (%s\w+) " % prefix, text())) - NO_FLAGS)


def numbers_of_c():
    """Returns the compiler's values: "struct field" -> (offset, size), "struct" -> size, "NAME" -> value."""
    lines = []
    for struct in STRUCTS:
        lines.append('printf("%s %%zu\\n", sizeof(struct %s));' % (struct, struct))
        for field in fields(struct):
            lines.append('printf("%s.%s %%zu %%zu\\n", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));'
                         % ((struct, field) * 3))
    for name in sum(map(names, ENUMS), []) + sum(map(defines, FLAGS), []) + list(NUMBERS):
        lines.append('printf("%s %%lld\\n", (long long)%s);' % (name, name))
    with tempfile.TemporaryDirectory(prefix="stixel-") as top:
        with open(top + "/layout.c", "w", encoding="utf-8") as f:
            f.write("#include <stdio.h>\n#include <stixel_convert.h>\n#include <stixel_disparity.h>\n"
                    "#include <stixel_messages.h>\n#include <stixel_pairs.h>\n"
                    "int main(void)\n{\n%s\n}\n" % "\n".join(lines))
        subprocess.run([*CC, "-I", os.path.dirname(HEADER), top + "/layout.c", "-o", top + "/layout"], check=True)
        out = subprocess.run([top + "/layout"], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in out.splitlines():
        name, *values = line.split()
        found[name] = tuple(map(int, values)) if len(values) > 1 else int(values[0])
    return found


def numbers_of_python(struct):
    kind = STRUCTS[struct]
    if isinstance(kind, type):
        found = {name: (getattr(kind, name).offset, getattr(kind, name).size) for name, *_ in kind._fields_}
        return found, ctypes.sizeof(kind)
    return {name: (kind.fields[name][1], kind.fields[name][0].itemsize) for name in kind.names}, kind.itemsize


class Layout(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.c = numbers_of_c()

    def test_every_field(self):
        for struct in STRUCTS:
            mine, size = numbers_of_python(struct)
            self.assertEqual(list(mine), fields(struct), struct)
            self.assertEqual({f: self.c["%s.%s" % (struct, f)] for f in mine}, mine, struct)
            self.assertEqual(self.c[struct], size, struct)
        self.assertEqual(len(fields("stixel")), 10)  # proves that the header was parsed correctly
        self.assertGreater(len(fields("stixel_frame_header")), 55)

    def test_every_name(self):
        for enum, (kind, prefix) in ENUMS.items():
            want = {name[len(prefix):]: self.c[name] for name in names(enum)}
            self.assertEqual({m.name: m.value for m in kind if m.value >= 0}, want, enum)
        for prefix, kind in FLAGS.items():
            want = {name[len(prefix):]: self.c[name] for name in defines(prefix)}
            self.assertEqual({m.name: m.value for m in kind}, want, prefix)
        for name, value in NUMBERS.items():
            self.assertEqual(self.c[name], value, name)

    def test_numbers_of_a_newer_publisher(self):
        self.assertEqual(_layout.State(77), _layout.State.UNKNOWN)
        self.assertEqual(_layout.Clock(9), _layout.Clock.UNKNOWN)
        self.assertEqual(_layout.RoadOrigin(9), _layout.RoadOrigin.UNKNOWN)

    def test_every_function(self):
        declared = set(re.findall(r"STIXEL_API [^;(]*?\*?(stixel_\w+)\(", text()))
        used = {name for name, _, _ in _library._FUNCTIONS + _library._WAITING + _library._RECORDING_FUNCTIONS
                + _library._MESSAGES_FUNCTIONS}
        # Python has its own names of enums; for the other functions the module has one that returns more
        self.assertEqual(declared - used, {"stixel_%s_name" % n for n in ("kind", "state", "publisher", "road")}
                         | {"stixel_free_space_m", "stixel_scan", "stixel_scan_seen"}
                         # for buffers of the caller
                         | {"stixel_pairs_%s" % n for n in ("add_buffer", "queue", "returned")})
        self.assertEqual(used - declared, set())


if __name__ == "__main__":
    unittest.main()
