"""Telling a running instance to use the calibration: the order that stixelctl set gives.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

from .fail import CONFIG, DATA, FAILED, NOT_ALLOWED, NOTHING, UNAVAILABLE, USAGE, Fail

PROGRAM = "stixelctl"
CODES = (NOTHING, DATA, FAILED, NOT_ALLOWED, CONFIG)  # of stixelctl set, and they mean the same here


def _changes(path):
    """Its folder is not that of the daemon. Images that were to stay raw for calibrating are no longer."""
    return ["camera.calibration=" + os.path.abspath(path), "camera.rectify=auto"]


def check_name(path):
    """Fail where the daemon would read another name: said before the work, not after it."""
    name = os.path.abspath(path)
    if "," in name or " ;" in name or len(os.fsencode(name)) > 511 or not name.isprintable():
        raise Fail(USAGE, "%s: no name that camera.calibration can have (a comma, ' ;', a control character or more "
                   "than 511 bytes); --no-apply writes it all the same" % path)


def command(instance, path):
    """What a user types for it; instance None: one of any name."""
    words = [PROGRAM, "-i", shlex.quote(instance) if instance else "NAME", "set"]
    return " ".join(words + [shlex.quote(change) for change in _changes(path)])


def _program():
    """The one that is installed beside this program, else that of PATH."""
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), PROGRAM)
    return beside if os.access(beside, os.X_OK) else shutil.which(PROGRAM)


def _why_not(instance, path, code, said):
    """A sentence and what to do."""
    text = "; ".join(re.sub("^%s: " % PROGRAM, "", line) for line in said.splitlines())
    text = "instance '%s' does not use %s yet: %s" % (instance, path, text or "%s ended with %d" % (PROGRAM, code))
    of_file = code == CONFIG and os.path.abspath(path) + ":" in text
    if of_file and any(words in text for words in ("does not exist", "No such file", "Permission denied")):
        return text + (" (the daemon has to be able to read it: as a service it sees neither /home nor /tmp; copy it "
                       "to /etc/stixeld)")
    if re.search("needs? a restart", text):
        return text + (" (put camera.calibration = %s into its configuration, and restart it)" % os.path.abspath(path))
    if code == NOT_ALLOWED or "Permission denied" in text:
        return text + " (sudo %s)" % command(instance, path)
    return text + " (once more: %s)" % command(instance, path)


def apply(instance, path):
    """Lines that the daemon answered; Fail where it does not use the file, which stays."""
    program = _program()
    if program is None:
        raise Fail(UNAVAILABLE, "%s is not there to tell instance '%s' of %s: restart it with camera.calibration = %s"
                   % (PROGRAM, instance, path, os.path.abspath(path)))
    r = subprocess.run([program, "-i", instance, "set", *_changes(path)], capture_output=True, text=True, check=False)
    if r.returncode:
        raise Fail(r.returncode if r.returncode in CODES else FAILED, _why_not(instance, path, r.returncode, r.stderr))
    return r.stdout.splitlines()
