# A thin front on the CMake presets, for Debian 12; elsewhere use the presets themselves.
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60

.PHONY: build demo test test-large bench bench-peers instructions clang asan tsan neon aarch64 \
        fuzz format check-format clean help
.NOTPARALLEL:

# Configures preset $(1) and builds the targets $(2), all if none are named.
preset = cmake --preset $(1) && cmake --build --preset $(1) --parallel $(JOBS) \
         $(if $(2),--target $(2))
install = @tools/install_packages.sh

build:         ## build the program (build/scaledot) and the library
	$(install) build
	$(call preset,release,scaledot scaledot_cli)
	@ln -sfn release/cli/scaledot build/scaledot

demo:          ## align an English and a French sentence, and draw the weights
	$(install) build
	$(call preset,release,scaledot_demo)
	@build/release/examples/scaledot_demo $(DEMO)

test:          ## build everything and pass all tests
	$(install) build
	$(call preset,dev)
	ctest --preset dev --parallel $(JOBS)

test-large:    ## the tests that need many gigabytes of memory
	$(install) build
	$(call preset,dev)
	ctest --preset large

bench:         ## the benchmark list, beside the peak of this processor: a table and JSON
	$(install) build
	$(call preset,release,scaledot_bench)
	@bench/run $(BENCH)

bench-peers:   ## the same work by PyTorch (3 GB to download), ONNX Runtime, OpenVINO, JAX and ours
	$(install) build peers
	$(call preset,release,scaledot_peers)
	@bench/peers/run $(PEERS)

instructions:  ## count the instructions of some calls; fails if they are not as recorded
	$(install) build ci
	$(call preset,release,scaledot_instructions)
	@bench/count_instructions.py $(INSTRUCTIONS)

clang:         ## the tests, built by clang
asan:          ## the tests, under AddressSanitizer and UndefinedBehaviorSanitizer
tsan:          ## the tests, under ThreadSanitizer
neon: aarch64  ## the tests, cross-compiled for 64-bit Arm, under qemu
clang asan tsan aarch64:
	$(install) build ci
	$(call preset,$@)
	ctest --preset $@ --parallel $(JOBS)

fuzz:          ## the fuzz targets, FUZZ_SECONDS in all
	$(install) build ci
	$(call preset,fuzz)
	@fuzz/run build/fuzz/fuzz $(FUZZ_SECONDS)

format:        ## format the sources
	$(install) ci
	git ls-files '*.c' '*.cpp' '*.h' '*.hpp' | xargs clang-format-14 -i

check-format:  ## formatting, and what else a tool can see of the style
	$(install) ci
	@tools/check_format.py

clean:         ## remove build/
	rm -rf build

help:          ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## */  \1 \t/p' Makefile | expand -t 18
