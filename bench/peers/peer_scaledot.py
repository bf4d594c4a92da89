"""scaledot, through its C ABI; a call allocates what it needs itself."""

import os

import scaledot_c
from inputs import aligned, widened

NAME = "scaledot"


class Peer:
    def __init__(self, threads):
        self._threads = threads
        self._library = scaledot_c.Library(os.environ["SCALEDOT_PEERS_LIBRARY"])
        self.version = self._library.version()
        self.settings = "C ABI, Options::threads = threads"

    def calls(self, inputs):
        shape = inputs.shape
        output = aligned(inputs.query.shape, inputs.query.dtype)
        tensors = [scaledot_c.contiguous(array.ctypes.data, shape.dtype, array.shape)
                   for array in (*inputs.arrays(), output)]
        attend = self._library.attention(*tensors, shape.causal, self._threads)

        def call(kept=inputs):  # C sees addresses only: the arrays live as long as the call
            attend()
            return output

        return {"scaledot_attend": call}

    def found(self, output, shape):
        return widened(output, shape.dtype)
