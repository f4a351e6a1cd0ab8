"""The simulated world of robot.py: a room with furniture, drawn by MuJoCo, in which a robot with two cameras moves.

SPDX-License-Identifier: Apache-2.0
"""
import os

os.environ.setdefault("MUJOCO_GL", "osmesa")
import mujoco  # noqa: E402
import numpy as np  # noqa: E402

WIDTH, HEIGHT, FOCAL, BASELINE, CAMERA_M = 640, 480, 430.0, 0.06, 0.25  # px, px, px, m, m above the floor
RADIUS, AHEAD = 0.17, 0.12  # m: of the robot, and from its axle to the cameras
ROOM = (4.0, 3.0)  # m, half of its length and of its width
LUMA = np.array([0.299, 0.587, 0.114])

TEXTURE = ('<texture name="%s" type="%s" builtin="flat" mark="random" random="%g" width="%d" height="%d" '
           'rgb1="%s" markrgb="%s"/>')
TEXTURES = [("floor", "2d", 0.35, 600, 600, ".55 .45 .35", ".35 .27 .2"),
            ("paper", "2d", 0.2, 400, 400, ".75 .72 .65", ".5 .5 .45"),
            ("box", "cube", 0.2, 60, 60, ".7 .5 .3", ".3 .2 .1"),
            ("wood", "cube", 0.3, 80, 80, ".4 .25 .15", ".2 .1 .05"),
            ("cat", "cube", 0.4, 50, 50, ".3 .3 .3", ".6 .6 .6")]
ROBOT = """<body mocap="true"><geom name="robot" type="cylinder" size="%g .15" pos="0 0 .16" rgba="0 0 0 0"/>
<camera name="left" pos="%g %g %g" xyaxes="0 -1 0 0 0 1"/><camera name="right" pos="%g %g %g" xyaxes="0 -1 0 0 0 1"/>
</body>""" % (RADIUS, AHEAD, BASELINE / 2, CAMERA_M, AHEAD, -BASELINE / 2, CAMERA_M)


class World:
    """A room with furniture that the seed draws, and the robot in it."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.place = np.array([-ROOM[0] + 0.8, 0.0, 0.0])  # x and y in m, heading in rad
        self.taken = [(self.place[0], self.place[1], 0.9)]
        self.geoms = []
        x, y = ROOM
        self.add("floor", "plane", (x, y, 0.1), (0, 0, 0), "floor")
        for name, size, place in (("north", (x, 0.05, 1.2), (0, y)), ("south", (x, 0.05, 1.2), (0, -y)),
                                  ("east", (0.05, y, 1.2), (x, 0)), ("west", (0.05, y, 1.2), (-x, 0))):
            self.add(name + " wall", "box", size, (*place, 1.2), "paper")
        for i in range(6):
            size = self.random.uniform((0.1, 0.1, 0.05), (0.35, 0.35, 0.25))
            place = self.spot(np.hypot(size[0], size[1]))
            self.add("box %d" % i, "box", size, (*place, size[2]), "box", self.random.uniform(0, 180))
        for i in range(2):
            self.table("table %d" % i)
        self.add("cat", "ellipsoid", (0.16, 0.06, 0.075), (*self.spot(0.16), 0.075), "cat",
                 self.random.uniform(0, 180))
        self.model = mujoco.MjModel.from_xml_string(self.xml())
        self.data = mujoco.MjData(self.model)
        self.renderer = mujoco.Renderer(self.model, HEIGHT, WIDTH)

    def xml(self):
        materials = "".join('<material name="%s" texture="%s" texuniform="%s"/>'
                            % (t[0], t[0], str(t[1] == "2d").lower()) for t in TEXTURES)
        return """<mujoco><visual><global fovy="%g" offwidth="%d" offheight="%d"/>
<headlight ambient=".45 .45 .45" diffuse=".3 .3 .3"/></visual><asset>%s%s</asset>
<worldbody><light pos="0 0 2.3" diffuse=".4 .4 .4" castshadow="false"/>%s%s</worldbody></mujoco>""" % (
            np.degrees(2 * np.arctan(HEIGHT / 2 / FOCAL)), WIDTH, HEIGHT, "".join(TEXTURE % t for t in TEXTURES),
            materials, "".join(self.geoms), ROBOT)

    def add(self, name, shape, size, place, material, turned=0.0):
        self.geoms.append('<geom name="%s" type="%s" size="%g %g %g" pos="%g %g %g" euler="0 0 %g" material="%s"/>'
                          % (name, shape, *size, *place, turned, material))

    def spot(self, radius):
        """Returns a place at which the robot can still pass a thing of this radius on every side."""
        while True:
            x, y = self.random.uniform((-ROOM[0], -ROOM[1]), ROOM) * 0.85
            if all(np.hypot(x - a, y - b) > radius + r + 2 * RADIUS + 0.3 for a, b, r in self.taken):
                self.taken.append((x, y, radius))
                return x, y

    def table(self, name):
        x, y = self.spot(0.65)
        for i, (a, b) in enumerate(((0.5, 0.35), (0.5, -0.35), (-0.5, 0.35), (-0.5, -0.35))):
            self.add("%s leg %d" % (name, i), "cylinder", (0.025, 0.35, 0), (x + a, y + b, 0.35), "wood")
        self.add(name + " top", "box", (0.55, 0.4, 0.02), (x, y, 0.72), "wood")

    def look(self):
        """Returns the left and the right image, with the noise of a sensor."""
        images = []
        for camera in ("left", "right"):
            self.renderer.update_scene(self.data, camera)
            grey = self.renderer.render() @ LUMA
            noise = self.random.normal(0, 1, grey.shape) * (1 + 0.01 * grey)
            images.append(np.clip(grey + noise + 0.5, 0, 255).astype(np.uint8))
        return images

    def move(self, speed, turn, seconds):
        """Moves the robot. Returns the name of a thing that it touches, or None."""
        for _ in range(4):
            x, y, heading = self.place
            self.place += np.array([speed * np.cos(heading), speed * np.sin(heading), turn]) * seconds / 4
            self.data.mocap_pos[0] = self.place[0], self.place[1], 0
            self.data.mocap_quat[0] = np.cos(self.place[2] / 2), 0, 0, np.sin(self.place[2] / 2)
            mujoco.mj_forward(self.model, self.data)
            for contact in self.data.contact:
                names = [self.model.geom(int(geom)).name for geom in contact.geom]
                if "robot" in names and "floor" not in names:
                    return names[names[0] == "robot"]
        return None
