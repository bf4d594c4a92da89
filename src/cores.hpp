// The processors this process may use, and the threads a call gets that does not say.
#pragma once

namespace scaledot {

// The processors this process may run on: those of its affinity mask, or fewer if its cgroups allow
// less time than that. At least 1.
int cores_allowed() noexcept;

// How many threads a call may use if it does not say: SCALEDOT_THREADS, or cores_allowed().
// Negative if SCALEDOT_THREADS is neither empty nor a number from 1 to most_threads. Asked once a
// process, since workspace_bytes() and attend() must agree.
int default_threads() noexcept;

// The processor time that this process's cgroups allow, in processors, rounded up: the least of
// cpu.max (version 2) and cpu.cfs_quota_us (version 1) of its own cgroup and those around it. 0 if
// there is no limit. `root` goes before /proc and /sys, and is empty but for tests.
int cgroup_cores(const char* root) noexcept;

}  // namespace scaledot
