# Lives of a daemon with the CUDA engine on the simulated runtime (cuda.c). Calls of this runtime fail.
# SPDX-License-Identifier: Apache-2.0
import itertools
import os
import re

import lives


class CudaJudge:
    """Judges a daemon with the CUDA engine on the simulated runtime (cuda.c)."""
    kinds = {"cuda"}
    device = "sms=1"

    def cuda(self, argv, env, contexts):
        """Selects a small device and little work, so that a life takes some tenths of a second."""
        settings = ("engine.backend=" + self.backend, "engine.contexts=%d" % contexts, "stereo.paths=2",
                    "output.planes_when=always")
        env.update(STIXEL_MODULE_PATH=self.modules[0], SX_EMULATE_ORDER="5",
                   SX_EMULATE_DEVICE=self.device)
        return argv + list(itertools.chain.from_iterable(("-s", s) for s in settings)), env

    def judge(self, r):
        """Accepts that a lost device ends the daemon, and that requests made meanwhile cannot be met."""
        if r.lost and r.code == 70:
            r.notes = [n for n in r.notes if not n.startswith(("wrong order", "wrong reload"))]
        return super().judge(r)

    def judge_more(self, r):
        return super().judge_more(r) + self.judge_engine(r)

    def judge_engine(self, r):
        bad = []
        if r.code == 69 and self.phase != "start":
            bad.append("code 69 of a device that was there")
        named = "engine cuda: " in r.stderr
        if r.code and not named and "the engine gives no image: Cannot allocate memory" not in r.stderr:
            bad.append("the sentence does not say what of CUDA failed")
        if "answer 0" in r.notes and r.code == 0:
            bad.append("late: no answer to the order")
        elif r.outcome == "refused" and not named:
            bad.append("refused without what of CUDA failed")
        fell_back = self.backend == "auto" and re.search(r"auto: engine cuda: .*; cpu", r.stderr)
        if r.lost and r.code == 0 and self.phase != "stop" and not fell_back:
            bad.append("goes on with a lost device")
        return bad


class Cuda(CudaJudge, lives.Daemon):
    codes = {0, 69, 70}

    def __init__(self, name, house, phase, contexts=1, backend="cuda", planted=None, **more):
        super().__init__(name, house, phase=phase, **more)
        self.contexts, self.backend, self.planted = contexts, backend, planted
        self.modules = (house.program("torture-cuda-planted.so" if planted else "torture-cuda.so"),)
        self.arguments += ["-s", "source.size=48x32", "-s", "source.fps=10"]

    def prepare(self, folder):
        argv, env = super().prepare(folder)
        if self.planted:
            env["TORTURE_PLANTED"] = self.planted
        return self.cuda(argv, env, self.contexts)


class PlantedCuda(Cuda):
    """Plants a fault in the engine. found_by: a word of the finding."""

    def __init__(self, planted, house, phase, at, found_by):
        super().__init__("cuda-" + planted, house, phase, planted=planted,
                         arguments=["--frames", "2"] if phase == "start" else [])
        self.at, self.found_by = at, found_by


class CudaCameras(CudaJudge, lives.Cameras):
    """Simulates a GPU that reads pairs from the cameras' buffers."""
    codes = {0, 69, 70}
    backend, device = "cuda", "integrated=1,cc=87,sms=1"

    def __init__(self, name, house, **more):
        super().__init__(name, house, **more)
        self.modules = (house.program("torture-cuda.so"),)

    def prepare(self, folder):
        return self.cuda(*super().prepare(folder), 1)


def cuda_lives(house):
    """Returns the lives, or none in a build without a C++ compiler."""
    if not os.path.exists(house.program("torture-cuda.so")):
        return []
    frames = ["--frames", "2"]
    return [
        Cuda("cuda-start", house, "start", contexts=2, arguments=frames),
        Cuda("cuda-auto", house, "start", backend="auto", arguments=frames),
        Cuda("cuda-steady", house, "steady", contexts=2),
        Cuda("cuda-reload", house, "reload"),
        Cuda("cuda-order", house, "order"),
        Cuda("cuda-stop", house, "stop", contexts=2),
        CudaCameras("cuda-camera", house, phase="camera"),
    ]


def cuda_planted(house):
    return [PlantedCuda("keeps", house, "start", "cudaMemsetAsync", "held by the device: .* device bytes"),
            PlantedCuda("silent", house, "steady", "cudaGraphLaunch", "does not say what of CUDA")
            ] if cuda_lives(house) else []
