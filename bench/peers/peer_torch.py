"""PyTorch: scaled_dot_product_attention, which takes its flash kernel for the CPU."""

import numpy
import torch

from inputs import widened

NAME = "PyTorch"


class Peer:
    def __init__(self, threads):
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)
        self.version = torch.__version__
        self.settings = ("torch.set_num_threads(threads), no gradients, "
                         f"capability {torch.backends.cpu.get_cpu_capability()}")

    def calls(self, inputs):
        shape = inputs.shape
        query, key, value = (tensor(array, shape.dtype) for array in inputs.arrays())
        grouped = {"enable_gqa": True} if shape.heads != shape.key_heads else {}
        attend = torch.nn.functional.scaled_dot_product_attention

        def call():
            return attend(query, key, value, is_causal=shape.causal, **grouped)

        return {"scaled_dot_product_attention" + ", enable_gqa" * bool(grouped): call}

    def found(self, output, shape):
        if shape.dtype == "bf16":
            return widened(output.view(torch.int16).numpy().view(numpy.uint16), "bf16")
        return widened(output.numpy(), shape.dtype)


def tensor(array, dtype):
    if dtype == "bf16":
        return torch.from_numpy(array.view(numpy.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
