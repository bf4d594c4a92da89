#!/usr/bin/env python3
"""Counts the instructions of a few calls of attend() and compares them with those on record, so
that a change of speed is seen where no clock can be trusted: a path that is no longer taken, a loop
that the compiler no longer vectorizes.

    bench/count_instructions.py             fails if a call takes 3 % more or fewer than recorded
    bench/count_instructions.py --record    records what it finds

valgrind counts, so this is one thread on avx2, whatever the processor. Counts are a compiler's own:
with another one than that on record, or without valgrind, it fails too.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/release/bench/scaledot_instructions"
RECORD = ROOT / "bench/instructions.txt"
TOLERANCE = 0.03
VALGRIND = ["valgrind", "--quiet", "--tool=callgrind", "--combine-dumps=yes",
            "--collect-atstart=no", "--toggle-collect=scaledot::attend(*",
            "--dump-after=scaledot::bench::counted_call(*"]
HEADING = """\
# Instructions of one call of attend(), one thread, avx2:
# make instructions INSTRUCTIONS=--record
"""


def read(text):
    """Lines of a key and a value; "call" has the cases in order, and a record their counts."""
    pairs = [line.split(maxsplit=1) for line in text.splitlines() if not line.startswith("#")]
    return [(key, value.strip()) for key, value in pairs]


def counted():
    """The compiler of the program, and the instructions of each of its calls."""
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "profile"
        ran = subprocess.run(VALGRIND + [f"--callgrind-out-file={profile}", PROGRAM],
                             env=os.environ | {"SCALEDOT_ISA": "avx2"}, stdout=subprocess.PIPE,
                             text=True)
        if ran.returncode != 0:
            sys.exit(f"{PROGRAM.name} failed under valgrind")
        totals = [int(total) for total in re.findall(r"^totals: (\d+)$", profile.read_text(), re.M)]
    (_, compiler), *calls = read(ran.stdout)
    # One part of the profile a call, and one for the end of the program, in which there is none.
    if len(totals) != len(calls) + 1 or 0 in totals[:-1] or totals[-1] != 0:
        sys.exit(f"expected {len(calls)} calls in the profile and nothing else, found {totals}")
    return compiler, {name: total for (_, name), total in list(zip(calls, totals))[1:]}


def compared(counts, recorded):
    """Prints a table; returns how many of its rows are not as recorded."""
    faults = 0
    print(f"{'call':32}{'recorded':>12}{'now':>12}{'change':>10}")
    for name in recorded | counts:
        before, now = recorded.get(name), counts.get(name)
        change = now / before - 1 if before and now else None
        bad = change is None or abs(change) > TOLERANCE
        faults += bad
        print(f"{name:32}{before or 'none':>12}{now or 'none':>12}"
              + (f"{100 * change:+9.2f}%" if change is not None else " " * 10) + "  <--" * bad)
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write bench/instructions.txt")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        return "valgrind is not installed, so no instruction was counted"
    if not PROGRAM.exists():
        return f"{PROGRAM} is missing: make instructions builds it"
    compiler, counts = counted()
    old = dict(read(RECORD.read_text())) if RECORD.exists() else {}
    recorded_compiler = old.pop("compiler", "no compiler")
    faults = compared(counts, {name: int(count) for name, count in old.items()})
    if arguments.record:
        lines = [f"{name:32}{count:>12}" for name, count in counts.items()]
        RECORD.write_text(HEADING + "\n".join([f"compiler {compiler}"] + lines) + "\n")
        print(f"recorded for {compiler}")
        return 0
    if recorded_compiler != compiler:
        return (f"recorded for {recorded_compiler}, this is {compiler}: the counts cannot be "
                f"compared. Record them before your change, and look at the difference")
    if faults:
        return (f"{faults} counts are not within {TOLERANCE:.0%} of the record. If that is meant, "
                f"say why in the commit and run: make instructions INSTRUCTIONS=--record")
    print(f"{compiler}: {len(counts)} calls within {TOLERANCE:.0%} of the record")
    return 0


if __name__ == "__main__":
    sys.exit(main())
