"""Tests packaging/repository with apt: a signed archive is accepted, and one that was changed or signed by another key
is refused.

apt runs with folders of its own, so that neither its settings nor its lists on this machine matter. The keys are made
in a folder that the test removes.
SPDX-License-Identifier: Apache-2.0
"""
import glob
import lzma
import os
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PROGRAMS = ("apt-get", "apt-ftparchive", "dpkg-deb", "gpg", "gpg-agent")
NATIVE = shutil.which("dpkg") and subprocess.run(["dpkg", "--print-architecture"], stdout=subprocess.PIPE, text=True,
                                                 check=True).stdout.strip()


@unittest.skipUnless(all(map(shutil.which, PROGRAMS)), "needs " + ", ".join(PROGRAMS))
class Repository(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.mkdtemp(prefix="stixel-")
        cls.addClassCleanup(shutil.rmtree, cls.keys, ignore_errors=True)
        os.environ["GNUPGHOME"] = cls.keys
        cls.addClassCleanup(subprocess.run, ["gpgconf", "--kill", "all"], check=False)
        for name in ("signer", "other"):
            subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key",
                            name + "@example.invalid", "ed25519", "sign", "never"], check=True)

    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        os.chmod(self.top, 0o755)  # apt reads as its own user
        self.folder = self.path("archive with spaces")
        for suite in ("bookworm", "trixie"):
            self.package(suite, "stixeld", NATIVE)
            self.package(suite, "stixel-calibrate", "all")
        self.package("trixie", "stixeld", "riscv64")

    def path(self, *names):
        return os.path.join(self.top, *names)

    def run_it(self, *command, code=0, **env):
        r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                           env=dict(os.environ, LC_ALL="C", **env))
        self.assertEqual(r.returncode, code, r.stdout)
        return r.stdout

    def package(self, suite, name, architecture):
        tree = self.path("tree", suite, name, architecture)
        os.makedirs(tree + "/DEBIAN")
        with open(tree + "/DEBIAN/control", "w") as f:
            f.write("Package: %s\nVersion: 1~%s\nArchitecture: %s\nMaintainer: nobody <n@example.invalid>\n"
                    "Description: none\n" % (name, suite, architecture))
        pool = os.path.join(self.folder, "pool", suite)
        os.makedirs(pool, exist_ok=True)
        self.run_it("dpkg-deb", "-Znone", "-b", tree, pool + "/%s_1~%s_%s.deb" % (name, suite, architecture))

    def make(self, *key):
        return self.run_it(os.path.join(SOURCE, "packaging", "repository"), self.folder,
                           "file:" + self.folder.replace(" ", "%20"), *key)

    def apt(self, *command, code=0):
        for name in ("state/lists/partial", "cache/archives/partial", "etc/sources.list.d", "etc/preferences.d",
                     "etc/apt.conf.d"):
            os.makedirs(self.path("apt", name), exist_ok=True)
        with open(self.path("apt/state/status"), "w"):
            pass
        options = {"Dir": self.path("apt"), "Dir::Etc": "etc", "Dir::State": "state", "Dir::State::status": "status",
                   "Dir::Cache": "cache", "Debug::NoLocking": "1", "APT::Architecture": NATIVE,
                   "APT::Sandbox::User": "root"}  # another user cannot enter the folder if it lies below a private one
        with open(self.path("apt.conf"), "w") as f:
            f.writelines('%s "%s";\n' % option for option in options.items())
        return self.run_it("apt-get", *command, code=code, APT_CONFIG=self.path("apt.conf"))

    def enter(self, suite="trixie"):
        """Does what the page of a release says: copies one file."""
        os.makedirs(self.path("apt/etc/sources.list.d"), exist_ok=True)
        shutil.copy(os.path.join(self.folder, "stixeld-%s.sources" % suite),
                    self.path("apt/etc/sources.list.d/stixeld.sources"))

    def lists(self):
        return [os.path.join(place, n) for place, _, names in os.walk(self.path("apt/state/lists")) for n in names
                if n.endswith("Packages")]

    def test_apt_takes_it(self):
        self.make("signer@example.invalid")
        self.enter()
        said = self.apt("update")
        self.assertNotIn("W:", said)
        said = self.apt("-s", "install", "stixeld", "stixel-calibrate")
        self.assertIn("Inst stixeld (1~trixie stixeld:trixie [%s])" % NATIVE, said)
        self.assertIn("Inst stixel-calibrate (1~trixie stixeld:trixie [all])", said)
        # each release has its own packages, and each architecture its own list
        self.assertEqual(self.architectures("bookworm"), {NATIVE})
        self.assertEqual(self.architectures("trixie"), {NATIVE, "riscv64"})
        self.enter("bookworm")
        self.apt("update")
        self.assertIn("Inst stixeld (1~bookworm ", self.apt("-s", "install", "stixeld"))
        self.apt("-y", "install", "--download-only", "stixeld")

    def architectures(self, suite):
        return {os.path.basename(p).split("-")[1] for p in glob.glob(
            os.path.join(self.folder, "dists", suite, "main", "binary-*"))}

    def test_a_changed_list_or_package_is_refused(self):
        self.make("signer@example.invalid")
        self.enter()
        signed = os.path.join(self.folder, "dists/trixie/InRelease")
        with open(signed) as f:
            text = f.read()
        with open(signed, "w") as f:
            f.write(text.replace("Label: stixeld", "Label: Stixeld"))
        self.assertIn("BADSIG", self.apt("update", code=100))
        with open(signed, "w") as f:
            f.write(text)
        place = os.path.join(self.folder, "dists/trixie/main/binary-" + NATIVE)
        shutil.move(place + "/Packages.xz", self.path("good.xz"))
        with lzma.open(self.path("good.xz"), "rt") as f, lzma.open(place + "/Packages.xz", "wt") as g:
            g.write(f.read().replace("Version: 1~trixie", "Version: 9~trixie"))
        self.assertRegex(self.apt("update", code=100), "E: Failed to fetch .*(Hash Sum mismatch|unexpected size)")
        self.assertEqual(self.lists(), [])
        shutil.move(self.path("good.xz"), place + "/Packages.xz")
        self.apt("update")
        with open(os.path.join(self.folder, "pool/trixie/stixeld_1~trixie_%s.deb" % NATIVE), "r+b") as f:
            f.seek(-1, os.SEEK_END)
            f.write(b"x")
        self.assertRegex(self.apt("-y", "install", "stixeld", code=100), "Hash Sum mismatch")

    def test_another_key_and_no_key_are_refused(self):
        self.make("signer@example.invalid")
        self.enter()
        for key, said in (["other@example.invalid"], "NO_PUBKEY"), ([], "not signed"):
            self.make(*key)
            self.assertIn(said, self.apt("update", code=100))
            self.assertEqual(self.lists(), [])

    def test_usage(self):
        self.run_it(os.path.join(SOURCE, "packaging", "repository"), code=64)
        shutil.rmtree(self.folder + "/pool")
        os.mkdir(self.folder + "/pool")
        said = self.run_it(os.path.join(SOURCE, "packaging", "repository"), self.folder, "file:/", code=1)
        self.assertRegex(said, "^repository: .* has no folder with packages\n$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
