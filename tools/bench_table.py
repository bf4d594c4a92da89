#!/usr/bin/python3
"""Turns bench/results/*.json into the README's tables, between its two markers.

    tools/bench_table.py            prints the tables
    tools/bench_table.py --write    puts them into README.md
    tools/bench_table.py --check    fails if README.md has others
"""

import argparse
import json
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "bench" / "peers"))
import peers_table  # noqa: E402
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
NOTE = ("Percent of the processor's peak of f32 multiply-adds on as many threads, measured between "
        "the repetitions: the median of at least ten, warm cache. Causal counts the pairs that are "
        "seen. Left out: shapes and rivals that were not measured (`make bench` says which).")


def wrapped(text):
    return textwrap.fill(text, 98)


def percent(result):
    return f"{100 * result['fraction_of_peak']:.0f} %" if result else ""


def heading(results):
    machine, openblas = results["machine"], results["openblas"]
    peak = max(row["peak_gflops"] for row in results["rows"] if row["threads"] == 1)
    text = (f"**{machine['processor']}**, {machine['isa']}, {peak:.0f} GFLOP/s a core, "
            f"{results['compiler']}")
    return wrapped(text + (f", OpenBLAS core {openblas['core']}" if openblas else ""))


def lines(rows):
    """One line a length, dim and causal: f32 on one and two threads, its rivals, and bf16."""
    found = {}
    for row in rows:
        shape = (row["queries"], row["head_dim"], row["causal"] != "off")
        found.setdefault(shape, {})[row["dtype"], row["threads"]] = row
    yield ("| length | head_dim | causal | f32, 1 thread | 2 threads "
           "| OpenBLAS + softmax, 1 thread | 2 threads | loops | bf16, 1 thread | 2 threads |")
    yield "| ---: " * 2 + "| --- " + "| ---: " * 7 + "|"
    for (length, dim, causal), row in sorted(found.items()):
        one, two = row.get(("f32", 1)), row.get(("f32", 2))

        def rival(of, name):
            return of["rivals"].get(name) if of else None

        cells = [one, two, rival(one, "openblas"), rival(two, "openblas"), rival(one, "naive"),
                 row.get(("bf16", 1)), row.get(("bf16", 2))]
        yield (f"| {length} | {dim} | {'yes' if causal else 'no'} | "
               + " | ".join(percent(cell) for cell in cells) + " |")


def table(directory):
    """`make bench`'s results, then those of `make bench-peers`, each kind with its note."""
    alone, beside = [], []
    for path in sorted(directory.glob("*.json")):
        results = json.loads(path.read_text())
        if "peers" in results:
            beside += [wrapped(peers_table.about(results)), "", *peers_table.lines(results), ""]
        else:
            alone += [heading(results), "", *lines(results["rows"]), ""]
    if not alone and not beside:
        sys.exit(f"no results in {directory}; run `make bench` first")
    alone += [wrapped(NOTE)] if alone else []
    beside += [wrapped(peers_table.NOTE)] if beside else []
    return "\n".join(alone + [""] * bool(alone and beside) + beside)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    parser.add_argument("--readme", type=pathlib.Path, default=ROOT / "README.md")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true", help="put the tables into the README")
    action.add_argument("--check", action="store_true", help="fail if the README has others")
    arguments = parser.parse_args()
    made = table(arguments.results)
    if not arguments.write and not arguments.check:
        print(made)
        return
    text = arguments.readme.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{arguments.readme} needs {BEGIN} and {END}, once each")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    wanted = f"{before}{BEGIN}\n{made}\n{END}{after}"
    if arguments.write:
        arguments.readme.write_text(wanted)
    elif text != wanted:
        sys.exit(f"{arguments.readme} has other tables; run tools/bench_table.py --write")


if __name__ == "__main__":
    main()
