"""One contestant in a process of its own, so that no thread pool meets another.

    worker.py MODULE THREADS      reads a request a line from stdin, answers a line each, in JSON

    {"do": "prepare", "shape": {...}, "output": path}   makes the inputs, tries each way there is,
        and writes the output of the fastest, in f32, as .npy    -> {"way", "seconds"} or {"lacks"}
    {"do": "run", "calls": n}                                    -> {"seconds"} of one call
"""

import importlib
import json
import os
import sys
import time

import numpy

from inputs import Unsupported, inputs_of
from shapes import Shape


def seconds_of(call, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def settle():
    """Sleeps until the process does nothing: thread pools spin for a while after a call, and would
    take from the measurement that follows in another process."""
    nap = 300e-6
    for _ in range(200):
        before = time.process_time()
        time.sleep(nap)
        if time.process_time() - before < nap / 4:
            return


def ways(peer, inputs):
    """Each way to compute the shape: (name, call), and why there are not more."""
    found, lacks = [], []
    several = [("", inputs)]
    if inputs.shape.grouped_decoding() and sys.argv[1] != "peer_scaledot":  # ours needs no help
        several.append((", groups as queries", inputs.groups_as_queries()))
    for suffix, these in several:
        try:
            found += [(name + suffix, call, these) for name, call in peer.calls(these).items()]
        except Unsupported as why:
            lacks.append(str(why))
    return found, lacks


class Contestant:
    def __init__(self, peer):
        self._peer = peer
        self._call = None

    def prepare(self, shape, output):
        found, lacks = ways(self._peer, inputs_of(Shape(**shape)))
        best = None
        for name, call, inputs in found:
            try:
                call()
                seconds = min(seconds_of(call, 1) for _ in range(3))
            except Exception as why:  # whatever a peer throws where it does not do a shape
                lacks.append(f"{name}: {first_line(why)}")
                continue
            if best is None or seconds < best[0]:
                best = seconds, name, call, inputs
        if best is None:
            return {"lacks": "; ".join(lacks)}
        seconds, name, self._call, inputs = best
        numpy.save(output, self._peer.found(self._call(), inputs.shape))
        return {"way": name, "seconds": seconds}

    def run(self, calls):
        if calls > 1:
            self._call()  # finds the cache as the others left it, and is not timed
        seconds = seconds_of(self._call, calls)
        settle()
        return {"seconds": seconds}


def first_line(why):
    lines = [line for line in str(why).splitlines() if line.strip()]
    return f"{type(why).__name__}: {lines[0].strip()[:150] if lines else ''}"


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a peer prints goes elsewhere

    def answer(said):
        answers.write(json.dumps(said) + "\n")
        answers.flush()

    try:
        module = importlib.import_module(sys.argv[1])
        peer = module.Peer(int(sys.argv[2]))
    except Exception as why:  # not installed, or broken: the others go on without it
        answer({"absent": first_line(why)})
        return
    answer({"name": module.NAME, "version": peer.version, "settings": peer.settings})
    contestant = Contestant(peer)
    for line in sys.stdin:
        request = json.loads(line)
        does = getattr(contestant, request.pop("do"))
        try:
            answer(does(**request))
        except Exception as why:  # one shape that fails must not end the others
            answer({"lacks": first_line(why)})


if __name__ == "__main__":
    main()
