"""ONNX Runtime: its own MultiHeadAttention, and the standard's Attention of opset 24. Tensors are
bound, so that no call copies or allocates."""

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

from inputs import Unsupported, aligned, widened

NAME = "ONNX Runtime"
TYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16}
NAMES = ("query", "key", "value")


class Peer:
    def __init__(self, threads):
        self._options = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads = threads
        self._options.inter_op_num_threads = 1
        self._options.log_severity_level = 4
        self.version = onnxruntime.__version__
        self.settings = "intra_op_num_threads = threads, CPUExecutionProvider, bound tensors"

    def calls(self, inputs):
        shape = inputs.shape
        if shape.dtype not in TYPES:
            raise Unsupported(f"no attention in {shape.dtype} on the CPU")
        calls = {"Attention-24": self._bound(
            inputs.arrays(), shape, helper.make_node(
                "Attention", NAMES, ["output"], is_causal=int(shape.causal)))}
        if shape.dtype == "f32" and shape.heads == shape.key_heads:
            calls["MultiHeadAttention"] = self._bound(
                [heads_inside(array) for array in inputs.arrays()], shape, helper.make_node(
                    "MultiHeadAttention", NAMES, ["output"], domain="com.microsoft",
                    num_heads=shape.heads, unidirectional=int(shape.causal)))
        return calls

    def _bound(self, arrays, shape, node):
        """A call of a model that consists of the node."""
        infos = [helper.make_tensor_value_info(name, TYPES[shape.dtype], array.shape)
                 for name, array in zip((*NAMES, "output"), (*arrays, arrays[0]))]
        graph = helper.make_graph([node], "attention", infos[:3], infos[3:])
        model = helper.make_model(graph, ir_version=10, opset_imports=[
            helper.make_opsetid("", 24), helper.make_opsetid("com.microsoft", 1)])
        session = onnxruntime.InferenceSession(model.SerializeToString(), self._options,
                                               providers=["CPUExecutionProvider"])
        output = aligned(arrays[0].shape, arrays[0].dtype)
        binding = session.io_binding()
        for name, array in zip(NAMES, arrays):
            binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
        binding.bind_output("output", "cpu", 0, output.dtype.type, output.shape,
                            output.ctypes.data)

        def call(kept=arrays):  # the session may see addresses only
            session.run_with_iobinding(binding)
            return output

        return call

    def found(self, output, shape):
        if output.ndim == 3:
            heads = (1, output.shape[1], shape.heads, shape.head_dim)
            output = output.reshape(heads).transpose(0, 2, 1, 3)
        return widened(output, shape.dtype)


def heads_inside(array):
    """[1, position, head * dim], what MultiHeadAttention takes."""
    batch, heads, positions, dim = array.shape
    inside = aligned((batch, positions, heads * dim), array.dtype)
    inside[...] = array.transpose(0, 2, 1, 3).reshape(inside.shape)
    return inside
