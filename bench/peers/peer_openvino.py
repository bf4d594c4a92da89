"""OpenVINO: ScaledDotProductAttention, its precision hint set to the type of the tensors."""

import numpy
import openvino
from openvino import opset13

from inputs import Unsupported, widened

NAME = "OpenVINO"
TYPES = {"f32": openvino.Type.f32, "f16": openvino.Type.f16, "bf16": openvino.Type.bf16}


class Peer:
    def __init__(self, threads):
        self._core = openvino.Core()
        self._threads = threads
        self.version = openvino.__version__.split("-")[0]  # the rest names the build
        self.settings = ("INFERENCE_NUM_THREADS = threads, NUM_STREAMS = 1, PERFORMANCE_HINT = "
                         "LATENCY, INFERENCE_PRECISION_HINT = the type, bound tensors")

    def calls(self, inputs):
        shape = inputs.shape
        if shape.heads != shape.key_heads:
            raise Unsupported("the operator has no groups")
        nodes = [opset13.parameter(list(array.shape), TYPES[shape.dtype])
                 for array in inputs.arrays()]
        attention = opset13.scaled_dot_product_attention(*nodes, causal=shape.causal)
        request = self._core.compile_model(openvino.Model([attention], nodes), "CPU", {
            "INFERENCE_PRECISION_HINT": shape.dtype,
            "INFERENCE_NUM_THREADS": self._threads,
            "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
            "ENABLE_CPU_PINNING": False,  # the process is pinned, all contestants alike
        }).create_infer_request()
        for number, array in enumerate(inputs.arrays()):
            request.set_input_tensor(number, openvino.Tensor(
                array, openvino.Shape(array.shape), TYPES[shape.dtype]))

        def call(kept=inputs):  # the request sees addresses only
            request.infer()
            return request.get_output_tensor(0)

        return {"ScaledDotProductAttention": call}

    def found(self, output, shape):
        array = output.data
        return widened(array.view(numpy.uint16) if shape.dtype == "bf16" else array, shape.dtype)
