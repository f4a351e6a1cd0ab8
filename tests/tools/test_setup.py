"""tools/setup.sh: what it finds out about a machine, that a build folder follows its options, and the progress that it
shows (tools/progress.sh).

SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import glob
import os
import pty
import re
import signal
import stat
import struct
import subprocess
import termios
import time
import unittest

from support import Folder, SOURCE

MESON = """#!/bin/sh
eval folder=\\${$(($# - 1))}
mkdir -p "$folder"
touch "$folder/build.ninja"
echo "$@" >>"$LOG"
"""


class Setup(Folder):
    def stub(self, name, text):
        path = self.path("bin", name)
        os.makedirs(self.path("bin"), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, stat.S_IRWXU)

    def shell(self, text):
        """Returns the output of lines after setup.sh, which run as in tools/demo and tools/test."""
        env = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"], LOG=self.path("log"), top=SOURCE)
        script = "set -euo pipefail\n. tools/setup.sh\n" + text
        r = subprocess.run(["bash", "-c", script], cwd=SOURCE, env=env, stdout=subprocess.PIPE, text=True, check=True)
        return r.stdout

    def test_a_device_is_seen_by_its_driver(self):
        self.stub("nvidia-smi", '#!/bin/sh\n[ "$1" = -L ] && echo "GPU 0: one"\n')
        self.assertEqual(self.shell("has_nvidia_device && echo yes"), "yes\n")

    @unittest.skipIf(glob.glob("/dev/nv*"), "this machine has one")
    def test_no_device_is_seen(self):
        self.stub("nvidia-smi", '#!/bin/sh\necho "No devices were found"\nexit 6\n')
        self.assertEqual(self.shell("has_nvidia_device || echo none"), "none\n")

    def test_a_package_of_another_architecture_is_another_package(self):
        self.stub("dpkg", "#!/bin/sh\necho amd64\n")
        self.stub("dpkg-query", """#!/bin/sh
case $4 in
both) printf 'amd64 installed\\narm64 installed\\n' ;;
foreign) printf 'arm64 installed\\n' ;;
foreign:arm64) printf 'arm64 installed\\n' ;;
all) printf 'all installed\\n' ;;
gone) printf 'amd64 config-files\\n' ;;
*) exit 1 ;;
esac
""")
        self.assertEqual(self.shell("missing_packages both foreign foreign:arm64 all gone never").split(),
                         ["foreign", "gone", "never"])

    def test_lists_are_fetched_once_for_each_set_of_architectures(self):
        for name in ("apt-get", "dpkg"):
            self.stub(name, '#!/bin/sh\necho "%s $*" >>"$LOG"\n' % name)
        self.stub("dpkg-query", "#!/bin/sh\nexit 1\n")
        self.stub("id", "#!/bin/sh\necho 0\n")
        self.shell("need_packages a; need_packages b c; need_architecture arm64; need_packages d:arm64;"
                   "need_packages e")
        with open(self.path("log")) as f:
            lines = [line.split() for line in f]
        self.assertEqual([line[-1] if "install" in line else line[2] for line in lines if line[0] == "apt-get"],
                         ["update", "a", "c", "update", "d:arm64", "e"])

    def test_nothing_is_installed_when_asked_not_to(self):
        self.stub("apt-get", '#!/bin/sh\necho "$*" >>"$LOG"\n')
        self.stub("dpkg", "#!/bin/sh\necho \"$*\" >>\"$LOG\"\n")
        self.stub("dpkg-query", "#!/bin/sh\nexit 1\n")
        self.shell("STIXEL_NO_INSTALL=1; need_packages a b; need_architecture arm64")
        with open(self.path("log")) as f:
            self.assertEqual([line for line in f if "print" not in line], [])

    def test_the_archive_of_this_machine(self):
        self.stub("apt-get", """#!/bin/sh
