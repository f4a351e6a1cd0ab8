# Which CUDA toolkit is built with: the one in PATH, or the one that -Dgpu_toolkit names, whatever lies in PATH.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import tempfile
import unittest

MESON, SOURCE = os.environ["STIXEL_MESON"], os.environ["STIXEL_SOURCE"]


class Toolkit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.in_path = self.toolkit("one", "13.1")

    def toolkit(self, name, release):
        """Looks like one as long as nothing is compiled."""
        path = os.path.join(self.folder, name)
        os.makedirs(path + "/bin")
        os.mkdir(path + "/lib64")
        with open(path + "/lib64/libcudart_static.a", "wb") as f:
            f.write(b"!<arch>\n")
        with open(path + "/bin/nvcc", "w") as f:
            f.write("#!/bin/sh\necho 'Cuda compilation tools, release %s, V%s.1'\n" % (release, release))
        os.chmod(path + "/bin/nvcc", 0o755)
        return path

    def configure(self, *options):
        """(succeeded, output) with the first toolkit's nvcc in PATH."""
        env = dict(os.environ, PATH=self.in_path + "/bin:" + os.environ["PATH"])
        r = subprocess.run([MESON, "setup", "-Dengines_only=true", "-Dtests=false", *options, SOURCE,
                            tempfile.mkdtemp(dir=self.folder)], env=env, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
        return r.returncode == 0, r.stdout

    def assert_built_with(self, release, *options):
        good, said = self.configure(*options)
        self.assertTrue(good, said)
        self.assertEqual(re.findall(r"nvcc ([0-9.]+)", said), [release], said)

    def assert_refused(self, folder):
        for cuda in ("auto", "enabled"):
            good, said = self.configure("-Dgpu_toolkit=" + folder, "-Dcuda=" + cuda)
            self.assertFalse(good, said)
            self.assertIn('gpu_toolkit is no folder of a CUDA toolkit, with its whole path: there is no "%s/bin/nvcc"'
                          % folder, said)

    def test_the_one_in_path(self):
        self.assert_built_with("13.1")

    def test_a_given_one_comes_before_that_in_path(self):
        self.assert_built_with("11.4", "-Dgpu_toolkit=" + self.toolkit("two", "11.4"))

    def test_a_folder_that_is_none_is_refused(self):
        self.assert_refused(self.folder + "/nowhere")
        os.makedirs(self.folder + "/empty/bin")
        self.assert_refused(self.folder + "/empty")

    def test_a_relative_folder_is_refused(self):
        self.assert_refused(os.path.relpath(self.toolkit("two", "11.4"), SOURCE))

    def test_without_cuda_it_is_not_looked_at(self):
        good, said = self.configure("-Dgpu_toolkit=/nowhere", "-Dcuda=disabled")
        self.assertTrue(good, said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
