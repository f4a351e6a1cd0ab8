#!/usr/bin/env python3
"""Checks the installed library: its exported symbols, its dependencies, and that the example in docs/ works with it.
SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess
import sys

LIBRARY, RECORDING, RECORDING_HEADER, MESSAGES_HEADER, READER, PUBLISHER, EXAMPLE, *HEADERS = sys.argv[1:]
number = 0
failed = 0


def ok(good, text, detail=""):
    global number, failed
    number += 1
    failed += not good
    print(("" if good else "not ") + f"ok {number} - {text}")
    if not good and detail:
        print("# " + str(detail).replace("\n", "\n# "))


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def look(library, headers, node, needs, soname):
    """Runs four checks on a library. needs: prefixes of the libraries that it may link to."""
    exported = {l.split()[2].split("@")[0] for l in lines("nm", "-D", "--defined-only", library) if " T " in l}
    others = {l for l in lines("nm", "-D", "--defined-only", library)
              if " T " not in l and not l.endswith(" A " + node)}
    declared = set()
    for header in headers:
        with open(header, encoding="utf-8") as f:
            declared |= set(re.findall(r"STIXEL_API [^;(]*?\*?(stixel_\w+)\(", f.read()))
    ok(exported == declared and len(declared) > 5, "exports what the header declares, nothing else",
       f"exported {sorted(exported)}, declared {sorted(declared)}")
    ok(not others, "no data is exported", others)
    dynamic = "\n".join(lines("readelf", "-d", library))
    needed = {n for n in re.findall(r"NEEDED.*\[(.*)\]", dynamic) if not re.match("lib[au]b?san", n)}
    ok(all(n.startswith(needs) for n in needed), f"needs {needs} alone", needed)
    ok(f"[{soname}]" in dynamic, "has a soname", dynamic)


print("1..14")
look(LIBRARY, HEADERS, "STIXEL_1", ("libc.so", "ld-linux"), "libstixel.so.1")
look(RECORDING, [RECORDING_HEADER, MESSAGES_HEADER], "STIXEL_RECORDING_1",
     ("libc.so", "libm.so", "ld-linux", "libz.so", "libzstd.so", "libdeflate.so", "libjpeg.so",
      "libprotobuf-c.so"),
     "libstixel-recording.so.1")
with open(EXAMPLE, encoding="utf-8") as f:
    ok(len(f.readlines()) < 45, "the example is short")

instance = f"test-library-{os.getpid()}"
with subprocess.Popen([PUBLISHER, instance, "40", "100"], stdout=subprocess.PIPE, text=True) as publisher:
    publisher.stdout.readline()
    second = subprocess.run([PUBLISHER, instance, "1", "100"], capture_output=True, text=True, check=False)
    ok(second.returncode == 73 and f"process {publisher.pid}" in second.stderr, "a second publisher is refused",
       second.stderr)
    reader = subprocess.run([READER, instance], capture_output=True, text=True, timeout=30, check=False)
numbers = [int(n) for n in re.findall(r"^frame (\d+),", reader.stdout, re.M)]
ok(numbers == sorted(set(numbers)) and numbers and numbers[-1] == 40 and "ended" in reader.stderr,
   "the example reads to the last frame and sees the end", reader.stdout + reader.stderr)
said = re.findall(r"^frame \d+, \d+ lost, \d+ stixels, (.*)$", reader.stdout, re.M)
ok(said and all(re.fullmatch(r"nearest \d{1,5}\.\d\d m|no obstacle", s) for s in said), "it names a distance, or none",
   reader.stdout)
with subprocess.Popen([PUBLISHER, instance, "100", "100"], stdout=subprocess.PIPE, text=True) as publisher:
    publisher.stdout.readline()
    with subprocess.Popen([READER, instance], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as reader:
        line = reader.stdout.readline()
        ok(line.startswith("frame ") and publisher.poll() is None, "a line of it comes when it is printed", line)
    publisher.wait()
gone = subprocess.run([READER, instance], capture_output=True, text=True, check=False)
ok(gone.returncode == 1 and "no stixel publisher" in gone.stderr and
   not os.path.exists(f"/dev/shm/stixeld.{instance}"), "without a publisher it says so", gone.stderr)
run = f"/run/stixeld/{instance}" if os.geteuid() == 0 else f"{os.environ['XDG_RUNTIME_DIR']}/stixeld/{instance}"
os.unlink(run + "/lock")
os.rmdir(run)
sys.exit(failed > 0)
