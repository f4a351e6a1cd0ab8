# Tests stixeld from outside with image files as source.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import shutil
import time
import unittest

from harness import FREE, THREADS_ONLY, TestCase, write_pair


class Files(TestCase):
    ARGS = ["-s", "source.kind=files", "-s", "stereo.disparities=32", "-s", "engine.threads=1"]

    def run_files(self, i, *args):
        """Runs the daemon to its end. Returns (published, dropped by overload, unreadable) from the last line of the
        log."""
        code, _, err = i.run_once(*self.ARGS, *FREE, "-s", "source.path=" + i.top + "/images", *args)
        self.assertEqual(code, 0, err)
        m = re.search(r"(\d+) frames published, (\d+) pairs dropped by overload, (\d+) unreadable", err)
        return tuple(int(n) for n in m.groups()), err

    def test_all_files_become_frames(self):
        i = self.instance()
        for n in range(30):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        self.assertEqual(self.run_files(i)[0], (30, 0, 0))

    def test_a_broken_file_is_skipped_and_counted(self):
        i = self.instance()
        for n in range(9):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        with open(i.top + "/images/right/004.pgm", "wb") as f:
            f.write(b"P5\n160 96\n255\nshort")
        counts, err = self.run_files(i)
        self.assertEqual(counts, (8, 0, 1))
        self.assertIn("004.pgm", err)
        # the broken pair does not count towards a requested number of frames
        self.assertEqual(self.run_files(i, "--frames", "6")[0], (6, 0, 1))

    def test_loop(self):
        i = self.instance()
        for n in range(3):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        self.assertEqual(self.run_files(i, "-s", "source.loop=yes", "--frames", "20")[0], (20, 0, 0))


    def loses(self, spoil, *args, reason):
        """If images are spoiled while their loop runs, the daemon ends with 65 and logs the reason."""
        i = self.instance()
        folder = i.top + "/images"
        for n in range(3):
            write_pair(folder, "%03d.pgm" % n, n)
        i.start(*self.ARGS, *FREE, "-s", "source.path=" + folder, "-s", "source.loop=yes", *args)
        i.until_published(4)
        files = sorted(os.path.join(where, f) for where, _, names in os.walk(folder) for f in names)
        spoil(folder, files)
        self.assertEqual(i.wait(), 65, i.text())
        self.assertRegex(i.text(), r"error +daemon: no image file can be read any more \(3 pairs\): .*" + reason)
        self.assertEqual([n for n in i.leftovers() if not n.startswith("images")], [])

    def test_a_loop_whose_images_are_lost_ends_with_65(self):
        def each(what, chosen=lambda files: files):
            return lambda folder, files: [what(f) for f in chosen(files)]

        def garbage(f):
            with open(f, "wb") as out:
                out.write(b"\x89PNG no picture")

        def another_size(f):
            with open(f, "wb") as out:
                out.write(b"P5\n32 32\n255\n" + bytes(1024))

        def folder_in_its_place(f):
            os.unlink(f)
            os.mkdir(f)

        def pipe_in_its_place(f):
            os.unlink(f)
            os.mkfifo(f)

        def one_side(files):
            return [f for f in files if "/right/" in f]
        for name, spoil, reason in (
                ("deleted", each(os.unlink), "No such file"),
                ("one side", each(os.unlink, one_side), "right/.*No such file"),
                ("emptied", each(lambda f: os.truncate(f, 0)), "0 bytes"),
                ("cut", each(lambda f: os.truncate(f, 500)), "cut short|PGM"),
                ("garbage", each(garbage, one_side), "right/"),
                ("another size", each(another_size), "32x32 pixels"),
                ("a folder", each(folder_in_its_place), "not a file"),
                ("a pipe", each(pipe_in_its_place), "not a file"),
                ("a link to nothing", each(lambda f: (os.unlink(f), os.symlink("/nowhere", f))), "No such file"),
                ("folder removed", lambda folder, files: shutil.rmtree(folder), "No such file"),
                ("folder renamed", lambda folder, files: os.rename(folder, folder + "2"), "No such file")):
            if THREADS_ONLY and name != "deleted":
                continue
            with self.subTest(name):
                self.loses(spoil, reason=reason)
        with self.subTest("with a pace"):
            self.loses(each(os.unlink), "-s", "source.fps=20", reason="No such file")

    def test_a_loop_whose_images_may_not_be_read_ends_with_65(self):
        i = self.instance()
        folder = i.top + "/images"
        write_pair(folder, "0.pgm", 0)
        if os.geteuid() == 0:
            for where, _, names in os.walk(i.top):
                for f in [where] + [os.path.join(where, n) for n in names]:
                    os.chmod(f, 0o777)
            i.start(*self.ARGS, *FREE, "-s", "source.path=" + folder, "-s", "source.loop=yes",
                    preexec_fn=lambda: (os.setgroups([]), os.setgid(65534), os.setuid(65534)))
        else:
            i.start(*self.ARGS, *FREE, "-s", "source.path=" + folder, "-s", "source.loop=yes")
        i.until_published(2)
        os.chmod(folder + "/left", 0)
        self.assertEqual(i.wait(), 65, i.text())
        self.assertIn("Permission denied", i.text())

    def test_a_loop_with_one_good_pair_goes_on(self):
        i = self.instance()
        for n in range(4):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        i.start(*self.ARGS, *FREE, "-s", "source.path=" + i.top + "/images", "-s", "source.loop=yes")
        i.until_published(4)
        for n in range(3):
            os.unlink(i.top + "/images/right/%03d.pgm" % n)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            self.assertIsNone(i.process.poll(), i.text())
            time.sleep(0.1)
        self.assertGreater(i.status()["frames"]["dropped"]["corrupt"], 3)
        self.assertEqual(i.stop(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
