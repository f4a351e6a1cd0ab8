# Tests completion in real shells with the installed files, and the man pages, which come from the same tables.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from support import BUILD, run

PROGRAMS = ("stixeld", "stixelctl", "stixel-process", "stixel-bench")
MAN = os.environ.get("STIXEL_MAN") and shutil.which("man")
FILES = os.path.join(BUILD, "tools", "completion")
# A line to complete, words that must be offered, words that must not. An empty last word asks for the next word.
CASES = [
    ("stixelctl ", ["status", "snapshot", "doctor"], []),
    ("stixelctl st", ["status"], ["snapshot"]),
    ("stixelctl -i front d", ["dump", "doctor"], ["status"]),
    ("stixelctl --instance fr", ["front"], ["status"]),
    ("stixelctl dump --", ["--frames", "--json", "--timeout", "--instance"], ["--watch", "--config"]),
    ("stixelctl -i front status --", ["--watch", "--interval"], ["--timeout"]),
    ("stixelctl snapshot pic", ["picture.png"], ["status"]),
    ("stixelctl doctor -c pic", ["picture.png"], []),
    ("stixeld --pr", ["--print-config"], ["--check-config"]),
    ("stixeld -s realtime.", ["realtime.priority", "realtime.lock_memory"], ["source.kind"]),
    ("stixeld -s stereo.cost=cs", ["csct"], ["census"]),
    ("stixel-process -o fol", ["folder"], ["picture.png"]),
    ("stixel-process pic", ["picture.png"], []),
    ("stixel-bench --ta", ["--table"], ["--timeline"]),
    ("stixel-bench --help-k", ["--help-keys"], ["--help"]),
    ("stixeld --help-keys st", ["stereo", "stixels"], ["source"]),
    ("stixeld --help-keys ", ["road", "log"], ["model"]),
    ("stixeld -s stixels.", ["stixels.width"], ["stixels.p_order", "model.p_order"]),
    ("stixeld -s ", ["road.top"], ["model.p_order", "stixels.p_order"]),
]


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="stixel-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        open(cls.folder + "/picture.png", "w").close()
        os.mkdir(cls.folder + "/folder")
        os.makedirs(cls.folder + "/stixeld/front")
        open(cls.folder + "/stixeld/front/status.sock", "w").close()
        cls.env = dict(os.environ, XDG_RUNTIME_DIR=cls.folder, HOME=cls.folder, TERM="dumb", LC_ALL="C")

    def check(self, offered, line, wanted, unwanted):
        # fish offers whole words, bash the part after "=", and zsh adds that part itself. A folder may end with a
        # slash.
        ends = {w.split("=")[-1] for w in offered} | {w.rstrip("/=") for w in offered}
        for word in wanted:
            self.assertIn(word, ends, "%r offers %s" % (line, sorted(offered)))
        for word in unwanted:
            self.assertNotIn(word, ends, line)

    def test_bash(self):
        for line, wanted, unwanted in CASES:
            with self.subTest(line):
                name = line.split()[0]
                words = re.findall(r"[^\s=]+|=", line) + ([""] if line.endswith((" ", "=")) else [])
                script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); %s; '
                          'printf "%%s\\n" "${COMPREPLY[@]}"')
                r = subprocess.run(["bash", "-c", script % ("_" + name.replace("-", "_")), "bash", FILES + "/" + name,
                                    *words],
                                   capture_output=True, text=True, cwd=self.folder, env=self.env, timeout=60)
                self.assertEqual(r.stderr, "")
                self.check(set(r.stdout.split()), line, wanted, unwanted)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_bash_is_sound(self):
        r = subprocess.run(["shellcheck", *(FILES + "/" + p for p in PROGRAMS)], capture_output=True, text=True)
        self.assertEqual(r.stdout, "")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        script = "".join("source %s/%s.fish\n" % (FILES, p) for p in PROGRAMS)
        script += "".join("echo '@%s'; complete -C'%s'\n" % (line, line) for line, _, _ in CASES)
        r = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, cwd=self.folder,
                           env=self.env, timeout=120)
        self.assertEqual(r.stderr, "")
        answers = dict(part.split("\n", 1) for part in r.stdout[1:].split("\n@"))
        for line, wanted, unwanted in CASES:
            with self.subTest(line):
                self.check({a.split("\t")[0] for a in answers[line].splitlines()}, line, wanted, unwanted)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        with Zsh(self.folder, self.env) as z:
            for line, wanted, unwanted in CASES:
                with self.subTest(line):
                    self.check(z.complete(line), line, wanted, unwanted)


class Zsh:
    """An interactive zsh that writes its completion list to a file instead of the screen."""

    SETUP = """
fpath=(%s $fpath)
autoload -U compinit && compinit -u -D
zstyle ':completion:*' list-prompt ''
compadd() {
    local -a hits
    local -i i
    for ((i = 1; i <= $#; i++)); do [[ ${argv[i]} == -(O|A|D)* ]] && { builtin compadd "$@"; return }; done
    builtin compadd -O hits "$@"
    print -rl -- $hits >>$HITS
    builtin compadd "$@"
}
LISTMAX=10000
PS1='' ; unsetopt zle_bracketed_paste 2>/dev/null
bindkey '^I' complete-word
done-line() { print -r -- END >>$HITS; BUFFER=; zle redisplay }
zle -N done-line
bindkey '^X' done-line
print -r -- END >>$HITS
"""

    def __init__(self, folder, env):
        self.folder, self.hits = folder, folder + "/hits"
        with open(folder + "/.zshrc", "w") as f:
            f.write(self.SETUP % FILES)
        self.env = dict(env, ZDOTDIR=folder, HITS=self.hits)

    def __enter__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-i", "-d"], self.env)
        self.wait()
        return self

    def __exit__(self, *_):
        os.close(self.fd)
        os.waitpid(self.pid, 0)

    def wait(self):
        end = time.monotonic() + 60
        screen = b""
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.02)[0]:
                screen += os.read(self.fd, 65536)
            if os.path.exists(self.hits):
                with open(self.hits) as f:
                    text = f.read()
                if text.endswith("END\n"):
                    os.unlink(self.hits)
                    return text.split("\n")[:-2]
        raise AssertionError("zsh does not answer: %r" % screen)

    def complete(self, line):
        os.write(self.fd, line.encode() + b"\t\x18")
        return {w for w in self.wait() if w}


