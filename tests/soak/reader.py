# A reader for tests/soak/run that uses libstixel: takes frames for a while, and prints which ones it got.
# Usage: reader.py FOLDER_OF_LIBRARY INSTANCE ring|slow|stream|stopped|killed SECONDS
# SPDX-License-Identifier: Apache-2.0
import ctypes
import json
import os
import sys
import time

STREAM = 2  # flag of stixel_open()
EBADMSG = 74
NUMBER = 32  # offset of `number` in struct stixel_frame_header, bytes

folder, instance, kind, seconds = sys.argv[1:]
lib = ctypes.CDLL(os.path.join(folder, "libstixel.so.1"))
pointer = ctypes.c_void_p
lib.stixel_open.argtypes = [ctypes.POINTER(pointer), ctypes.c_char_p, ctypes.c_uint]
lib.stixel_wait.argtypes = [pointer, ctypes.c_int]
lib.stixel_next.argtypes = [pointer, ctypes.POINTER(pointer), ctypes.POINTER(ctypes.c_uint64)]
lib.stixel_close.argtypes = [pointer]
lib.stixel_strerror.restype = ctypes.c_char_p

reader, frame, lost = pointer(), pointer(), ctypes.c_uint64()
r = lib.stixel_open(ctypes.byref(reader), instance.encode(), STREAM if kind == "stream" else 0)
if r < 0:
    sys.exit("open: " + lib.stixel_strerror(r).decode())
said = {"first": 0, "last": 0, "frames": 0, "lost": 0, "back": 0, "damaged": 0}
end = time.monotonic() + float(seconds)
while time.monotonic() < end:
    r = lib.stixel_wait(reader, 100)
    # check the time here, too: a publisher that is faster than this loop would never let it end
    while r > 0 and time.monotonic() < end:
        r = lib.stixel_next(reader, ctypes.byref(frame), ctypes.byref(lost))
        if r <= 0:
            break
        header = pointer.from_address(frame.value).value
        number = ctypes.c_uint64.from_address(header + NUMBER).value
        if said["frames"]:
            said["lost"] += lost.value
            said["back"] += number <= said["last"]
        else:
            said["first"] = number
        said["frames"] += 1
        said["last"] = number
        if kind == "slow" and said["frames"] % 20 == 0:
            time.sleep(0.05)
    if r == -EBADMSG:
        said["damaged"] += 1
    elif r < 0:
        sys.exit("%s: %s" % (kind, lib.stixel_strerror(r).decode()))
lib.stixel_close(reader)
print(json.dumps(said))
