"""The comparison with peers, without any peer: its statistics, its turns, and scaledot through
ctypes. What numpy does there is tested where numpy is installed."""

import ctypes
import math
import os
import pathlib
import random
import struct
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench" / "peers"))

import contest
import ratios
import scaledot_c
from shapes import ALL, QUICK, Shape

try:
    import numpy
    import inputs
except ImportError:
    numpy = None

LIBRARY = scaledot_c.Library(os.environ["SCALEDOT_PEERS_LIBRARY"])


def attention(shape, query, key, value):
    """In Python's doubles; flat lists in and out, [head, position, dim]."""
    dim, found = shape.head_dim, []
    for row in range(shape.heads * shape.queries):
        head = row // shape.queries * shape.key_heads // shape.heads
        seen = row % shape.queries + 1 if shape.causal else shape.keys
        rows = range(head * shape.keys, head * shape.keys + min(seen, shape.keys))
        logits = [math.fsum(query[row * dim + d] * key[j * dim + d] for d in range(dim))
                  / math.sqrt(dim) for j in rows]
        weights = [math.exp(logit - max(logits)) for logit in logits]
        found += [math.fsum(weight * value[j * dim + d] for weight, j in zip(weights, rows))
                  / math.fsum(weights) for d in range(dim)]
    return found


def bits_of(number, dtype):
    """The number, which the type can hold, as the element that C sees."""
    if dtype == "bf16":
        return struct.pack("<f", number)[2:]
    return struct.pack("<e" if dtype == "f16" else "<f", number)


def numbers_of(memory, dtype):
    if dtype == "bf16":
        memory = b"".join(b"\0\0" + memory[n:n + 2] for n in range(0, len(memory), 2))
    code = "e" if dtype == "f16" else "f"
    return struct.unpack(f"<{len(memory) // struct.calcsize(code)}{code}", memory)


class Scaledot(unittest.TestCase):
    ERROR = {"f32": 1e-6, "f16": 2**-10, "bf16": 2**-6}  # elements are below 2

    def check(self, shape, threads=1):
        draw = random.Random(1)
        extents = [(1, shape.heads, shape.queries, shape.head_dim),
                   *[(1, shape.key_heads, shape.keys, shape.head_dim)] * 2]
        lists = [[draw.randint(-16, 16) / 8 for _ in range(math.prod(each))] for each in extents]
        memory = [ctypes.create_string_buffer(
            b"".join(bits_of(number, shape.dtype) for number in each)) for each in lists]
        output = ctypes.create_string_buffer(
            len(bits_of(0, shape.dtype)) * len(lists[0]))
        tensors = [scaledot_c.contiguous(ctypes.addressof(each), shape.dtype, extent)
                   for each, extent in zip((*memory, output), (*extents, extents[0]))]
        LIBRARY.attention(*tensors, shape.causal, threads)()
        found = numbers_of(output.raw, shape.dtype)
        for one, expected in zip(found, attention(shape, *lists), strict=True):
            self.assertAlmostEqual(one, expected, delta=self.ERROR[shape.dtype])

    def test_equals_the_definition(self):
        for dtype in ("f32", "f16", "bf16"):
            for causal in (False, True):
                with self.subTest(dtype=dtype, causal=causal):
                    self.check(Shape(dtype, 5, 7, 6, causal, heads=4, key_heads=2))
        self.check(Shape("f32", 9, 9, 4, True, heads=2, key_heads=2), threads=2)

    def test_a_mistake_is_told_in_the_library_s_words(self):
        memory = ctypes.create_string_buffer(64)
        tensor = scaledot_c.contiguous(ctypes.addressof(memory), "f32", (1, 1, 2, 4))
        with self.assertRaisesRegex(ValueError, "output"):
            LIBRARY.attention(tensor, tensor, tensor, tensor, False, 1)()

    def test_ceilings_and_names(self):
        memory = ctypes.create_string_buffer(1 << 16)
        self.assertGreater(LIBRARY.peak_flops(1), 0)
        self.assertGreater(LIBRARY.read_bytes(2, ctypes.addressof(memory), len(memory)), 0)
        self.assertRegex(LIBRARY.version(), r"^\d+\.\d+\.\d+$")
        self.assertTrue(LIBRARY.processor())


class Shapes(unittest.TestCase):
    def test_work_is_counted_pair_by_pair(self):
        for causal in (False, True):
            for queries, keys in ((1, 1), (4, 4), (3, 5), (5, 3)):
                shape = Shape("f16", queries, keys, 16, causal, heads=6, key_heads=2)
                pairs = 6 * sum(not causal or j <= i for i in range(queries) for j in range(keys))
                self.assertEqual(shape.pairs(), pairs)
                self.assertEqual(shape.flops(), 2 * pairs * (16 + 16))
                self.assertEqual(shape.key_bytes(), 2 * (2 * keys * 16) * 2)

    def test_the_lists_have_no_shape_twice(self):
        self.assertEqual(len(set(ALL)), 23)
        self.assertLess(set(QUICK), set(ALL))


