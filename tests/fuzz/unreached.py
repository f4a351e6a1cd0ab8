# Lists lines of parsers that no input of a fuzz target can reach, and the reasons (tests/fuzz/coverage).
# SPDX-License-Identifier: Apache-2.0
"""Each entry is a function of a file. A line of it that is reached all the same counts as reached."""
import os
import re

import targets

SYSTEM = "what is left of it is the system that fails: tests/torture has every call of it fail"
PLACE = "finds files and sockets: a target takes nothing from the disk"
LIFE = "begins or ends a server or its thread, of which a target has one, or none"
DRAWN = "takes no frame, but what the programs have computed of images"
UNREACHED = {
    "capture/image/image_io.c": {"image_load": SYSTEM, "read_all": SYSTEM},
    "config/text/file.c": {"read_whole": SYSTEM, "sx_file_read": SYSTEM},
    "ipc/client/reader.c": {"stixel_fd": PLACE, "stixel_open": PLACE},
    "ipc/client/socket.c": {"sx_link_connect": SYSTEM},
    "ipc/http/status.c": {"sx_status_listen": PLACE, "status_refuse": PLACE, "check_listening": PLACE,
                          "sx_status_start": LIFE, "status_free": LIFE, "sx_status_stop": LIFE,
                          "sx_status_tick": LIFE},
    "ipc/stream.c": {"take_listener": PLACE, "on_timer": LIFE, "sx_stream_create": SYSTEM, "make_loop": SYSTEM},
    "recording/recording_window.c": {"make_room": SYSTEM},
    "tools/draw/overlay.c": {"sx_overlay_disparity": DRAWN},
    "tools/web/address.c": {"web_address_listen": PLACE, "web_address_parse_key": PLACE, "same_key": LIFE,
                            "count_of": LIFE, "web_share_has_room": LIFE, "web_share_join": LIFE,
                            "web_share_leave": LIFE},
    "tools/web/login.c": {"web_logins_create": SYSTEM, "web_logins_replace": LIFE, "web_logins_stop": LIFE},
    "tools/web/server.c": {"accept_one": LIFE, "notify": LIFE, "look_at_uri": LIFE, "start_one": LIFE,
                           "web_server_start": LIFE, "web_server_stop": LIFE,
                           "web_server_tick": LIFE},
}
# Matches the first line of a function as clang-format formats it.
BEGIN = re.compile(r"^(?!static const|struct [^(]*{|enum|#|\t| |/|}|{)[^;]*?\b(\w+)\(")


def functions(file):
    """Returns {line: name of the function that contains it}."""
    found, name = {}, None
    with open(os.path.join(targets.TOP, file), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            begins = BEGIN.match(line)
            name = begins.group(1) if begins else name
            found[number] = name
    return found


def without(file, lines):
    """Returns the lines, but leaves out unreached ones that are listed here."""
    names, listed = functions(file), UNREACHED.get(file, {})
    for name in listed:
        if name not in names.values():
            raise SystemExit("unreached.py: there is no %s() in %s" % (name, file))
    return {line: reached for line, reached in lines.items() if reached or names[line] not in listed}
