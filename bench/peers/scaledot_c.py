"""scaledot's C ABI (include/scaledot/attention.h) and the ceilings of bench/measure by ctypes.
Needs nothing but Python."""

import ctypes
from ctypes import POINTER, Structure, byref
from ctypes import c_double, c_float, c_int32, c_int64, c_size_t, c_void_p

DTYPES = {"f32": 0, "f16": 1, "bf16": 2}
CAUSAL_OFF, CAUSAL_TOP_LEFT = 0, 1


class Tensor(Structure):
    _fields_ = [("size", c_size_t), ("data", c_void_p), ("dtype", c_int32), ("rank", c_int32),
                ("extent", c_int64 * 4), ("stride", c_int64 * 4)]


class Options(Structure):
    _fields_ = [("size", c_size_t), ("scale", POINTER(c_float)), ("softcap", c_float),
                ("causal", c_int32), ("has_window", c_int32), ("arithmetic", c_int32),
                ("window_left", c_int64), ("window_right", c_int64), ("mask", POINTER(Tensor)),
                ("bias", POINTER(Tensor)), ("key_lengths", POINTER(c_int64)),
                ("key_lengths_count", c_int64), ("workspace", c_void_p),
                ("workspace_bytes", c_size_t), ("threads", c_int32), ("reserved", c_int32),
                ("parallel_for", c_void_p), ("parallel_for_context", c_void_p)]


class Outputs(Structure):
    _fields_ = [("size", c_size_t), ("output", POINTER(Tensor)), ("lse", POINTER(Tensor)),
                ("weights", POINTER(Tensor))]


class Status(Structure):
    _fields_ = [("size", c_size_t), ("code", c_int32), ("reserved", c_int32),
                ("argument", ctypes.c_char_p), ("other", ctypes.c_char_p), ("axis", c_int64),
                ("got", c_int64), ("expected", c_int64), ("value", c_double)]


def sized(struct, **fields):
    return struct(size=ctypes.sizeof(struct), **fields)


def contiguous(address, dtype, extents):
    """A tensor of rank 4 whose elements lie one after the other."""
    strides = [1]
    for extent in reversed(extents[1:]):
        strides.insert(0, strides[0] * extent)
    return sized(Tensor, data=address, dtype=DTYPES[dtype], rank=4,
                 extent=(c_int64 * 4)(*extents), stride=(c_int64 * 4)(*strides))


class Library:
    def __init__(self, path):
        self._c = ctypes.CDLL(path)
        self._c.scaledot_describe.restype = c_size_t
        for name in ("scaledot_version", "scaledot_isa", "scaledot_bench_processor"):
            getattr(self._c, name).restype = ctypes.c_char_p
        for name in ("scaledot_bench_peak_flops", "scaledot_bench_read_bytes"):
            getattr(self._c, name).restype = c_double

    def attention(self, query, key, value, output, causal, threads):
        """A function that computes output whenever it is called. The tensors must stay alive."""
        options = sized(Options, causal=CAUSAL_TOP_LEFT if causal else CAUSAL_OFF, threads=threads)
        outputs, status = sized(Outputs, output=ctypes.pointer(output)), sized(Status)
        attend = self._c.scaledot_attend
        arguments = [byref(struct) for struct in (query, key, value, outputs, options, status)]

        def call():
            if attend(*arguments) != 0:
                raise ValueError(self._described(status))

        return call

    def _described(self, status):
        text = ctypes.create_string_buffer(1000)
        self._c.scaledot_describe(byref(status), text, c_size_t(len(text)))
        return text.value.decode()

    def version(self):
        return self._c.scaledot_version().decode()

    def isa(self):
        return self._c.scaledot_isa().decode()

    def processor(self):
        return self._c.scaledot_bench_processor().decode()

    def peak_flops(self, threads):
        """Multiply-adds in registers, in operations a second, of all threads together."""
        return self._c.scaledot_bench_peak_flops(c_int32(threads))

    def read_bytes(self, threads, address, count):
        """Bytes a second at which the threads together read this memory."""
        return self._c.scaledot_bench_read_bytes(c_int32(threads), c_void_p(address),
                                                 c_size_t(count))
