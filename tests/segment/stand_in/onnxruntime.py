# Stands in for onnxruntime, to make faults. The network's file is JSON:
#   {"delay_s": 0.1, "nan_at": [3], "shape_at": [4], "hang_at": 5, "providers": [...], "engine_s": 1}
# Images are numbered from 0. Each is one class, number `class`, of `classes`.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import time

import numpy as np

__version__ = "stand-in"
there = os.environ.get("STAND_IN_PROVIDERS", "CPUExecutionProvider").split()


def get_available_providers():
    return there


class SessionOptions:
    pass


class Value:
    def __init__(self, name, shape):
        self.name, self.shape, self.type = name, shape, "tensor(float)"


class InferenceSession:
    def __init__(self, path, options, providers):
        with open(path, encoding="utf-8") as f:
            self.of = json.load(f)
        self.providers, self.count = [p if isinstance(p, str) else p[0] for p in providers], 0
        engine = [p[1]["trt_engine_cache_path"] + "/a.engine" for p in providers if not isinstance(p, str)]
        if engine and not os.path.exists(engine[0]):
            time.sleep(self.of.get("engine_s", 0))
            open(engine[0], "w").close()

    def get_providers(self):
        return self.of.get("providers", self.providers)

    def get_inputs(self):
        return [Value("x", [1, 3, "height", "width"])]

    def get_outputs(self):
        return [Value("y", None)]

    def run(self, names, given):
        number, self.count = self.count, self.count + 1
        time.sleep(self.of.get("delay_s", 0))
        if number == self.of.get("hang_at"):
            time.sleep(3600)
        rows, columns = given["x"].shape[2:]
        logits = np.zeros((1, self.of.get("classes", 19), rows, columns), np.float32)
        logits[:, self.of.get("class", 0)] = 20
        if number in self.of.get("nan_at", []):
            logits[0, 0, rows // 2, columns // 2] = np.nan
        return [logits[:, :, ::2] if number in self.of.get("shape_at", []) else logits]
