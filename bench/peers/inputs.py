"""Query, key and value of a shape as numpy arrays, the same in every process, and what attention
makes of them in float64. bf16 is stored as the upper 16 bits of an f32, in uint16."""

import dataclasses

import numpy

from shapes import Shape

ALIGNMENT = 64  # bytes, a cache line and the widest vector; no contestant gets less

# The largest error that is allowed, in parts of the largest exact element. Inputs are standard
# normal, so that element is about 1 to 5. f32: logits and sums round a few hundred times, and a
# fast exp is good to some 20 units of 2^-24. The others round weights and output to 11 and 8 bits.
BOUNDS = {"f32": 1e-5, "f16": 2**-9, "bf16": 2**-6}


class Unsupported(Exception):
    """This contestant does not do this shape; the text says what it lacks."""


@dataclasses.dataclass
class Inputs:
    """Arrays are [1, head, position, dim], contiguous and aligned."""

    shape: Shape
    query: numpy.ndarray
    key: numpy.ndarray
    value: numpy.ndarray

    def arrays(self):
        return self.query, self.key, self.value

    def groups_as_queries(self):
        """The same work without groups: a lone query's heads that share a key head become the
        queries of one head. The elements of the output keep their order."""
        shape = dataclasses.replace(self.shape, heads=self.shape.key_heads,
                                    queries=self.shape.heads // self.shape.key_heads)
        query = self.query.reshape(1, shape.heads, shape.queries, shape.head_dim)
        return dataclasses.replace(self, shape=shape, query=query)


def aligned(extents, dtype):
    count = int(numpy.prod(extents)) * numpy.dtype(dtype).itemsize
    memory = numpy.empty(count + ALIGNMENT, numpy.uint8)
    begin = -memory.ctypes.data % ALIGNMENT
    return memory[begin:begin + count].view(dtype).reshape(extents)


def stored(numbers, dtype):
    """f32 numbers rounded to the type, to nearest and ties to even."""
    if dtype == "bf16":
        bits = numbers.view(numpy.uint32)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        array = aligned(numbers.shape, numpy.uint16)
        array[...] = rounded
    else:
        array = aligned(numbers.shape, {"f32": numpy.float32, "f16": numpy.float16}[dtype])
        array[...] = numbers
    return array


def widened(array, dtype):
    if dtype == "bf16":
        return (array.astype(numpy.uint32) << 16).view(numpy.float32)
    return array.astype(numpy.float32)


def inputs_of(shape):
    random = numpy.random.default_rng(1)

    def normal(heads, positions):
        numbers = random.standard_normal((1, heads, positions, shape.head_dim), numpy.float32)
        return stored(numbers, shape.dtype)

    return Inputs(shape, normal(shape.heads, shape.queries), normal(shape.key_heads, shape.keys),
                  normal(shape.key_heads, shape.keys))


def exact(inputs):
    """softmax(query . key^T / sqrt(head_dim)) . value, with every step in float64."""
    shape = inputs.shape
    query, key, value = (widened(array, shape.dtype)[0].astype(numpy.float64)
                         for array in inputs.arrays())
    output = numpy.empty(query.shape)
    hidden = numpy.triu(numpy.ones((shape.queries, shape.keys), bool), 1)
    for head in range(shape.heads):
        shared = head // (shape.heads // shape.key_heads)
        logits = query[head] @ key[shared].T / numpy.sqrt(shape.head_dim)
        if shape.causal:
            logits[hidden] = -numpy.inf
        weights = numpy.exp(logits - logits.max(axis=1, keepdims=True))
        output[head] = weights @ value[shared] / weights.sum(axis=1, keepdims=True)
    return output[None]


def error(found, expected):
    """The largest, in parts of the largest exact element. NaN counts as infinite."""
    worst = numpy.abs(found.reshape(expected.shape) - expected).max() / numpy.abs(expected).max()
    return float("inf") if numpy.isnan(worst) else float(worst)
