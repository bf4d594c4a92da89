#!/usr/bin/env bash
# Installs the Debian packages that the given groups need and this machine lacks, if any: `build` is
# for building, testing and measuring, `ci` for the further checks of .ci/run, `peers` for comparing
# with other libraries.
set -euo pipefail

build=(
  g++ cmake ninja-build pkg-config       # the toolchain
  libcli11-dev nlohmann-json3-dev libzip-dev  # the scaledot program
  libgtest-dev libgmock-dev librapidcheck-dev python3 python3-numpy  # the tests
  libbenchmark-dev libopenblas-dev       # the benchmarks
)
ci=(
  clang clang-format-14 libclang-rt-14-dev llvm  # second compiler, format, fuzzing, readable traces
  g++-aarch64-linux-gnu qemu-user        # NEON
  binutils git                           # tools/check_*.py
  valgrind                               # counting instructions
)
peers=(python3-venv)

if [ $# -eq 0 ]; then
  echo "usage: $0 build|ci|peers ..." >&2
  exit 2
fi
wanted=()
for group in "$@"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    ci) wanted+=("${ci[@]}") ;;
    peers) wanted+=("${peers[@]}") ;;
    *) echo "$0: no group '$group'" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "$0: not a Debian system; going on with what is there. Needed, by Debian's names:" >&2
  echo "    ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=(sudo)
  else
    echo "$0: packages are missing, and this user may not install them. As root, run" >&2
    echo "    apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi

apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300)
echo "Installing: ${missing[*]}"
"${apt[@]}" update || echo "$0: apt-get update failed; trying with the lists that are there" >&2
if ! "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null; then
  echo "$0: apt-get could not install what is needed: ${missing[*]}" >&2
  exit 1
fi