class Ratios(unittest.TestCase):
    def test_each_repetition_has_its_own_ceiling(self):
        # The machine is at half and at a quarter of its speed in between: nothing of it is left.
        ours = [(1, 100), (2, 50), (4, 25)]
        theirs = [(2, 100), (2, 100), (8, 25)]
        result = ratios.result_of(theirs, 80, ours)
        self.assertAlmostEqual(result["fraction"], 0.4)
        self.assertAlmostEqual(result["ratio"], 2)
        self.assertAlmostEqual(result["ratio_spread"], 0)
        self.assertEqual((result["microseconds"], result["repetitions"]), (2e6, 3))

    def test_the_median_of_the_ratios_and_not_the_ratio_of_the_medians(self):
        ours, theirs = [(1, 1), (2, 1), (9, 1)], [(3, 1), (1, 1), (9, 1)]
        self.assertAlmostEqual(ratios.result_of(theirs, 1, ours)["ratio"], 1)  # of 3, 0.5, 1

    def test_spread_is_the_distance_of_the_quartiles_in_parts_of_the_median(self):
        self.assertAlmostEqual(ratios.spread([8, 9, 10, 12, 99]), 0.3)


class FakeWorker:
    def __init__(self, name, log, ends_in=None):
        self.name, self._log, self._ends_in, self._runs = name, log, ends_in, 0

    def ask(self, do, calls):
        self._log.append(f"{do} {calls} {self.name}")
        self._runs += 1
        return {"lacks": "gone"} if self._runs == self._ends_in else {"seconds": self._runs}


class Turns(unittest.TestCase):
    def turns(self, ends_in=None):
        log = []

        def ceiling():
            log.append("|")
            return float(len(log))

        workers = [FakeWorker("a", log), FakeWorker("b", log, ends_in)]
        taken = contest.take_turns(workers, {"a": 3, "b": 5}, ceiling, 2, lambda part: None)
        return log, *taken

    def test_each_turn_stands_between_two_ceilings(self):
        log, samples, failed = self.turns()
        self.assertEqual(log, ["|", "run 3 a", "|", "run 5 b", "|"] * 2)
        self.assertEqual(samples, {"a": [(1, 2), (2, 7)], "b": [(1, 4), (2, 9)]})
        self.assertEqual(failed, {})

    def test_who_gives_up_is_left_out_and_the_others_go_on(self):
        log, samples, failed = self.turns(ends_in=1)
        self.assertEqual(log[5:], ["|", "run 3 a", "|"])
        self.assertEqual((list(samples), len(samples["a"]), failed), (["a"], 2, {"b": "gone"}))


class Worker(unittest.TestCase):
    def started(self, program):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "program.py"
        path.write_text(program)
        return contest.Worker("peer_some", 2, path)

    def test_says_who_it_is_and_answers(self):
        worker = self.started("import os, sys\n"
                              "print('{\"name\": \"' + os.environ['OMP_NUM_THREADS'] + '\"}',"
                              "      flush=True)\n"
                              "for line in sys.stdin: print(line, end='', flush=True)\n")
        self.assertEqual(worker.name, "2")
        self.assertEqual(worker.ask("run", calls=3), {"do": "run", "calls": 3})
        worker.end()

    def test_one_that_has_ended_lacks_everything_and_harms_nobody(self):
        worker = self.started("print('{}')")
        self.assertEqual(worker.name, "some")
        for _ in range(3):
            self.assertIn("lacks", worker.ask("run", calls=1))
        worker.end()


@unittest.skipUnless(numpy, "numpy is not installed")
class Inputs(unittest.TestCase):
    def test_exact_is_the_definition(self):
        for causal in (False, True):
            shape = Shape("bf16", 3, 5, 4, causal, heads=4, key_heads=2)
            made = inputs.inputs_of(shape)
            lists = [inputs.widened(array, "bf16").ravel().tolist() for array in made.arrays()]
            expected = numpy.array(attention(shape, *lists))
            self.assertLess(inputs.error(inputs.exact(made), expected.reshape(1, 4, 3, 4)), 1e-14)

    def test_groups_as_queries_are_the_same_work(self):
        made = inputs.inputs_of(Shape("f32", 1, 5, 4, heads=6, key_heads=2))
        other = inputs.exact(made.groups_as_queries())
        self.assertLess(inputs.error(other, inputs.exact(made)), 1e-14)

    def test_bf16_is_rounded_to_nearest_ties_to_even(self):
        numbers = numpy.array([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -3], numpy.float32)
        rounded = inputs.widened(inputs.stored(numbers, "bf16"), "bf16")
        self.assertEqual(rounded.tolist(), [1, 1, 1 + 2**-6, 1 + 2**-7, -3])

    def test_a_nan_is_an_error(self):
        self.assertEqual(inputs.error(numpy.array([1, numpy.nan]), numpy.ones(2)), float("inf"))


if __name__ == "__main__":
    unittest.main()