. /etc/os-release
[ ! -e "$LOG" ] || echo "Translations $VERSION_CODENAME main http://no/"
[ ! -e "$LOG" ] || echo "Packages $VERSION_CODENAME-security main http://security/"
[ ! -s "$LOG" ] || echo "Packages $VERSION_CODENAME contrib http://no/"
[ ! -s "$LOG" ] || echo "Packages $VERSION_CODENAME main http://archive/"
""")
        mirror = "apt_mirror 2>&1 || echo none"
        self.assertRegex(self.shell(mirror), "apt's lists are empty, .*apt-get update.*\nnone\n$")
        with open(self.path("log"), "w"):
            self.assertRegex(self.shell(mirror), "apt knows no archive of .*\nnone\n$")
        with open(self.path("log"), "w") as f:
            f.write("filled")
        self.assertEqual(self.shell(mirror), "http://archive/\n")

    def test_what_is_made_is_as_old_as_its_commit(self):
        with open(os.path.join(SOURCE, "NEWS.md")) as f:
            self.assertIn("\n## %s, " % self.shell("tree_version").strip(), f.read())
        self.assertEqual(self.shell("SOURCE_DATE_EPOCH=17; source_date"), "17\n")
        top = self.path("tree")
        self.assertEqual(self.shell("top=%s; unset SOURCE_DATE_EPOCH; source_date || echo none" % top), "none\n")

    def test_meson_that_is_too_old_is_named_with_what_to_do(self):
        for version, fits in (("0.56.2", False), ("0.60.3", False), ("0.61.0", True), ("1.11.2", True)):
            self.stub("meson", "#!/bin/sh\necho %s\n" % version)
            said = self.shell("(need_meson) 2>&1 || echo ended")
            self.assertEqual(said == "", fits, said)
            if not fits:
                self.assertRegex(said, r"Meson %s is too old, 0\.61 is needed.*pip3 install meson" % version)

    def test_a_build_folder_follows_its_options(self):
        self.stub("meson", MESON)
        folder = self.path("build")
        for options in ("-Da=1 -Db=2", "-Da=1 -Db=2", "-Da=1"):
            self.shell("configure %s %s" % (folder, options))
        with open(self.path("log")) as f:
            self.assertEqual([line.split(" ", 1)[1].split(" " + folder)[0] for line in f], ["-Da=1 -Db=2", "-Da=1"])

    def test_steps_of_a_log(self):
        for text, step in (("a\n[12/538] cc -c \ta.c\n", ": 12 of 538"),
                           (" 3/93 stixeld:base  OK 0.1s\n\n", ": 3 of 93"),
                           ("Get:7  http://archive/ \033[1mx\r", ": Get:7 http://archive/ [1mx"), ("\n", ""), ("", "")):
            with open(self.path("log"), "w") as f:
                f.write(text)
            self.assertEqual(self.shell("progress_step %s || true" % self.path("log")).strip(), step)
        self.assertEqual(self.shell("progress_step /none || true"), "")

    WORK = "progress_begin work {log}; for i in 1 2 3; do echo \"[$i/3] $(seq -s ' ' 99)\" >>{log}; sleep 1; done; "

    def test_progress_without_a_terminal(self):
        work = self.WORK.format(log=self.path("log"))
        said = self.shell("exec 2>&1; progress_seconds=(1 1); %s progress_end; say end" % work).splitlines()
        self.assertRegex(said[0], r"^bash: work, [12] s: [123] of 3$")
        at = [int(re.search(r", (\d+) s", line).group(1)) for line in said[:-1]]
        self.assertEqual(at, sorted(set(at)))  # at most one line a second
        self.assertEqual(said[-1], "bash: end")
        # quick work shows nothing, nor does work among other work; a script that ends early leaves nothing behind
        for text in ("", "progress_seconds=(1 1) progress_off=yes; "):
            self.assertEqual(self.shell("exec 2>&1; %s%s say end" % (text, work)), "bash: end\n")

    def test_the_end_of_progress_runs_no_trap_of_the_script(self):
        """A shell that is ended at once after its start still has the trap of the script that started it."""
        self.assertEqual(self.shell("trap 'echo end' EXIT; for i in {1..50}; do progress_begin x; progress_end; done"),
                         "end\n")

    def test_progress_on_a_terminal(self):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
        work = self.WORK.format(log=self.path("log"))
        script = "set -euo pipefail; . tools/setup.sh; %s say middle; progress_end; %s read x" % (work, work)
        p = subprocess.Popen(["bash", "-c", script], cwd=SOURCE, env=dict(os.environ, TERM="xterm", top=SOURCE),
                             stderr=slave, stdin=subprocess.PIPE)
        os.close(slave)
        time.sleep(7)
        p.send_signal(signal.SIGKILL)  # the process that shows the progress notices this and ends
        p.communicate()
        got = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the last process that has the terminal ended
                break
            got += part
        os.close(master)
        lines = [re.sub(r"\033\[K", "", line) for line in re.split(r"[\r\n]+", got.decode())]
        self.assertIn("bash: middle", lines)
        self.assertTrue([line for line in lines if re.match("bash: work, [3-6] s: 3 ", line)], lines)  # it goes on
        self.assertLess(max(map(len, lines)), 20)


if __name__ == "__main__":
    unittest.main()
