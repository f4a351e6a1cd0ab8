"""What runs a network: onnxruntime, or OpenCV's dnn. Only this file knows their functions.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import glob
import hashlib
import importlib.util
import os
import time
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from stixel._program import DATA, UNAVAILABLE, Fail, sentence

from .model import Model

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider", "tensorrt": "TensorrtExecutionProvider"}
TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(uint8)": np.uint8}
_Array = "np.ndarray[Any, Any]"


class BackEnd:
    """A loaded network with one input, of which the first output is used."""

    name: str  #: of the back end, with its version and where it computes
    size: Optional[Tuple[int, int]] = None  #: the only width and height that the input takes; None: others may do
    channels_last = False  #: order of the input's dimensions
    dtype: Any = np.float32  #: of the input

    def run(self, blob: Any) -> Any:
        """Returns the first output for an input of a batch of one. Raises the exceptions of the package."""
        raise NotImplementedError


def cache_folder(path: str) -> str:
    """Returns the folder for what is built of a network: below systemd's CacheDirectory, else below the user's."""
    top = os.environ.get("CACHE_DIRECTORY", "").split(":")[0] or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "stixel-segment")
    with open(path, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()[:12]
    return os.path.join(top, "%s-%s" % (os.path.splitext(os.path.basename(path))[0], digest))


class OnnxRuntime(BackEnd):
    """onnxruntime, on the processor, by CUDA, or by TensorRT."""

    def __init__(self, model: Model, say: Callable[[str], None]) -> None:
        import onnxruntime
        there = onnxruntime.get_available_providers()
        wanted = model.options["provider"]
        if wanted == "auto":
            wanted = "cuda" if PROVIDERS["cuda"] in there else "cpu"
        if PROVIDERS[wanted] not in there:
            raise Fail(UNAVAILABLE, "provider = %s: the onnxruntime that is installed has only %s; which wheels have "
                       "more is in docs/use/semantics.md" % (wanted, ", ".join(there)))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = model.options["threads"]
        options.log_severity_level = 3  # errors
        providers: List[Any] = [PROVIDERS[name] for name in ("cuda", "cpu") if name in ("cpu", wanted)]
        began, folder = time.monotonic(), ""
        if wanted == "tensorrt":
            folder = cache_folder(model.path)
            os.makedirs(folder, exist_ok=True)
            providers = [(PROVIDERS[wanted], {"trt_engine_cache_enable": True, "trt_engine_cache_path": folder,
                                              "trt_timing_cache_enable": True, "trt_timing_cache_path": folder,
                                              "trt_fp16_enable": True}), PROVIDERS["cuda"], PROVIDERS["cpu"]]
            self._built = bool(glob.glob(os.path.join(folder, "*.engine")))
            if not self._built:
                say("builds a TensorRT engine in %s, which takes minutes" % folder)
        try:
            self._session = onnxruntime.InferenceSession(model.path, options, providers=providers)
        except Exception as e:  # its classes are no public part of onnxruntime
            raise Fail(DATA, "%s: onnxruntime cannot read it: %s" % (model.path, sentence(e))) from None
        if PROVIDERS[wanted] not in self._session.get_providers():
            raise Fail(UNAVAILABLE, "provider = %s: it cannot be loaded here; onnxruntime's lines above say why" %
                       wanted)
        if folder and not self._built:
            say("the TensorRT engine is built, in %.0f s" % (time.monotonic() - began))
        if len(self._session.get_inputs()) != 1:
            raise Fail(DATA, "%s: it has %d inputs, expected one" % (model.path, len(self._session.get_inputs())))
        entry = self._session.get_inputs()[0]
        if entry.type not in TYPES or len(entry.shape) != 4:
            raise Fail(DATA, "%s: its input is %s of %d dimensions, expected an image in a batch" % (
                model.path, entry.type, len(entry.shape)))
        self._input, self._output = entry.name, self._session.get_outputs()[0].name
        self.dtype = TYPES[entry.type]
        self.channels_last = entry.shape[3] in (1, 3) and entry.shape[1] not in (1, 3)
        height, width = entry.shape[1:3] if self.channels_last else entry.shape[2:4]
        if isinstance(height, int) and isinstance(width, int):
            self.size = width, height
        self.name = "onnxruntime %s, %s" % (onnxruntime.__version__, wanted)

    def run(self, blob: Any) -> Any:
        return self._session.run([self._output], {self._input: blob})[0]


class OpenCv(BackEnd):
    """OpenCV's dnn, on the processor."""

    def __init__(self, model: Model) -> None:
        import cv2
        if model.options["provider"] not in ("auto", "cpu"):
            raise Fail(UNAVAILABLE, "provider = %s: OpenCV's dnn runs on the processor here; onnxruntime has others" %
                       model.options["provider"])
        if model.options["threads"]:
            cv2.setNumThreads(model.options["threads"])
        more = os.path.splitext(model.path)[0] + ".prototxt"
        self._files = [model.path] + [more] * os.path.exists(more)
        self._shape: Tuple[int, ...] = ()  # of the input for which the network is set up
        self._read()
        self.name = "OpenCV %s, cpu" % cv2.__version__

    def _read(self) -> None:
        import cv2
        try:
            self._net = cv2.dnn.readNet(*self._files)
        except cv2.error as e:
            raise Fail(DATA, "%s: OpenCV cannot read it: %s" % (self._files[0], reason(e))) from None

    def run(self, blob: Any) -> Any:
        if self._shape and self._shape != blob.shape:
            self._read()  # OpenCV 4.6 gives a wrong output for ENet if the size of the input changes
        self._shape = blob.shape
        self._net.setInput(blob)
        return self._net.forward()


def reason(error: BaseException) -> str:
    """Returns the sentence of a package's exception. OpenCV's own has the place in its source in front."""
    return sentence(Exception(getattr(error, "err", None) or error))


def _is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def load(model: Model, say: Callable[[str], None]) -> BackEnd:
    """Loads the network. Fail: it cannot be read, or a package is missing."""
    onnx = model.path.endswith(".onnx")
    kind = model.options["back_end"]
    if kind == "auto":
        kind = "onnxruntime" if onnx and _is_there("onnxruntime") else "opencv"
    if kind == "onnxruntime":
        if not onnx:
            raise Fail(DATA, "%s: onnxruntime reads files .onnx only" % model.path)
        if not _is_there("onnxruntime"):
            raise Fail(UNAVAILABLE, "onnxruntime cannot be imported: pip install onnxruntime")
        return OnnxRuntime(model, say)
    return OpenCv(model)
