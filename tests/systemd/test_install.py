# Tests "meson install" into an empty folder: every file is where a Debian system looks for it, and the installed
# programs work.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["STIXEL_BUILD"]
FOLDERS = json.loads(os.environ["STIXEL_FOLDERS"])
CC = os.environ["STIXEL_CC"].split()
SYMBOLS = os.path.join(os.environ["STIXEL_SOURCE"], "packaging/debian/libstixel1.symbols")

# {folder}: from the build's options. Files are marked if they need scdoc, CUDA or the service.
WANTED = """
{bindir}/stixel-calibrate                   python
{mandir}/man1/stixel-calibrate.1            man python
{datadir}/stixeld/calibrate/stixel_calibrate/__init__.py python
{datadir}/stixeld/calibrate/stixel_calibrate/__main__.py python
{datadir}/stixeld/calibrate/stixel_calibrate/apply.py python
{datadir}/stixeld/calibrate/stixel_calibrate/board.py python
{datadir}/stixeld/calibrate/stixel_calibrate/fail.py python
{datadir}/stixeld/calibrate/stixel_calibrate/files.py python
{datadir}/stixeld/calibrate/stixel_calibrate/lens.py python
{datadir}/stixeld/calibrate/stixel_calibrate/options.py python
{datadir}/stixeld/calibrate/stixel_calibrate/output.py python
{datadir}/stixeld/calibrate/stixel_calibrate/page.py python
{datadir}/stixeld/calibrate/stixel_calibrate/pairs.py python
{datadir}/stixeld/calibrate/stixel_calibrate/paper.py python
{datadir}/stixeld/calibrate/stixel_calibrate/program.py python
{datadir}/stixeld/calibrate/stixel_calibrate/report.py python
{datadir}/stixeld/calibrate/stixel_calibrate/solve.py python
{datadir}/stixeld/calibrate/stixel_calibrate/views.py python
{bindir}/stixel-bench
{bindir}/stixel-bridge                      python
{pythondir}/stixel_bridge/__init__.py       python
{mandir}/man1/stixel-bridge.1               man python numpy
{datadir}/doc/stixeld/examples/bridge-lan.conf python
{datadir}/doc/stixeld/examples/bridge-pairs.conf python
{unitdir}/stixel-bridge.service             systemd python
{sysusersdir}/stixel-bridge.conf            systemd python
/etc/stixel-bridge.conf                     systemd python
{bindir}/stixel-segment                     python
{pythondir}/stixel_segment/__init__.py      python
{mandir}/man1/stixel-segment.1              man python numpy
{datadir}/doc/stixeld/examples/segment-gpu.conf python
{unitdir}/stixel-segment@.service           systemd python
{sysusersdir}/stixel-segment.conf           systemd python
/etc/stixel-segment/example.ini             systemd python
{bindir}/stixel-process
{bindir}/stixel-web                         web
{bindir}/stixelctl
{bindir}/stixeld
{includedir}/stixel.h
{includedir}/stixel.hpp
{includedir}/stixel_convert.h
{includedir}/stixel_disparity.h
{includedir}/stixel_messages.h
{includedir}/stixel_pairs.h
{includedir}/stixel_recording.h
{libdir}/cmake/stixel/stixelConfig.cmake
{libdir}/cmake/stixel/stixelConfigVersion.cmake
{libdir}/gstreamer-1.0/libgststixel.so      gstreamer
{libdir}/libstixel-recording.so
{libdir}/libstixel-recording.so.1
{libdir}/libstixel-recording.so.1.0.0
{libdir}/libstixel.so
{libdir}/libstixel.so.1
{libdir}/libstixel.so.1.0.0
{libdir}/pkgconfig/stixel.pc
{libdir}/stixeld/stixel-cuda.so             cuda
{mandir}/man1/stixel-bench.1                man
{mandir}/man1/stixel-process.1              man
{mandir}/man1/stixel-web.1                  man web
{mandir}/man1/stixelctl.1                   man
{mandir}/man3/libstixel.3                   man
{mandir}/man5/stixel-frame.5                man
{datadir}/stixeld/presets/car.conf
{datadir}/stixeld/presets/fast.conf
{datadir}/stixeld/presets/indoor.conf
{datadir}/stixeld/presets/robot.conf
{mandir}/man5/stixeld.conf.5                man
{mandir}/man7/stixel.7                      man
{mandir}/man8/stixeld.8                     man
{datadir}/bash-completion/completions/stixel-bench
{datadir}/bash-completion/completions/stixel-process
{datadir}/bash-completion/completions/stixel-web web
{datadir}/bash-completion/completions/stixelctl
{datadir}/bash-completion/completions/stixeld
{datadir}/fish/vendor_completions.d/stixel-bench.fish
{datadir}/fish/vendor_completions.d/stixel-process.fish
{datadir}/fish/vendor_completions.d/stixel-web.fish web
{datadir}/fish/vendor_completions.d/stixelctl.fish
{datadir}/fish/vendor_completions.d/stixeld.fish
{datadir}/zsh/vendor-completions/_stixel-bench
{datadir}/zsh/vendor-completions/_stixel-process
{datadir}/zsh/vendor-completions/_stixel-web web
{datadir}/zsh/vendor-completions/_stixelctl
{datadir}/zsh/vendor-completions/_stixeld
{datadir}/doc/stixeld/examples/65-cameras.rules
{datadir}/doc/stixeld/examples/cpu.conf
{datadir}/doc/stixeld/examples/cuda.conf
{datadir}/doc/stixeld/examples/depthai_pairs.py python
{datadir}/doc/stixeld/examples/dmabuf.conf
{datadir}/doc/stixeld/examples/external.py     python
{datadir}/doc/stixeld/examples/files.conf
{datadir}/doc/stixeld/examples/jetson.conf
{datadir}/doc/stixeld/examples/free_space.py   python
{datadir}/doc/stixeld/examples/grafana-dashboard.json
{datadir}/doc/stixeld/examples/pairs.c
{datadir}/doc/stixeld/examples/pairs.py       python
{datadir}/doc/stixeld/examples/plot.py         python
{datadir}/doc/stixeld/examples/power.conf
{datadir}/doc/stixeld/examples/prometheus-rules.yml
{datadir}/doc/stixeld/examples/reader.c
{datadir}/doc/stixeld/examples/reader.py       python
{datadir}/doc/stixeld/examples/realsense_pairs.py python
{datadir}/doc/stixeld/examples/realtime.conf
{datadir}/doc/stixeld/examples/several.conf
{datadir}/doc/stixeld/examples/images.py       python
{datadir}/doc/stixeld/examples/repeat.py       python
{datadir}/doc/stixeld/examples/scores.c
{datadir}/doc/stixeld/examples/scores.py       python
{datadir}/doc/stixeld/examples/stixel-metrics@.service
{datadir}/doc/stixeld/examples/stixel-metrics@.timer
{datadir}/doc/stixeld/examples/stop.cpp
{datadir}/doc/stixeld/examples/stop.py        python
{datadir}/doc/stixeld/examples/scan_bag.py    python
{datadir}/doc/stixeld/examples/rerun_log.py   python
{datadir}/doc/stixeld/examples/open3d_view.py python
{datadir}/doc/stixeld/examples/nav2_bag.launch.py python
{datadir}/doc/stixeld/examples/boxes.py       python
{datadir}/doc/stixeld/examples/boxes.cpp
{datadir}/doc/stixeld/examples/two_cameras.py  python
{datadir}/doc/stixeld/examples/zed_pairs.py    python
{pythondir}/stixel-{version}.dist-info/METADATA     python
{pythondir}/stixel/__init__.py              python
{pythondir}/stixel/__main__.py              python
{pythondir}/stixel/_check.py                python
{pythondir}/stixel/_classes.py              python
{pythondir}/stixel/_clock.py                python
{pythondir}/stixel/_convert.py              python
{pythondir}/stixel/_daemon.py               python
{pythondir}/stixel/_disparity.py            python
{pythondir}/stixel/_errors.py               python
{pythondir}/stixel/_frame.py                python
{pythondir}/stixel/_geometry.py             python
{pythondir}/stixel/_layout.py               python
{pythondir}/stixel/_library.py              python
{pythondir}/stixel/_messages.py             python
{pythondir}/stixel/_open.py                 python
{pythondir}/stixel/_pairs.py               python
{pythondir}/stixel/_planes.py               python
{pythondir}/stixel/_program.py              python
{pythondir}/stixel/_reader.py               python
{pythondir}/stixel/_recorded.py             python
{pythondir}/stixel/_recording.py            python
{pythondir}/stixel/_remote.py               python
{pythondir}/stixel/_ring.py                 python
{pythondir}/stixel/_scores.py               python
{pythondir}/stixel/_status.py               python
{pythondir}/stixel/_url.py                  python
{pythondir}/stixel/_writer.py               python
{pythondir}/stixel/_zenoh.py                python
{pythondir}/stixel/_zenoh_session.py        python
{pythondir}/stixel/py.typed                 python
{datadir}/doc/stixeld/examples/web-lan.conf web
{unitdir}/stixel-web.service                systemd web
{unitdir}/stixeld@.service                  systemd
{unitdir}/stixeld@.socket                   systemd
{sysusersdir}/stixel-web.conf               systemd web
{sysusersdir}/stixeld.conf                  systemd
{tmpfilesdir}/stixeld.conf                  systemd
{udevdir}/rules.d/70-stixeld.rules          systemd
/etc/default/stixel-web                     systemd web
/etc/stixeld/example.conf                   systemd
"""
PARTS = set(os.environ["STIXEL_PARTS"].split())


