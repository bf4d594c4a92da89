"""JAX: jax.nn.dot_product_attention, compiled by jax.jit."""

import os

import jax
import jax.numpy
import ml_dtypes
import numpy

from inputs import widened

NAME = "JAX"


class Peer:
    def __init__(self, threads):
        if len(os.sched_getaffinity(0)) != threads:
            raise RuntimeError("XLA takes as many threads as the process has processors")
        self.version = jax.__version__
        self.settings = "jax.jit, as many processors in the process's affinity as threads"

    def calls(self, inputs):
        shape = inputs.shape
        attend = jax.jit(lambda query, key, value: jax.nn.dot_product_attention(
            query, key, value, is_causal=shape.causal))
        arrays = [positions_first(array, shape.dtype) for array in inputs.arrays()]
        return {"dot_product_attention": lambda: attend(*arrays).block_until_ready()}

    def found(self, output, shape):
        array = numpy.asarray(output).transpose(0, 2, 1, 3)
        if shape.dtype == "bf16":
            array = array.view(numpy.uint16)
        return widened(array, shape.dtype)


def positions_first(array, dtype):
    """[1, position, head, dim], JAX's own layout, in JAX's own memory."""
    if dtype == "bf16":
        array = array.view(ml_dtypes.bfloat16)
    return jax.numpy.asarray(numpy.ascontiguousarray(array.transpose(0, 2, 1, 3)))
