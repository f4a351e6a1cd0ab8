# Runs a command under the unit's SystemCallFilter=, without systemd: no new privileges, and seccomp as systemd would
# set it.
#
#   filtered.py [--kill] UNIT... -- COMMAND...     UNIT: the unit, then drop-ins in order
#   filtered.py [--kill] --save FILE UNIT...       writes the filter, for a machine without systemd and compiler
#   filtered.py --load FILE -- COMMAND...
#
# Exit status: that of the command; 125 if the filter cannot be set here. --no-new-code: the effect of
# MemoryDenyWriteExecute=yes as the kernel implements it (since 6.3). --kill: a call that is not allowed ends the
# command by SIGSYS instead of failing with EPERM. This shows which calls the command makes.
# SPDX-License-Identifier: Apache-2.0
import argparse
import ctypes
import os
import platform
import re
import struct
import subprocess
import sys

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER_OFFSET, ARCHITECTURE_OFFSET = 0, 4
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050001  # FAIL: with errno 1, EPERM
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1


def give_up(why):
    print("filtered.py: " + why, file=sys.stderr)
    sys.exit(125)


def expand(word):
    """Returns the names of the system calls of "@group", including nested groups, or the name of a single call."""
    if not word.startswith("@"):
        return {word}
    names = set()
    for line in subprocess.run(["systemd-analyze", "syscall-filter", word], capture_output=True, text=True,
                               check=True).stdout.split("\n")[1:]:
        if line.strip() and not line.strip().startswith("#"):
            names |= expand(line.strip())
    return names


def allowed_names(units):
    """Returns the allowed calls. Reads the lines like systemd: the first line makes a list of allowed calls, "~"
    removes calls, later lines add calls."""
    names = set()
    for path in units:
        with open(path, encoding="utf-8") as f:
            for line in re.findall(r"(?m)^SystemCallFilter=(.*)$", f.read()):
                for word in line.lstrip("~").split():
                    names = names - expand(word) if line.startswith("~") else names | expand(word)
    return names | expand("@default")


def numbers():
    """Returns the numbers of this machine's system calls, by name."""
    text = subprocess.run([*os.environ.get("CC", "cc").split(), "-E", "-dM", "-include", "asm/unistd.h", "-x", "c",
                           "/dev/null"], capture_output=True, text=True, check=True).stdout
    return {name: int(n) for name, n in re.findall(r"(?m)^#define __NR_(\w+) (\d+)$", text)}


def program(units, denied):
    """Returns the filter: instructions of 8 bytes."""
    if platform.machine() not in ARCHITECTURES:
        give_up("no numbers of system calls for " + platform.machine())
    known = numbers()
    allowed = sorted(known[n] for n in allowed_names(units) if n in known)

    def step(code, k, yes=0, no=0):
        return struct.pack("<HBBI", code, yes, no, k)
    steps = [step(LOAD, ARCHITECTURE_OFFSET), step(JUMP_EQUAL, ARCHITECTURES[platform.machine()], 1, 0),
             step(RETURN, KILL),
             step(LOAD, NUMBER_OFFSET)]
    for n in allowed:
        steps += [step(JUMP_EQUAL, n, 0, 1), step(RETURN, ALLOW)]
    return b"".join(steps) + step(RETURN, denied)


def enter(code, no_new_code):
    """Sets the filter for this process and its successors. It cannot be removed."""
    libc = ctypes.CDLL(None, use_errno=True)
    text = ctypes.create_string_buffer(code, len(code))
    whole = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(text))
    steps = [(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0)] if no_new_code else []
    for arguments in (*steps, (PR_SET_NO_NEW_PRIVS, 1, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, whole)):
        if libc.prctl(*[a if isinstance(a, bytes) else ctypes.c_ulong(a) for a in arguments], 0, 0):
            give_up("prctl(%d): %s" % (arguments[0], os.strerror(ctypes.get_errno())))


def main():
    own, command = sys.argv[1:], []
    if "--" in own:
        own, command = own[:own.index("--")], own[own.index("--") + 1:]
    p = argparse.ArgumentParser()
    p.add_argument("--kill", action="store_true")
    p.add_argument("--no-new-code", action="store_true")
    p.add_argument("--save")
    p.add_argument("--load")
    p.add_argument("units", nargs="*")
    args = p.parse_args(own)
    if args.load:
        with open(args.load, "rb") as f:
            code = f.read()
    else:
        code = program(args.units, KILL if args.kill else FAIL)
    if args.save:
        with open(args.save, "wb") as f:
            f.write(code)
    elif not command:
        p.error("no command")
    else:
        enter(code, args.no_new_code)
        os.execvp(command[0], command)


if __name__ == "__main__":
    main()
