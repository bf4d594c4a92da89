// How many threads a call of attend() takes.
#pragma once

namespace scaledot::cli {

// The threads that Options::threads stands for, valid as it is.
int threads_in_use(int threads);

}  // namespace scaledot::cli
