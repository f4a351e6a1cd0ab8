"""tools/setup.sh: what it finds out about a machine, and that a build folder follows its options.

SPDX-License-Identifier: Apache-2.0
"""
import os
import stat
import subprocess
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
        """Output of the lines behind setup.sh, as tools/demo and tools/test run them."""
        env = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"], LOG=self.path("log"), top=SOURCE)
        script = "set -euo pipefail\n. tools/setup.sh\n" + text
        r = subprocess.run(["bash", "-c", script], cwd=SOURCE, env=env, stdout=subprocess.PIPE, text=True, check=True)
        return r.stdout

    @unittest.skipIf(os.path.exists("/proc/device-tree/compatible"), "this machine answers by its device tree")
    def test_architectures_of_devices(self):
        self.stub("nvidia-smi", '#!/bin/sh\n[ "$1" = -L ] && echo "GPU 0: one" || printf "9.0\\n8.7\\n9.0\\n"\n')
        self.assertEqual(self.shell("has_nvidia_device && nvidia_architectures"), "87\n90\n")

    @unittest.skipIf(os.path.exists("/proc/device-tree/compatible"), "this machine answers by its device tree")
    def test_no_answer_is_no_architecture(self):
        self.stub("nvidia-smi", '#!/bin/sh\necho "No devices were found"\nexit 6\n')
        self.assertEqual(self.shell("nvidia_architectures; echo end"), "end\n")
        self.stub("nvidia-smi", "#!/bin/sh\necho '[N/A]'\n")
        self.assertEqual(self.shell("nvidia_architectures; echo end"), "end\n")

    def test_a_build_folder_follows_its_options(self):
        self.stub("meson", MESON)
        folder = self.path("build")
        for options in ("-Da=1 -Db=2", "-Da=1 -Db=2", "-Da=1"):
            self.shell("configure %s %s" % (folder, options))
        with open(self.path("log")) as f:
            self.assertEqual([line.split(" ", 1)[1].split(" " + folder)[0] for line in f], ["-Da=1 -Db=2", "-Da=1"])


if __name__ == "__main__":
    unittest.main()
