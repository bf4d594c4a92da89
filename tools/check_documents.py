#!/usr/bin/env python3
"""Compiles each ```cpp and ```c block of README.md and docs/, and runs those that have a main().

    tools/check_documents.py build/release/libscaledot.a
"""
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(cpp|c)\n(.*?)^```$", re.M | re.S)
COMPILERS = {"cpp": ["g++", "-std=c++20", "-x", "c++"], "c": ["gcc", "-std=c11", "-x", "c"]}
FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Iinclude"]


def fault_of(language, text, library, folder):
    source, program = folder / "block", folder / "program"
    source.write_text(text)
    runs = re.search(r"^int main\(", text, re.M)
    output = ["-x", "none", library, "-lstdc++", "-lm", "-pthread", "-o", program] if runs else \
             ["-fsyntax-only"]
    commands = [[*COMPILERS[language], *FLAGS, source, *output]] + ([[program]] if runs else [])
    for command in commands:
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            return ran.stderr or f"the program ends with {ran.returncode}\n{ran.stdout}"
    return None


def main():
    if len(sys.argv) != 2:
        return __doc__
    blocks = faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for document in [pathlib.Path("README.md"), *sorted(pathlib.Path("docs").glob("*.md"))]:
            text = document.read_text()
            for block in BLOCK.finditer(text):
                fault = fault_of(*block.groups(), sys.argv[1], pathlib.Path(folder))
                blocks += 1
                if fault:
                    faults += 1
                    line = text[:block.start()].count("\n") + 1
                    print(f"{document}:{line}: this block does not compile or run alone\n{fault}")
    print(f"{blocks} blocks of code, {faults} faults")
    return 0 if blocks and not faults else 1


if __name__ == "__main__":
    sys.exit(main())
