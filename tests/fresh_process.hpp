// Runs one test of this program again in a process of its own, with other environment variables:
// the library asks for them once.
#pragma once

#include <string>
#include <vector>

namespace scaledot::tests {

// "NAME=value", or "NAME" to have it not set at all.
using Environment = std::vector<std::string>;

// Whether this is that process.
bool fresh_process();

// Whether an emulator runs this program, so that its memory is counted too.
bool is_emulated();

// What waitpid() says of it: 0 if the test passed. `test` is "Suite.name".
int in_fresh_process(const char* test, const Environment& environment);

// The test that is running, as "Suite.name".
std::string this_test();

}  // namespace scaledot::tests
