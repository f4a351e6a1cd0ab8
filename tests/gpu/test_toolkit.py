# Build of the module: the CUDA toolkit, the target devices, and the compiler arguments.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import tempfile
import unittest

MESON, SOURCE = os.environ["STIXEL_MESON"], os.environ["STIXEL_SOURCE"]


JETSON = "/proc/device-tree/compatible"
KNOWN = "75 80 86 87 88 89 90 100 103 110 120 121"


class Configured(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.in_path = self.toolkit("one", "13.1", KNOWN)

    def toolkit(self, name, release, knows=None):
        """Creates a fake toolkit, which passes as long as nothing is compiled. knows: output of --list-gpu-arch."""
        path = os.path.join(self.folder, name)
        os.makedirs(path + "/bin")
        os.mkdir(path + "/lib64")
        with open(path + "/lib64/libcudart_static.a", "wb") as f:
            f.write(b"!<arch>\n")
        listing = "exit 1" if knows is None else "printf 'compute_%s\\n' " + knows
        self.program(path + "/bin/nvcc", "[ \"$1\" = --list-gpu-arch ] && { %s; exit; }\n"
                     "echo 'Cuda compilation tools, release %s, V%s.1'" % (listing, release, release))
        return path

    def program(self, path, script):
        with open(path, "w") as f:
            f.write("#!/bin/sh\n" + script + "\n")
        os.chmod(path, 0o755)

    def devices(self, script):
        """Installs a fake nvidia-smi with this script."""
        self.program(self.in_path + "/bin/nvidia-smi", script)

    def configure(self, *options):
        """Returns (succeeded, output) with the first toolkit's nvcc in PATH."""
        env = dict(os.environ, PATH=self.in_path + "/bin:" + os.environ["PATH"])
        self.build = tempfile.mkdtemp(dir=self.folder)
        r = subprocess.run([MESON, "setup", "-Dengines_only=true", "-Dtests=false", *options, SOURCE, self.build],
                           env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return r.returncode == 0, r.stdout


class Toolkit(Configured):
    def assert_refused(self, folder, *choices):
        for cuda in choices:
            good, said = self.configure("-Dgpu_toolkit=" + folder, "-Dcuda=" + cuda)
            self.assertFalse(good, said)
            self.assertIn('gpu_toolkit is no folder of a CUDA toolkit, with its whole path: there is no "%s/bin/nvcc"'
                          % folder, said)

    def test_a_folder_that_is_none_is_refused(self):
        self.assert_refused(self.folder + "/nowhere", "enabled")
        os.makedirs(self.folder + "/empty/bin")
        self.assert_refused(self.folder + "/empty", "auto")

    def test_a_relative_folder_is_refused(self):
        self.assert_refused(os.path.relpath(self.toolkit("two", "11.4"), SOURCE), "auto")

    def test_without_cuda_it_is_not_looked_at(self):
        good, said = self.configure("-Dgpu_toolkit=/nowhere", "-Dcuda=disabled")
        self.assertTrue(good, said)


class Arguments(Configured):
    def arguments(self, release, *options):
        """Returns the arguments of nvcc for one file. release: of the toolkit that has to be used."""
        good, said = self.configure(*options)
        self.assertTrue(good, said)
        self.assertEqual(re.findall(r"nvcc ([0-9.]+)", said), [release], said)
        with open(self.build + "/build.ninja") as f:
            return next(line for line in f if "COMMAND = " in line and "stixel_dp.cu" in line).split()

    def test_what_options_change(self):
        """Checks -lineinfo, which lets profilers show source lines, and a compression that all drivers of the release
        can read. A given toolkit comes before the one in PATH."""
        usual = self.arguments("13.1")
        self.assertNotIn("-ccbin", usual)
        self.assertNotIn("-lineinfo", usual)
        self.assertIn("--compress-mode=size", usual)
        compiler = self.folder + "/g++-old"
        self.program(compiler, "exit 1")
        words = self.arguments("12.9", "--buildtype=debug", "-Dgpu_host_compiler=" + compiler, "-Dgpu_archs=87,90",
                               "-Dgpu_toolkit=" + self.toolkit("old", "12.9"))
        self.assertEqual(words[words.index("-ccbin") + 1], compiler)
        self.assertIn("-lineinfo", words)
        self.assertEqual(words[words.index("-Xfatbin") + 1], "-compress-all")
        self.assertNotIn("--compress-mode=size", words)
        # the last architecture is also built for later devices
        self.assertEqual([w for w in words if w.startswith("arch=")],
                         ["arch=compute_87,code=sm_87", "arch=compute_90,code=sm_90",
                          "arch=compute_90,code=compute_90"])

    def test_a_host_compiler_that_does_not_exist(self):
        good, said = self.configure("-Dgpu_host_compiler=g++-nowhere")
        self.assertFalse(good, said)
        self.assertIn("Program 'g++-nowhere' not found", said)


class Devices(Configured):
    ALL = "75 80 86 87 89 90 110 120"

    def setUp(self):
        super().setUp()
        self.devices("exit 9")

    def found(self, *tree):
        env = dict(os.environ, PATH=self.in_path + "/bin:" + os.environ["PATH"])
        return subprocess.run([SOURCE + "/gpu/devices.sh", *tree], stdout=subprocess.PIPE, text=True, check=True,
                              env=env).stdout.split()

    def assert_archs(self, want, *options):
        good, said = self.configure(*options)
        self.assertTrue(good, said)
        self.assertEqual(re.findall(r"architectures *: (.*)", said), [want], said)

    @unittest.skipIf(os.path.exists(JETSON), "may be a Jetson")
    def test_of_this_machine(self):
        self.assert_archs(self.ALL + " (all: no NVIDIA device was found here)")
        self.devices("printf '9.0\\n12.0\\n9.0\\n'")
        self.assert_archs("90 120 (of this machine; gpu_archs=all for others too)")
        self.assert_archs(self.ALL + " (all, as gpu_archs says)", "-Dgpu_archs=all")
        self.devices("echo 6.1")
        self.assert_archs(self.ALL + " (all: this nvcc does not know 61, which is here)")

    def test_what_nvidia_smi_says(self):
        for script, want in (("echo 8.7", ["87"]), ("printf '12.0\\n9.0\\n9.0\\n'", ["90", "120"]),
                             ("echo '[N/A]'", []),
                             ("echo 'NVIDIA-SMI has failed: no driver'; exit 9", []),
                             ("echo 'Field \"compute_cap\" is not a valid field to query.'; exit 2", [])):
            self.devices(script)
            self.assertEqual(self.found("/nowhere"), want)

    def test_jetsons(self):
        tree = self.folder + "/tree"
        for chip, want in (("tegra194", ["72"]), ("tegra234", ["87"]), ("tegra264", ["110"]), ("tegra186", [])):
            with open(tree, "wb") as f:
                f.write(b"nvidia,p3737-0000+p3701-0000\0nvidia," + chip.encode() + b"\0")
            self.assertEqual(self.found(tree), want)

    def test_what_nvcc_does_not_know_is_refused(self):
        for archs in ("87,72", "all,87"):
            good, said = self.configure("-Dgpu_archs=" + archs)
            self.assertFalse(good, said)
            self.assertRegex(said, r"gpu_archs = %s: nvcc 13.1 \(.*/one/bin/nvcc\) does not know \"" % archs)

    def test_an_nvcc_that_does_not_say_is_believed(self):
        old = "-Dgpu_toolkit=" + self.toolkit("old", "11.4")
        self.assert_archs("72 87 (as gpu_archs says)", old, "-Dgpu_archs=72,87")
        self.assert_archs("72 75 80 86 87 (all, as gpu_archs says)", old, "-Dgpu_archs=all")


if __name__ == "__main__":
    unittest.main(verbosity=2)