def wanted():
    found = []
    for line in WANTED.strip().split("\n"):
        path, *part = line.format(**FOLDERS).split()
        if set(part) <= PARTS:
            found.append(path)
    if "python" in PARTS:  # all modules in the tree must be installed
        folder = os.path.join(os.environ["STIXEL_SOURCE"], "python/src")
        for package in ("stixel_bridge", "stixel_segment"):
            for top, _, names in os.walk(os.path.join(folder, package)):
                paths = [os.path.relpath(os.path.join(top, name), folder) for name in names
                         if name.endswith((".py", ".ini"))]
                found += [os.path.join(FOLDERS["pythondir"], path) for path in paths
                          if path != package + "/__init__.py"]
    return sorted(found)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix="stixel-")
        cls.log = subprocess.run([os.environ["STIXEL_MESON"], "install", "-C", BUILD, "--no-rebuild", "--destdir",
                                  cls.top], capture_output=True, text=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.top)

    def path(self, text):
        return self.top + text.format(**FOLDERS)

    def read(self, text):
        with open(self.path(text), encoding="utf-8") as f:
            return f.read()

    def installed(self, program, *args):
        env = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        env["LD_LIBRARY_PATH"] = self.path("{libdir}")
        return subprocess.run([self.path("{bindir}/") + program, *args], capture_output=True, text=True, env=env)

    def test_every_file_and_no_other(self):
        self.assertEqual(self.log.returncode, 0, self.log.stdout + self.log.stderr)
        found = [os.path.join(folder, f)[len(self.top):] for folder, _, files in os.walk(self.top) for f in files]
        self.assertEqual(sorted(found), wanted())

    def test_everybody_may_read_them(self):
        for path in wanted():
            mode = os.stat(self.top + path).st_mode & 0o777
            self.assertEqual(mode & 0o444, 0o444, path)
            self.assertEqual(mode & 0o022, 0, path)
            if path.startswith(FOLDERS["bindir"]):
                self.assertEqual(mode & 0o111, 0o111, path)

    def test_programs_run_without_the_build(self):
        for name in ("stixeld", "stixelctl", "stixel-process", "stixel-bench", *["stixel-web"] * ("web" in PARTS)):
            r = self.installed(name, "--version")
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertRegex(r.stdout, r"^%s \d" % name)

    def test_the_unit_starts_the_installed_program(self):
        if "systemd" not in PARTS:
            self.skipTest("the service is not part of this build")
        program = re.search(r"(?m)^ExecStart=(\S+)", self.read("{unitdir}/stixeld@.service")).group(1)
        self.assertEqual(program, FOLDERS["bindir"] + "/stixeld")
        r = self.installed("stixeld", "-c", self.path("/etc/stixeld/example.conf"), "--check-config")
        self.assertEqual((r.returncode, r.stderr), (0, ""))

    def test_a_program_is_built_by_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("pkg-config is not installed")
        if os.environ["STIXEL_SANITIZED"]:
            self.skipTest("a library with a sanitizer in it needs the same in every program")
        env = dict(os.environ, PKG_CONFIG_LIBDIR=self.path("{libdir}/pkgconfig"), PKG_CONFIG_SYSROOT_DIR=self.top)
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "stixel"], capture_output=True, text=True, env=env)
        self.assertEqual(flags.returncode, 0, flags.stderr)
        reader = self.top + "/reader"
        self.addCleanup(lambda: os.path.exists(reader) and os.unlink(reader))
        r = subprocess.run([*CC, self.path("{datadir}/doc/stixeld/examples/reader.c"), "-o", reader,
                            *flags.stdout.split()],
                           capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stderr)
        needed = subprocess.run(["readelf", "-d", reader], capture_output=True, text=True).stdout
        self.assertIn("[libstixel.so.1]", needed)

    def cmake(self, find, link, source):
        """Configures, builds and runs a project of five lines. Returns the finished process of the first step that
        fails, or of the program."""
        here = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, here)
        with open(here + "/CMakeLists.txt", "w", encoding="ascii") as f:
            f.write("cmake_minimum_required(VERSION 3.13)\nproject(program %s)\nfind_package(stixel %s REQUIRED)\n"
                    "add_executable(program %s)\ntarget_link_libraries(program %s)\n" % (
                        "CXX" if source.endswith("cpp") else "C", find, source, link))
        prefix = os.path.dirname(self.path("{bindir}"))
        for command in (["cmake", "-S", here, "-B", here + "/build", "-DCMAKE_PREFIX_PATH=" + prefix,
                         "-DCMAKE_CXX_FLAGS=-std=c++17 -Wall -Wextra -Werror", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"],
                        ["cmake", "--build", here + "/build"], [here + "/build/program", "no-such-instance"]):
            r = subprocess.run(command, capture_output=True, text=True, timeout=120)
            if r.returncode:
                break
        return r

    def test_cmake_finds_it(self):
        """CMake finds the library for C and for C++, in the installed version. It finds no other version, and no parts
        that do not exist."""
        if not shutil.which("cmake") or not shutil.which("g++"):
            self.skipTest("cmake or g++ is not installed")
        if os.environ["STIXEL_SANITIZED"]:
            self.skipTest("a library with a sanitizer in it needs the same in every program")
        examples = self.path("{datadir}/doc/stixeld/examples/")
        for find, link, source in (("0.2", "stixel::stixel", "reader.c"),
                                   ("0.2 COMPONENTS stixel recording", "stixel::recording", "reader.c")):
            r = self.cmake(find, link, examples + source)
            self.assertEqual((r.returncode, "no stixel publisher of this name" in r.stderr), (1, True),
                             r.stdout + r.stderr)
        source = self.top + "/main.cpp"
        self.addCleanup(lambda: os.path.exists(source) and os.unlink(source))
        with open(source, "w", encoding="ascii") as f:
            f.write("#include <stixel.hpp>\nint main()\n{\n\tstd::error_code ec;\n"
                    "\tstixels::reader reader(\"no-such\", 0, ec);\n\n"
                    "\treturn ec == std::errc::no_such_file_or_directory ? 7 : 1;\n}\n")
        r = self.cmake("", "stixel::stixel", source)
        self.assertEqual(r.returncode, 7, r.stdout + r.stderr)
        for find, text in (("0.3", 'with requested version "0.3"'), ("0.1", "version: 0.2.0"),
                           ("0.2 COMPONENTS nothing", "stixel has no component nothing")):
            r = self.cmake(find, "stixel::stixel", source)
            self.assertEqual((r.returncode, text in " ".join(r.stderr.split())), (1, True), r.stderr)

    def test_the_library_gives_what_its_package_says(self):
        with open(SYMBOLS, encoding="utf-8") as f:
            wanted = sorted(line.split()[0] for line in f if line.startswith(" "))
        out = subprocess.run(["nm", "-D", "--defined-only", self.path("{libdir}/libstixel.so.1")], capture_output=True,
                             text=True, check=True).stdout
        found = [line.split()[-1].replace("@@", "@") for line in out.splitlines()]
        self.assertEqual(sorted(n for n in found if "@" in n), [n for n in wanted if n != "STIXEL_1@STIXEL_1"])

    def test_the_python_module_is_found_with_its_version(self):
        if "python" not in PARTS:
            self.skipTest("the Python module is not part of this build")
        program = "from importlib import metadata; print(metadata.version('stixel'), metadata.requires('stixel'))"
        r = subprocess.run(["/usr/bin/env", "python3", "-c", program], capture_output=True, text=True,
                           env=dict(os.environ, PYTHONPATH=self.path("{pythondir}")))
        self.assertEqual((r.stdout, r.stderr), (FOLDERS["version"] + " ['numpy>=1.17']\n", ""))


if __name__ == "__main__":
    unittest.main()
