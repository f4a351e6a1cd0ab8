"""Makes a running instance use the calibration, by means of `stixelctl set`.

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
CODES = (NOTHING, DATA, FAILED, NOT_ALLOWED, CONFIG)  # exit codes of stixelctl set; they mean the same here


def _changes(path):
    """Returns the settings to change. The path is absolute, because the daemon runs in another folder. Rectification
    returns to auto, because images no longer have to stay raw."""
    return ["camera.calibration=" + os.path.abspath(path), "camera.rectify=auto"]


def check_name(path):
    """Raises Fail if the daemon could not read this file name from a setting. Called before the calibration, so that
    no work is lost."""
    name = os.path.abspath(path)
    if "," in name or " ;" in name or len(os.fsencode(name)) > 511 or not name.isprintable():
        raise Fail(USAGE, "%s: no name that camera.calibration can have (a comma, ' ;', a control character or more "
                   "than 511 bytes); --no-apply writes it all the same" % path)


def command(instance, path):
    """Returns the command that a user types to apply the calibration. instance None: the command has the placeholder
    NAME."""
    words = [PROGRAM, "-i", shlex.quote(instance) if instance else "NAME", "set"]
    return " ".join(words + [shlex.quote(change) for change in _changes(path)])


def _program():
    """Returns the path of the stixelctl beside this program, else of the one in PATH."""
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), PROGRAM)
    return beside if os.access(beside, os.X_OK) else shutil.which(PROGRAM)


def _why_not(instance, path, code, said):
    """Returns a sentence that says why the instance does not use the file, and what to do."""
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
    """Applies the calibration. Returns the lines that the daemon answered. Raises Fail if the daemon does not use
    the file; the file stays."""
    program = _program()
    if program is None:
        raise Fail(UNAVAILABLE, "%s is not there to tell instance '%s' of %s: restart it with camera.calibration = %s"
                   % (PROGRAM, instance, path, os.path.abspath(path)))
    r = subprocess.run([program, "-i", instance, "set", *_changes(path)], capture_output=True, text=True, check=False)
    if r.returncode:
        raise Fail(r.returncode if r.returncode in CODES else FAILED, _why_not(instance, path, r.returncode, r.stderr))
    return r.stdout.splitlines()
