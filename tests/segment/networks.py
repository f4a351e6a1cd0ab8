# Makes small networks: an image of one grey level becomes one class.
# SPDX-License-Identifier: Apache-2.0
import onnx
from onnx import TensorProto, helper


def levels(classes):
    """Returns the grey level of each class, 0 to 1."""
    return [i / (classes - 1) for i in range(classes)]


def pixelwise(path, classes, output="logits", channels=3, last=False, size=("height", "width"), stride=1, kind="float",
              steep=1e5):
    """Writes a network that finds the class whose level is nearest to a pixel's.

    The logit of class i is -(x - level)^2 without the part that all classes have. output: logits, probabilities,
    classes or nan (no numbers where the image is dark).
    """
    level = levels(classes)
    weights = [2 * steep * a / channels for a in level for _ in range(channels)]
    height, width = size
    shape = [1, height, width, channels] if last else [1, channels, height, width]
    nodes, at = [], "x"
    if kind == "uint8":
        nodes += [helper.make_node("Cast", [at], ["f"], to=TensorProto.FLOAT),
                  helper.make_node("Div", ["f", "white"], ["g"])]
        at = "g"
    if last:
        nodes.append(helper.make_node("Transpose", [at], ["c"], perm=[0, 3, 1, 2]))
        at = "c"
    nodes.append(helper.make_node("Conv", [at, "w", "b"], ["logits"], kernel_shape=[1, 1], strides=[stride, stride]))
    at, of = "logits", TensorProto.FLOAT
    if output == "probabilities":
        nodes.append(helper.make_node("Softmax", [at], ["p"], axis=1))
        at = "p"
    elif output == "classes":
        nodes.append(helper.make_node("ArgMax", [at], ["m"], axis=1, keepdims=0))
        at, of = "m", TensorProto.INT64
    elif output == "nan":
        nodes.append(helper.make_node("Log", [at], ["n"]))
        at = "n"
    if last and output != "classes":
        nodes.append(helper.make_node("Transpose", [at], ["y"], perm=[0, 2, 3, 1]))
        at = "y"
    graph = helper.make_graph(nodes, "pixelwise", [
        helper.make_tensor_value_info("x", TensorProto.UINT8 if kind == "uint8" else TensorProto.FLOAT, shape)], [
        helper.make_tensor_value_info(at, of, list("abcd")[:3 if output == "classes" else 4])], [
        helper.make_tensor("w", TensorProto.FLOAT, [classes, channels, 1, 1], weights),
        helper.make_tensor("b", TensorProto.FLOAT, [classes], [-steep * a * a for a in level]),
        *([helper.make_tensor("white", TensorProto.FLOAT, [], [255.0])] if kind == "uint8" else [])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path
