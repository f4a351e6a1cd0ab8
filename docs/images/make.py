#!/usr/bin/env python3
"""Makes the pictures of README and docs anew, of the synthetic street: street.jpg by stixelctl, web.png of stixel-web's
page, first-camera.jpg of a raw pair, the same rectified, and its stixels. If there is MuJoCo: robot.jpg of robot.py.

Usage: docs/images/make.py BUILD          (from the top of the tree; BUILD: a build folder)

Needs chromium, chromium-driver, python3-selenium and python3-pil, as tools/test installs them.
SPDX-License-Identifier: Apache-2.0
"""
import importlib.util
import os
import re
import subprocess
import sys
import time

from PIL import Image, ImageDraw

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(TOP, "docs", "images")
NAME = "front"  # of the instance, as the page shows it
FRAME = 66  # of the street: near and far cars, a pedestrian
PAIR = 8  # of the raw one
WIDTH = 1280
HEIGHT = 800


def say(path):
    print("%s: %d kB" % (os.path.relpath(path, TOP), os.path.getsize(path) // 1000))


def save(image, path):
    """Writes a JPEG without subsampling of its colours, which would change the colours of the legend."""
    image.convert("RGB").save(path, quality=85, subsampling=0, optimize=True)
    say(path)


def shrink(path):
    """Fewer colours: a fifth of the bytes. The octree keeps the bright colours of small areas."""
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    say(path)


def daemon(place, build, support, size, fps, *more):
    settings = ["source.kind=synthetic", "source.size=" + size, "source.fps=%d" % fps, *more]
    process, _ = place.start("daemon.log", build + "/daemon/stixeld", "--instance", NAME,
                             *[word for s in settings for word in ("-s", s)])
    support.until(lambda: os.path.exists("/dev/shm/stixeld." + NAME), what="ring")
    return process


def street(place, build):
    path = os.path.join(place.top, "street.png")
    snapshot = [build + "/tools/stixelctl", "-i", NAME, "snapshot", "--force", path]
    frame = 0
    while frame < FRAME:
        said = subprocess.run(snapshot, env=place.env, stdout=subprocess.PIPE, text=True, check=True).stdout
        frame = int(re.search(r"frame (\d+)", said).group(1))
    with Image.open(path) as image:
        save(image, os.path.join(HERE, "street.jpg"))


def pair(stixel):
    """Both images of a frame, beside each other, with lines that show which rows are the same."""
    with stixel.open(NAME, images=["left", "right"]) as reader:
        frame = None
        while not frame or frame.number < PAIR or frame.right is None:
            frame = reader.next(10)
        sides = [Image.fromarray(i) for i in (frame.left, frame.right)]
    w, h = sides[0].size
    both = Image.new("RGB", (2 * w, h))
    for i, side in enumerate(sides):
        both.paste(side, (i * w, 0))
    draw = ImageDraw.Draw(both)
    for y in range(h // 8, h, h // 4):
        draw.line((0, y, 2 * w, y), fill=(255, 200, 60))
    return both


def first_camera(place, build, support):
    os.environ["STIXEL_LIBRARY"] = build + "/ipc/client/libstixel.so"
    sys.path.insert(0, os.path.join(TOP, "python", "src"))
    import stixel

    overlay, rows = os.path.join(place.top, "overlay.png"), []
    for rectify in ("no", "auto"):
        process = daemon(place, build, support, "640x320", 2, "source.lenses=plain", "camera.rectify=" + rectify,
                         "output.planes=pair", "stixels.width=4")
        rows.append(pair(stixel))
        subprocess.run([build + "/tools/stixelctl", "-i", NAME, "snapshot", "--force", overlay], env=place.env,
                       check=True)
        process.terminate()
        process.wait()
    with Image.open(overlay) as image:
        rows.append(image.convert("RGB").resize((1280, 2 * image.height), Image.Resampling.LANCZOS))
    whole = Image.new("RGB", (1280, 320 + 8 + 320 + 8 + rows[-1].height), "white")
    for y, row in zip((0, 328, 656), rows):
        whole.paste(row, (0, y))
    save(whole.resize((960, whole.height * 3 // 4), Image.Resampling.LANCZOS), os.path.join(HERE, "first-camera.jpg"))


def page(place, support, chromium):
    path = os.path.join(HERE, "web.png")
    web = support.Web(place, "-i", NAME)
    os.environ["HOME"] = os.environ["TMPDIR"] = place.top
    browser = chromium.start_browser(WIDTH, HEIGHT)
    try:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
        browser.get("http://127.0.0.1:%d/favicon.svg" % web.port)
        browser.execute_script("localStorage.setItem('stixel.views', 'picture,space,map')")
        browser.get("http://127.0.0.1:%d/" % web.port)
        time.sleep(15)
        browser.save_screenshot(path)
    finally:
        browser.quit()
    shrink(path)


def robot(place, build):
    """Four moments of a robot's way: its left image beside its map."""
    film, path = os.path.join(place.top, "film"), os.path.join(HERE, "robot.jpg")
    process, _ = place.start("robot.log", build + "/daemon/stixeld", "-i", "robot", "-s", "source.kind=shared",
                             "-s", "camera.height_m=0.25")
    env = dict(place.env, PYTHONPATH=os.pathsep.join([os.path.join(TOP, "python", "src"),
                                                      os.environ.get("PYTHONPATH", "")]),
               STIXEL_LIBRARY=build + "/ipc/client/libstixel.so")
    subprocess.run([sys.executable, os.path.join(TOP, "docs", "examples", "robot.py"), "robot", "--seed", "3",
                    "--metres", "9", "--film", film], env=env, check=True)
    process.terminate()
    process.wait()
    moments = sorted(os.listdir(film))
    strip = Image.new("RGB", (560 * 2 + 8, 240 * 2 + 8), "white")
    for i in range(4):
        with Image.open(os.path.join(film, moments[(i + 1) * (len(moments) - 1) // 4])) as image:
            strip.paste(image.resize((560, 240), Image.Resampling.LANCZOS), (i % 2 * 568, i // 2 * 248))
    save(strip, path)


def main(build):
    build = os.path.abspath(build)
    os.environ.update(STIXELD=build + "/daemon/stixeld", STIXEL_WEB=build + "/tools/web/stixel-web")
    sys.path.insert(0, os.path.join(TOP, "tests", "web"))
    import browser
    import support

    place = support.Place()
    try:
        process = daemon(place, build, support, "1242x375", 2)
        street(place, build)
        process.terminate()
        process.wait()
        first_camera(place, build, support)
        daemon(place, build, support, "640x240", 10)  # as tools/demo, so that two cores draw it in time
        page(place, support, browser)
        if importlib.util.find_spec("mujoco"):
            robot(place, build)
    finally:
        place.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
