"""The discipline of a comparison: contestants take turns, round by round, and each turn stands
between two measurements of what the machine can do, as in bench/measure/contest.hpp. Needs nothing
but Python."""

import contextlib
import ctypes
import json
import math
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 10
REPETITION = 20e-3  # seconds; as many calls as it takes, at least


class Worker:
    """A contestant's process. Its threads run where this process may when it is started."""

    def __init__(self, module, threads, program=HERE / "worker.py"):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        self._process = subprocess.Popen(
            [sys.executable, str(program), module, str(threads)], env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.about = self._answer()
        self.name = self.about.get("name", module.removeprefix("peer_"))

    def ask(self, do, **request):
        with contextlib.suppress(BrokenPipeError):  # that it has ended is seen below
            self._process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            self._process.stdin.flush()
        return self._answer()

    def _answer(self):
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"lacks": "its process has ended"}

    def end(self):
        with contextlib.suppress(BrokenPipeError):  # if it did not wait for this
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Ceiling:
    """What the machine can do now: read as much memory as the keys take for decoding, else multiply
    and add. A rate a second."""

    def __init__(self, library, shape, threads):
        self._library, self._threads = library, threads
        self.of_memory = shape.decodes()
        self.work = shape.key_bytes() if self.of_memory else shape.flops()
        if self.of_memory:
            memory = bytearray(b"x") * self.work  # touched, so that it is memory
            self._memory = (ctypes.c_char * self.work).from_buffer(memory)

    def __call__(self):
        if not self.of_memory:
            return self._library.peak_flops(self._threads)
        return self._library.read_bytes(self._threads, ctypes.addressof(self._memory), self.work)


def calls_that_fill(seconds):
    return math.ceil(REPETITION / seconds)


def take_turns(workers, calls, ceiling, rounds, progress):
    """The samples of each: (seconds of a call, mean of the ceilings before and after). And why
    those that gave up did; they have no samples."""
    samples, failed = {worker.name: [] for worker in workers}, {}
    for number in range(rounds):
        progress(number / rounds)
        before = ceiling()
        for worker in workers:
            if worker.name in failed:
                continue
            answer = worker.ask("run", calls=calls[worker.name])
            after = ceiling()
            if "lacks" in answer:
                failed[worker.name] = answer["lacks"]
                del samples[worker.name]
                continue
            samples[worker.name].append((answer["seconds"], (before + after) / 2))
            before = after
    progress(1)
    return samples, failed
