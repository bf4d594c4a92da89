#!/usr/bin/env python3
"""Makes the virtual environment of the comparison, and installs what it can of the peers.

    install.py FOLDER [--only torch,jax]

A peer that cannot be installed is told and left out. pip's own settings hold: an index that has
PyTorch's wheel for the CPU alone makes the largest download ten times smaller.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

NUMPY = "numpy==2.4.6"
# What pip gets for each, and the gigabytes it downloads and takes on the disk.
PEERS = {
    "torch": (["torch==2.15.0"], 3, 6),
    "onnxruntime": (["onnxruntime==1.32.0", "onnx==1.23.2"], 0.1, 0.2),
    "openvino": (["openvino==2026.4.1"], 0.1, 0.3),
    "jax": (["jax==0.10.2"], 0.2, 0.6),
}


def installed(folder, requirement):
    name, version = requirement.split("==")
    return any(folder.glob(f"lib/python*/site-packages/{name}-{version}.dist-info"))


def pip(folder, requirements):
    command = [folder / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check",
               *requirements]
    return subprocess.run(command).returncode == 0


def install(folder, name):
    requirements, download, disk = PEERS[name]
    if all(installed(folder, requirement) for requirement in requirements):
        return
    free = shutil.disk_usage(folder).free / 1e9
    print(f"{name}: downloads up to {download} GB, which take {disk} GB of the {free:.0f} GB free",
          flush=True)
    if free < 1.5 * disk + download:
        print(f"{name}: left out, the disk is too full")
    elif not pip(folder, requirements):
        print(f"{name}: left out, pip could not install it")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(PEERS))
    arguments, _ = parser.parse_known_args()
    unknown = set(arguments.only.split(",")) - set(PEERS)
    if unknown:
        sys.exit(f"--only {','.join(sorted(unknown))}: there are {', '.join(PEERS)}")
    folder = arguments.folder
    if not (folder / "bin" / "pip").exists():
        made = subprocess.run([sys.executable, "-m", "venv", folder]).returncode == 0
        if not made:
            sys.exit("no virtual environment; on Debian: apt-get install python3-venv")
    if not installed(folder, NUMPY) and not pip(folder, [NUMPY]):
        sys.exit(f"pip could not install {NUMPY}, without which nothing can be compared")
    for name in arguments.only.split(","):
        install(folder, name)


if __name__ == "__main__":
    main()
