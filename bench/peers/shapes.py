"""The shapes that are compared, and the work there is in each."""

import dataclasses

ELEMENT_BYTES = {"f32": 4, "f16": 2, "bf16": 2}


@dataclasses.dataclass(frozen=True)
class Shape:
    """One batch entry. Tensors are [1, head, position, dim]; causal is aligned at the top left."""

    dtype: str
    queries: int
    keys: int
    head_dim: int
    causal: bool = False
    heads: int = 8
    key_heads: int = 8

    def pairs(self):
        """Of a query and a key it sees, over all heads."""
        if not self.causal:
            return self.heads * self.queries * self.keys
        return self.heads * sum(min(query + 1, self.keys) for query in range(self.queries))

    def flops(self):
        """Of the two products; a multiply-add is two, softmax nothing."""
        return 4 * self.pairs() * self.head_dim

    def key_bytes(self):
        """All keys and values, which decoding has to read."""
        return 2 * self.key_heads * self.keys * self.head_dim * ELEMENT_BYTES[self.dtype]

    def decodes(self):
        """A lone query is limited by what memory delivers and not by arithmetic."""
        return self.queries == 1

    def grouped_decoding(self):
        return self.decodes() and self.heads != self.key_heads


def prompt(dtype, length, head_dim, causal):
    return Shape(dtype, length, length, head_dim, causal)


def decode(dtype):
    return Shape(dtype, queries=1, keys=4096, head_dim=128, heads=32, key_heads=8)


QUICK = [prompt("f32", 512, 64, False), prompt("f32", 512, 64, True),
         prompt("bf16", 2048, 64, False), decode("f32")]

ALL = [*(prompt("f32", length, head_dim, causal)
         for head_dim in (64, 128) for length in (128, 512, 2048) for causal in (False, True)),
       *(prompt(dtype, 2048, head_dim, causal)
         for dtype in ("bf16", "f16") for head_dim in (64, 128) for causal in (False, True)),
       *(decode(dtype) for dtype in ("f32", "f16", "bf16"))]
