"""One shape measured: each contestant's output is checked, then all take turns."""

import dataclasses
import pathlib
import statistics

import numpy

from contest import ROUNDS, calls_that_fill, take_turns
from inputs import BOUNDS, error, exact, inputs_of
from ratios import result_of

OURS = "scaledot"


def prepare(workers, shape, folder):
    """Lets every worker compute the shape once: what each says, and how wrong it is."""
    expected = exact(inputs_of(shape))
    said = {}
    for worker in workers:
        output = pathlib.Path(folder) / "output.npy"
        answer = worker.ask("prepare", shape=dataclasses.asdict(shape), output=str(output))
        if "lacks" not in answer:
            answer["error"] = error(numpy.load(output), expected)
            answer["right"] = answer["error"] <= BOUNDS[shape.dtype]
        said[worker.name] = answer
    return said


def measure(workers, shape, threads, ceiling, folder, progress, rounds=ROUNDS):
    """One row of the results. Contestants that lack the shape, and why, are in "missing"."""
    said = prepare(workers, shape, folder)
    missing = {name: answer["lacks"] for name, answer in said.items() if "lacks" in answer}
    ready = [worker for worker in workers if worker.name not in missing]
    calls = {worker.name: calls_that_fill(said[worker.name]["seconds"]) for worker in ready}
    samples, failed = take_turns(ready, calls, ceiling, rounds, progress)
    missing.update(failed)
    if OURS in missing:
        raise RuntimeError(f"{OURS}: {missing[OURS]}")
    results = {name: {**result_of(taken, ceiling.work, samples[OURS]),
                      **{key: said[name][key] for key in ("way", "error", "right")}}
               for name, taken in samples.items()}
    return {**dataclasses.asdict(shape), "threads": threads,
            "ceiling": "read" if ceiling.of_memory else "multiply-add",
            "ceiling_rate": statistics.median(rate for taken in samples.values()
                                              for _, rate in taken),
            "bound": BOUNDS[shape.dtype], "results": results, "missing": missing}
