#!/usr/bin/env python3
"""Measures scaledot and its peers in turns, and prints a table. `make bench-peers` calls it."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import sys
import tempfile

import contest
import peers_table
import row
import scaledot_c
import shapes

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["peer_scaledot", "peer_torch", "peer_onnxruntime", "peer_openvino", "peer_jax"]
THREADS = (1, 2)


def cores():
    """A processor of each core that this process may use: siblings of a core share its units."""
    firsts = {}
    for processor in sorted(os.sched_getaffinity(0)):
        listed = pathlib.Path(
            f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")
        siblings = listed.read_text() if listed.exists() else str(processor)
        firsts.setdefault(siblings, processor)
    return list(firsts.values())


def progress_of(place):
    """Shows how far a row is, where a person sees it."""
    def show(part):
        if sys.stderr.isatty():
            print(f"\r{place}: {100 * part:3.0f} %" if part < 1 else "\r\033[K", end="",
                  file=sys.stderr, flush=True)

    return show


def started(modules, threads, absent):
    """The workers that are there; why the others are not is told and goes into absent."""
    workers = []
    for module in modules:
        worker = contest.Worker(module, threads)
        why = worker.about.get("absent") or worker.about.get("lacks")
        if why:
            worker.end()
            absent[worker.name] = why
            print(f"without {worker.name}: {why}", flush=True)
        else:
            workers.append(worker)
    if not workers or workers[0].name != row.OURS:
        sys.exit("scaledot itself cannot run; is the library built?")
    return workers


def results_of(library):
    return {"processor": library.processor(), "isa": library.isa(),
            "date": datetime.date.today().isoformat(), "python": platform.python_version(),
            "cache": "warm", "peers": {}, "absent": {}, "rows": []}


def compare(results, library, modules, listed):
    """Adds a row for each shape and number of threads, and prints it."""
    available = cores()
    possible = [threads for threads in THREADS if threads <= len(available)]
    total = len(listed) * len(possible)
    for threads in possible:
        os.sched_setaffinity(0, available[:threads])  # the workers inherit it
        workers = started(modules, threads, results["absent"])
        for worker in workers:
            results["peers"].setdefault(worker.name, {
                key: worker.about[key] for key in ("version", "settings")})
        names = [worker.name for worker in workers]
        print("\n".join(peers_table.heading(names)), flush=True)
        try:
            for shape in listed:
                place = f"{len(results['rows']) + 1} of {total}"
                progress = progress_of(place)
                progress(0)
                with tempfile.TemporaryDirectory() as folder:
                    ceiling = contest.Ceiling(library, shape, threads)
                    made = row.measure(workers, shape, threads, ceiling, folder, progress)
                results["rows"].append(made)
                print(peers_table.line(made, names), flush=True)
        finally:
            for worker in workers:
                worker.end()


def remarks(results):
    """What a reader must know about the cells: who is wrong, and who lacks what."""
    for one in results["rows"]:
        what = f"{one['dtype']}, {peers_table.work(one)}, threads {one['threads']}"
        for name, result in one["results"].items():
            if not result["right"]:
                yield (f"{name}: {what}: the error is {result['error']:.1e}, "
                       f"the bound {one['bound']:.1e}")
        for name, why in one["missing"].items():
            yield f"{name}: {what}: {why}"


def write(results, folder):
    """One line a row, so that two results can be compared line by line."""
    folder.mkdir(parents=True, exist_ok=True)
    processor = re.sub("[^a-z0-9]+", "-", results["processor"].lower()).strip("-") or "unknown"
    path = folder / f"{processor}-peers.json"
    members = [f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in results.items()
               if key != "rows"]
    rows = ",\n".join(json.dumps(row) for row in results["rows"])
    path.write_text("{\n" + "".join(members) + f'"rows": [\n{rows}\n]}}\n')
    print(f"written to {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="four shapes, and no file is written")
    parser.add_argument("--only", metavar="PEERS", help="for example torch,jax; else all")
    parser.add_argument("--library", default=ROOT / "build/release/bench/libscaledot_peers.so")
    parser.add_argument("--results", type=pathlib.Path, help="where the JSON goes; with --quick "
                        "nowhere by default, else bench/results")
    arguments = parser.parse_args()
    only = arguments.only and {f"peer_{name}" for name in arguments.only.split(",")}
    modules = [module for module in MODULES
               if not only or module in only or module == MODULES[0]]
    os.environ["SCALEDOT_PEERS_LIBRARY"] = str(arguments.library)
    library = scaledot_c.Library(str(arguments.library))
    results = results_of(library)
    try:
        compare(results, library, modules, shapes.QUICK if arguments.quick else shapes.ALL)
    except RuntimeError as why:
        sys.exit(why)
    print("\n".join(remarks(results)))
    folder = arguments.results or (None if arguments.quick else ROOT / "bench" / "results")
    if folder:
        write(results, folder)
    if not all(one["results"][row.OURS]["right"] for one in results["rows"]):
        sys.exit("scaledot's error is above the bound")


if __name__ == "__main__":
    main()
