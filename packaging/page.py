#!/usr/bin/env python3
"""Writes the page of a release, in HTML, to standard output: how to install, files with sizes and checksums, and news.

Usage: page.py FOLDER VERSION URL NEWS.md

FOLDER: the files of the release, with SHA256SUMS, and with the archive for apt in apt/ if packages were made. URL:
where this folder will be found, https:// or file://. The part of NEWS.md about VERSION goes on the page.
SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import sys
from urllib.parse import quote, unquote, urlsplit

import markdown

HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>stixeld %s</title>
<style>
body { max-width: 60em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif; color: #222; background: #fff }
pre { background: #f2f2f2; padding: .7em 1em; overflow-x: auto }
code { font-size: 14px }
table { border-collapse: collapse; display: block; overflow-x: auto }
td, th { padding: .2em .8em .2em 0; text-align: left; border-bottom: 1px solid #ddd; white-space: nowrap }
td:nth-child(2) { text-align: right }
td:nth-child(3) { font: 12px monospace }
@media (prefers-color-scheme: dark) {
	body { color: #ddd; background: #181818 } a { color: #8ab4f8 } pre { background: #282828 }
	td, th { border-color: #444 }
}
</style></head><body>
"""


def block(lines):
    return "\n\n" + "\n".join("    " + line for line in lines) + "\n\n"


def suites(folder):
    return sorted(re.sub(r".*/stixeld-|\.sources$", "", p) for p in glob.glob(folder + "/apt/stixeld-*.sources"))


def with_apt(folder, url):
    """Returns how to install with apt."""
    place = "/etc/apt/sources.list.d/stixeld.sources"
    entry = "apt/stixeld-$release.sources"
    if url.startswith("file:"):
        fetch = "sudo cp '%s'/%s %s" % (unquote(urlsplit(url).path), entry, place)
    else:
        fetch = "sudo curl -fsSLo %s %s/%s" % (place, url, entry)
    text = "For the releases %s, as root or with sudo:" % ", ".join("`%s`" % s for s in suites(folder))
    text += block(["release=$(. /etc/os-release && echo $VERSION_CODENAME)", fetch, "sudo apt update",
                   "sudo apt install stixeld stixel-tools"])
    if glob.glob(folder + "/apt/dists/*/InRelease"):
        text += "The first file has the public key, with which apt checks all packages."
    else:
        text += "**This archive is not signed, and apt refuses it** without `Trusted: yes` in that file."
    text += (" Then `man 7 stixel` and `/usr/share/doc/stixeld/README.Debian` lead on. More packages: "
             "`stixel-calibrate` (with OpenCV), `python3-stixel`, `stixel-bridge`, `stixel-segment`, "
             "`gstreamer1.0-stixel`, `libstixel-dev`.\n\n")
    return text


def files(folder):
    """Returns the table of all files."""
    text = "| file | bytes | SHA-256 |\n|---|---|---|\n"
    with open(os.path.join(folder, "SHA256SUMS"), encoding="utf-8") as f:
        for line in f:
            digest, name = line.rstrip("\n").split("  ", 1)
            size = os.stat(os.path.join(folder, name)).st_size
            if not name.startswith("apt/dists/"):
                text += "| [%s](%s) | %d | %s |\n" % (os.path.basename(name), quote(name), size, digest)
    return text + "\n"


def news(path, version):
    with open(path, encoding="utf-8") as f:
        found = re.search(r"(?ms)^## (%s, [^\n]*)\n(.*?)(?=^## |\Z)" % re.escape(version), f.read())
    if not found:
        sys.exit("page.py: %s has no heading '## %s, ...'" % (path, version))
    return found.groups()


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__.split("\n\n")[1])
    folder, version, url = sys.argv[1], sys.argv[2], sys.argv[3].rstrip("/")
    heading, changes = news(sys.argv[4], version)
    text = "# stixeld %s\n\n" % heading
    text += "stixeld computes stixels, obstacles and free space, from a stereo camera in real time.\n\n"
    if suites(folder):
        text += "## Install with apt\n\n" + with_apt(folder, url)
    wheels = sorted(os.path.basename(p) for p in glob.glob(folder + "/*.whl"))
    if wheels:
        text += "## Python, for machines that only read\n\n" + block("pip install '%s/%s'" % (url, w) for w in wheels)
    text += "## Check files\n\nIn a copy of this folder, with [SHA256SUMS](SHA256SUMS):"
    if os.path.exists(folder + "/SHA256SUMS.asc"):
        text += block(["gpg --verify SHA256SUMS.asc", "sha256sum --check --ignore-missing SHA256SUMS"])
    else:
        text += block(["sha256sum --check --ignore-missing SHA256SUMS"])
    text += files(folder) + "## What is new\n\n" + changes
    sys.stdout.write(HEAD % version + markdown.markdown(text, extensions=["tables"]) + "\n</body></html>\n")


if __name__ == "__main__":
    main()
