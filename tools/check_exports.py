#!/usr/bin/env python3
"""Checks that a shared library exports exactly the functions that the public headers declare.

    tools/check_exports.py build/shared/libscaledot.so
"""
import pathlib
import re
import subprocess
import sys

DECLARED = re.compile(r"^(?:\[\[nodiscard\]\] )?SCALEDOT_EXPORT [^(;]*?(\w+)\(", re.M)


def declared():
    for header in pathlib.Path("include/scaledot").iterdir():
        prefix = "" if header.suffix == ".h" else "scaledot::"
        for name in DECLARED.findall(header.read_text()):
            yield prefix + name


def exported(library):
    listed = subprocess.run(["nm", "--dynamic", "--defined-only", "--demangle", library],
                            check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        yield line.split(maxsplit=2)[2].split("(")[0].removesuffix("[abi:cxx11]")


def main():
    if len(sys.argv) != 2:
        return __doc__
    wanted, found = set(declared()), set(exported(sys.argv[1]))
    for name in sorted(found - wanted):
        print(f"exported, but not part of the interface: {name}")
    for name in sorted(wanted - found):
        print(f"declared, but not exported: {name}")
    print(f"{len(found)} functions exported, {len(wanted)} declared")
    return 0 if wanted and wanted == found else 1


if __name__ == "__main__":
    sys.exit(main())
