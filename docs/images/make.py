#!/usr/bin/env python3
"""Makes the README's pictures anew, of the synthetic street: street.png by stixelctl, web.png of stixel-web's page.

Usage: docs/images/make.py BUILD          (from the top of the tree; BUILD: a build folder)

Needs chromium, chromium-driver, python3-selenium and python3-pil, as tools/test installs them.
SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess
import sys
import time

from PIL import Image

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(TOP, "docs", "images")
NAME = "front"  # of the instance, as the page shows it
FRAME = 66  # of the street: near and far cars, a pedestrian
WIDTH = 1280
BOTTOM = "return Math.ceil(document.getElementById('charts').getBoundingClientRect().bottom) + 5"  # a row ends there


def shrink(path, colours):
    """Fewer colours: a fifth of the bytes."""
    with Image.open(path) as image:
        image.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)
    print("%s: %d kB" % (os.path.relpath(path, TOP), os.path.getsize(path) // 1000))


def daemon(place, build, support, size, fps):
    process, _ = place.start("daemon.log", build + "/daemon/stixeld", "--instance", NAME, "-s", "source.kind=synthetic",
                             "-s", "source.size=" + size, "-s", "source.fps=%d" % fps)
    support.until(lambda: os.path.exists("/dev/shm/stixeld." + NAME), what="ring")
    return process


def street(place, build):
    path = os.path.join(HERE, "street.png")
    snapshot = [build + "/tools/stixelctl", "-i", NAME, "snapshot", "--force", path]
    frame = 0
    while frame < FRAME:
        said = subprocess.run(snapshot, env=place.env, stdout=subprocess.PIPE, text=True, check=True).stdout
        frame = int(re.search(r"frame (\d+)", said).group(1))
    shrink(path, 128)


def page(place, support, test_browser):
    path = os.path.join(HERE, "web.png")
    web = support.Web(place, "-i", NAME)
    os.environ["HOME"] = os.environ["TMPDIR"] = place.top
    browser = test_browser.start_browser(WIDTH, 1000)

    def size(height):
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False})
    try:
        size(1000)
        browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        browser.get("http://127.0.0.1:%d/" % web.port)
        time.sleep(60)  # for curves that are worth a look
        size(browser.execute_script(BOTTOM))
        time.sleep(2)
        browser.save_screenshot(path)
    finally:
        browser.quit()
    shrink(path, 256)


def main(build):
    build = os.path.abspath(build)
    os.environ.update(STIXELD=build + "/daemon/stixeld", STIXEL_WEB=build + "/tools/web/stixel-web")
    sys.path.insert(0, os.path.join(TOP, "tests", "web"))
    import support
    import test_browser

    place = support.Place()
    try:
        process = daemon(place, build, support, "1242x375", 2)
        street(place, build)
        process.terminate()
        process.wait()
        daemon(place, build, support, "640x240", 10)  # as tools/demo, so that two cores draw it in time
        page(place, support, test_browser)
    finally:
        place.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