class ManPages(unittest.TestCase):
    """Each man page has the commands and options of --help with their texts."""

    @unittest.skipUnless(MAN, "built without man pages, or man is not installed")
    def test_every_option(self):
        for name, section in zip(PROGRAMS, "8111"):
            with self.subTest(name):
                page = os.path.join(BUILD, "docs", "man", "%s.%s" % (name, section))
                r = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, env=dict(
                    os.environ, MANWIDTH="200", LC_ALL="C.UTF-8"))
                self.assertEqual((r.returncode, r.stderr), (0, ""))
                self.assertNotRegex(r.stdout, r"@[A-Z]+@")
                told = run(name, "--help").stdout
                for option in set(re.findall(r"(?m)^ .*(--[a-z-]+)", told)):
                    self.assertIn(option, r.stdout)

    def test_rows_become_a_page(self):
        no = {"letter": "", "commands": [], "many": False, "help": ""}
        table = {"program": "prog", "exits": [[64, "wrong usage"]], "own": {},
                 "options": [dict(no, name="number", letter="n", argument="N", commands=["second"], help="large"),
                             dict(no, name="help")],
                 "commands": [{"name": "second", "operands": "A [B.png]", "help": "the second one",
                               "more": "has more\nof it\n\nmuch more"}]}
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/t.json", "w") as f:
                json.dump(table, f)
            for page, wanted in (("@COMMANDS@", "*second* \\[*-n* _N_\\] _A_ \\[_B.png_\\]\n\tThe second one."
                                  "\n\n\tHas more++\n\tof it\n\n\tmuch more."),
                                 ("@OPTIONS@", "*-n*, *--number* _N_\n\tOf *second*: Large.\n\n*--help*\n\tPrints "
                                  "help, after a command that of the command, and exits."),
                                 ("@EXITS@\nkept", "*64*\n\tWrong usage.\nkept"), ("@OPTION@", None)):
                with open(folder + "/p.scd", "w") as f:
                    f.write(page + "\n")
                script = os.path.join(os.environ["STIXEL_SOURCE"], "docs", "man", "program.py")
                r = subprocess.run([sys.executable, script, folder + "/t.json", folder + "/p.scd"],
                                   capture_output=True, text=True)
                self.assertEqual((r.returncode != 0, r.stdout), (wanted is None, wanted + "\n" if wanted else ""))

    def test_overview(self):
        """stixel(7) names every page, and every page names stixel(7) at its end."""
        folder = os.path.join(os.environ["STIXEL_SOURCE"], "docs", "man")
        names = [re.fullmatch(r"(.+)\.(\d)\.scd", f) for f in sorted(os.listdir(folder)) if f.endswith(".scd")]
        pages = ["*%s*(%s)" % n.groups() for n in names] + ["*stixeld.conf*(5)"]
        self.assertGreaterEqual(len(pages), 10)
        with open(os.path.join(folder, "stixel.7.scd"), encoding="utf-8") as f:
            overview = f.read()
        for page in pages:
            self.assertEqual(page in overview, page != "*stixel*(7)", page)
        for n in names:
            with open(os.path.join(folder, n.group(0)), encoding="utf-8") as f:
                see = f.read().split("# SEE ALSO")[1]
            if n.group(1) != "stixel":
                self.assertIn("*stixel*(7)", see, n.group(0))

    @unittest.skipUnless(MAN, "built without man pages, or man is not installed")
    def test_library_and_formats(self):
        with open(os.path.join(os.environ["STIXEL_SOURCE"], "include", "stixel.h"), encoding="utf-8") as f:
            header = f.read()
        shown = {}
        for page in ("libstixel.3", "stixel-frame.5"):
            r = subprocess.run(["man", "-l", os.path.join(BUILD, "docs", "man", page)], capture_output=True, text=True,
                               env=dict(os.environ, MANWIDTH="200", LC_ALL="C.UTF-8"))
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertNotIn("@", r.stdout)
            shown[page] = r.stdout
        functions = re.findall(r"STIXEL_API [^;]*?(stixel_\w+)\(", header)
        self.assertGreater(len(functions), 12)
        for name in functions:
            self.assertIn(name + "(", shown["libstixel.3"])
        # options of a call are no part of a frame
        asserted = re.findall(r"STIXEL_AT\((?!\w+_options)\w+, (\w+), (\d+)\)", header)
        self.assertGreater(len(asserted), 80)
        for field, at in asserted:
            self.assertRegex(shown["stixel-frame.5"],
                             r"(?m)^ +%s +(u?int\d+_t|char|double|float)\S* +%s\b" % (at, field))


if __name__ == "__main__":
    unittest.main()
