#!/usr/bin/env python3
"""Checks of every text file what a tool can see of the style: clang-format, ASCII, 100
columns, 300 lines, no tabs, no blanks at the end of a line. Prints one line a fault."""
import pathlib
import re
import subprocess
import sys

CPP = (".c", ".cpp", ".h", ".hpp")
SCRIPTS = (".py", ".sh", ".cmake", ".in")
# Files with one of these names are code too, and scripts without a suffix.
PLAIN = ("CMakeLists.txt", ".clang-format", ".gitignore", "Makefile")
COLUMNS, LINES = 100, 300
UNBREAKABLE = re.compile(r"^\s*\|.*\|\s*$|https?://\S{60}")  # a table's row, a long address


def files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout
    paths = [pathlib.Path(name) for name in listed.splitlines()]
    return [path for path in paths if path.is_file()]


def is_code(path):
    return (path.suffix in CPP + SCRIPTS or path.name in PLAIN
            or path.suffix == "" and path.name != "LICENSE" and path.read_bytes()[:2] == b"#!")


def faults_of(path):
    data = path.read_bytes()
    lines = data.split(b"\n")
    if lines[-1] != b"":
        yield len(lines), "the last line has no end"
    if is_code(path) and len(lines) - 1 > LINES:
        yield LINES + 1, f"{len(lines) - 1} lines, at most {LINES}"
    for number, line in enumerate(lines, 1):
        if not line.isascii():
            yield number, "not ASCII"
        if b"\t" in line and path.name != "Makefile":
            yield number, "a tab"
        if line != line.rstrip():
            yield number, "blanks at the end"
        if len(line) > COLUMNS and not UNBREAKABLE.search(line.decode(errors="replace")):
            yield number, f"{len(line)} columns, at most {COLUMNS}"


def formatted(path):
    ran = subprocess.run(["clang-format-14", "--dry-run", "--Werror", path], capture_output=True)
    return ran.returncode == 0


def main():
    paths = files()
    texts = [path for path in paths if is_code(path) or path.suffix == ".md"]
    faults = [f"{path}:{number}: {fault}" for path in texts for number, fault in faults_of(path)]
    faults += [f"{path}: `make format` would change it" for path in paths
               if path.suffix in CPP and not formatted(path)]
    for fault in faults:
        print(fault)
    if faults:
        return f"{len(faults)} faults of style"
    print(f"{len(texts)} files: no fault of style")
    return 0


if __name__ == "__main__":
    sys.exit(main())
