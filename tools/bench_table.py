#!/usr/bin/python3
"""Turns bench/results/*.json into the README's tables: those of `make bench` go between the markers
bench:begin and bench:end, those of `make bench-peers` between peers:begin and peers:end.

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
NOTE = ("Percent of the processor's peak of f32 multiply-adds on as many threads, measured between "
        "the repetitions: the median of at least ten, warm cache. Eight heads, at length 16384 "
        "one. Causal counts the pairs that are seen. Left out: shapes and rivals that were not "
        "measured (`make bench` says which).")


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


def alone(results):
    return [heading(results), "", *lines(results["rows"]), ""]


def beside(results):
    return [wrapped(peers_table.about(results)), "", *peers_table.lines(results), ""]


def sections(directory):
    """The text of each: a table a file, and the note. Empty if there is no file of its kind."""
    bench, peers = [], []
    for path in sorted(directory.glob("*.json")):
        results = json.loads(path.read_text())
        if "peers" in results:
            peers += beside(results)
        else:
            bench += alone(results)
    if not bench and not peers:
        sys.exit(f"no results in {directory}; run `make bench` or `make bench-peers` first")
    return {"bench": "\n".join([*bench, wrapped(NOTE)] if bench else []),
            "peers": "\n".join([*peers, wrapped(peers_table.NOTE)] if peers else [])}


def replaced(text, made, where):
    """The text with what was made between the markers of each section."""
    for name, section in made.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        if not all(text.count(marker) == 1 for marker in (begin, end)) or end in before:
            sys.exit(f"{where} needs {begin} and then {end}, once each")
        text = before + begin + (f"\n{section}\n" if section else "\n") + end + after
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    parser.add_argument("--readme", type=pathlib.Path, default=ROOT / "README.md")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true", help="put the tables into the README")
    action.add_argument("--check", action="store_true", help="fail if the README has others")
    arguments = parser.parse_args()
    made = sections(arguments.results)
    if not arguments.write and not arguments.check:
        print("\n\n".join(section for section in made.values() if section))
        return
    text = arguments.readme.read_text()
    wanted = replaced(text, made, arguments.readme)
    if arguments.write:
        arguments.readme.write_text(wanted)
    elif text != wanted:
        sys.exit(f"{arguments.readme} has other tables; run tools/bench_table.py --write")


if __name__ == "__main__":
    main()
