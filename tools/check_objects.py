#!/usr/bin/env python3
"""Checks the compiled kernels of a build folder, so that code for one instruction set cannot be run
on a processor without it: the linker keeps one copy of each weak symbol, from whichever object.

    tools/check_objects.py build/release

Each kernel object must export its table and nothing else, carry its SIMD struct's name in every
weak symbol, hold no data beyond the table, run nothing before main, and call nothing but CALLABLE.
"""
import pathlib
import re
import subprocess
import sys

# What the compiler itself may call, std::fma in scalar code, and assert() in builds that have it.
CALLABLE = re.compile(r"mem(cpy|set|move|cmp)|fmaf?|__assert_fail|__stack_chk_fail|_Unwind_Resume|"
                      r"_GLOBAL_OFFSET_TABLE_|(DW\.ref\.)?__gxx_personality_v0")
# Num: Value Size Type Bind Visibility [other] Section Name
SYMBOL = re.compile(r"^ *\d+: [0-9a-f]+ +\w+ (\w+) +(\w+) +\w+ +(?:\[.*?\] +)?(\w+) (\S+)$", re.M)
BEFORE_MAIN = re.compile(r"\.(init_array|ctors|tdata|tbss)\b")


def readelf(option, path):
    return subprocess.run(["readelf", "--wide", option, path], check=True, capture_output=True,
                          text=True).stdout


def faults_of(path):
    isa = path.name.split(".")[0]                  # avx512.cpp.o
    struct = f"{len(isa)}{isa.capitalize()}"       # 6Avx512, as the mangled name has it
    exported = []
    for type_, bind, section, name in SYMBOL.findall(readelf("--syms", path)):
        if type_ in ("FILE", "SECTION"):
            continue
        if CALLABLE.fullmatch(name):
            continue
        if section == "UND":
            yield f"calls {name}"
        elif bind == "GLOBAL":
            exported.append(name)
        elif bind != "LOCAL" and struct not in name:
            yield f"weak symbol without {struct[1:]}: {name}"
        elif type_ in ("OBJECT", "TLS"):
            yield f"static data: {name}"
    table = f"{isa}_table"
    if exported != [f"_ZN8scaledot7kernels{len(table)}{table}E"]:
        yield f"exports {exported}, not only {table}"
    for section in sorted(set(BEFORE_MAIN.findall(readelf("--sections", path)))):
        yield f"runs before main: .{section}"


def main():
    if len(sys.argv) != 2:
        return __doc__
    objects = sorted(pathlib.Path(sys.argv[1]).glob("**/scaledot.dir/src/kernels/*.o"))
    if not objects:
        return f"no kernel objects under {sys.argv[1]}"
    faults = [f"{path.name}: {fault}" for path in objects for fault in faults_of(path)]
    for fault in faults:
        print(fault)
    print(f"{', '.join(path.name for path in objects)}: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
