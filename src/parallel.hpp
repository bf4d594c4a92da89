// Independent tasks shared out among threads.
#pragma once

#include "scaledot/attention.hpp"

namespace scaledot {

// How many threads a call may use if it does not say: SCALEDOT_THREADS, or the processors this
// process may run on. Negative if SCALEDOT_THREADS is set and not a number from 1 to 65536. Asked
// once a process.
int default_threads() noexcept;

// The processors this process may run on: its affinity mask, at least 1.
int cores_allowed() noexcept;

// Calls task(context, index, worker) once for each index in [0, count), each worker (0 to threads -
// 1) taking the next index that is left. Worker 0 is the caller. If no thread can be started, the
// caller does all of it.
void parallel_for(Index count, int threads, void* context,
                  void (*task)(void* context, Index index, int worker)) noexcept;

}  // namespace scaledot
