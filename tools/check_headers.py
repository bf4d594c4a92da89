#!/usr/bin/env python3
"""Checks that every header compiles alone: with g++ and clang++ for the public ones, as C11
too where they end in .h, and with g++ for the rest (the cross compiler for NEON)."""
import concurrent.futures
import os
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
C = ["-x", "c", "-std=c11"]
CXX = ["-x", "c++", "-std=c++20"]
X86 = ["-mavx2", "-mfma", "-mf16c", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl",
       "-mamx-tile", "-mamx-bf16"]


def commands_for(header):
    """The compilers to try on a header, without the input."""
    if header.startswith("include/"):
        for compiler in ("g++", "clang++"):
            yield [compiler, *CXX]
        if header.endswith(".h"):
            for compiler in ("gcc", "clang"):
                yield [compiler, *C]
    elif "neon" in header:
        yield ["aarch64-linux-gnu-g++", *CXX]
    else:
        yield ["g++", *CXX, *(X86 if header.startswith("src/kernels/") else [])]


def fault_of(header, command):
    """What the compiler says of a file that includes the header twice and nothing else."""
    text = f'#include "{os.path.abspath(header)}"\n' * 2 + "extern int not_empty;\n"
    folders = [os.path.dirname(header), header.split("/")[0], "include", "src", "bench", "cli"]
    paths = [f"-I{folder}" for folder in folders]
    ran = subprocess.run([*command, *WARNINGS, *paths, "-fsyntax-only", "-"], input=text,
                         capture_output=True, text=True)
    return ran.returncode and f"{header} does not compile alone ({command[0]}):\n{ran.stderr}"


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.h",
                             "*.hpp"], check=True, capture_output=True, text=True).stdout
    headers = [header for header in listed.split() if os.path.exists(header)]
    jobs = [(header, command) for header in headers for command in commands_for(header)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(lambda job: fault_of(*job), jobs) if fault]
    print("\n".join(faults + [f"{len(headers)} headers, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
