"""Tests packaging/page.py: the page of a release for files made here. Its links lead to files, its commands name them,
and it has the news of this version alone.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import html.parser
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
NEWS = ("# News\n\n## 0.3.0, 2027-01-01\n\n* Newer.\n\n## 0.2.0, 2026-12-01\n\n* This & `<that>`.\n\n"
        "## 0.1.0, 2025-01-01\n\nOld.\n")
FILES = ["apt/pool/bookworm/stixeld_0.2.0-1~deb12_amd64.deb", "apt/dists/bookworm/Release", "stixeld-0.2.0.tar.xz",
         "apt/stixeld-bookworm.sources", "apt/stixeld-trixie.sources",
         "stixel-0.2.0-py3-none-manylinux_2_28_x86_64.whl"]


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.blocks, self.words = [], [], [], ""
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        if tag == "a":
            self.links.append(urllib.parse.unquote(dict(attrs)["href"]))
        if tag == "pre":
            self.blocks.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data
        if "pre" in self.open:
            self.blocks[-1] += data


@unittest.skipUnless(importlib.util.find_spec("markdown"), "needs python3-markdown")
class Release(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)
        self.write("NEWS.md", NEWS)
        for name in FILES:
            self.write("made/" + name, name)
        self.write("made/SHA256SUMS", "".join("%s  %s\n" % (hashlib.sha256(n.encode()).hexdigest(), n) for n in FILES))

    def write(self, name, text):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def page(self, url, version="0.2.0"):
        program = os.path.join(SOURCE, "packaging", "page.py")
        return subprocess.run([sys.executable, program, self.top + "/made", version, url, self.top + "/NEWS.md"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def test_files_and_news(self):
        text = self.page("https://example.invalid/stixeld/").stdout
        page = Page(text)
        self.assertEqual({link for link in page.links if link not in FILES}, {"SHA256SUMS"})
        self.assertEqual(set(FILES) - set(page.links), {"apt/dists/bookworm/Release"})
        for name in set(page.links) & set(FILES):
            self.assertIn(hashlib.sha256(name.encode()).hexdigest(), page.words)
        self.assertIn("This & <that>.", page.words)
        self.assertNotIn("Newer", page.words)
        self.assertNotIn("Old", page.words)

    def test_commands(self):
        page = Page(self.page("https://example.invalid/stixeld/").stdout)
        self.assertEqual(page.blocks[0].splitlines()[1:], [
            "sudo curl -fsSLo /etc/apt/sources.list.d/stixeld.sources "
            "https://example.invalid/stixeld/apt/stixeld-$release.sources",
            "sudo apt update", "sudo apt install stixeld stixel-tools"])
        self.assertIn("pip install 'https://example.invalid/stixeld/stixel-0.2.0-py3", page.blocks[1])
        self.assertIn("This archive is not signed", page.words)
        self.write("made/apt/dists/bookworm/InRelease", "signed")
        self.write("made/SHA256SUMS.asc", "signed")
        page = Page(self.page("file:///a%20b").stdout)
        self.assertIn("sudo cp '/a b'/apt/stixeld-$release.sources /etc/apt/sources.list.d/stixeld.sources",
                      page.blocks[0].splitlines())
        self.assertNotIn("not signed", page.words)
        self.assertIn("gpg --verify SHA256SUMS.asc", page.blocks[2])

    def test_a_version_without_news(self):
        r = self.page("file:///a", "0.9.0")
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertIn("has no heading '## 0.9.0, ...'", r.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
