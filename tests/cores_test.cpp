// How much of the machine a process may use: cgroups, in a folder that looks like a machine's.
#include "cores.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>

#include "fresh_process.hpp"

namespace scaledot::tests {
namespace {

class Machine {
 public:
  Machine() {
    std::string name = testing::TempDir() + "scaledot_machine_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~Machine() { std::filesystem::remove_all(root_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Machine& file(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ + "/" + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
    return *this;
  }
  // A file below the mounted cgroups.
  Machine& cgroup(const std::string& path, const std::string& text) {
    return file("sys/fs/cgroup/" + path, text);
  }
  Machine& process(const std::string& text) { return file("proc/self/cgroup", text); }
  int cores() const { return cgroup_cores(root_.c_str()); }

 private:
  std::string root_;
};

TEST(Cores, no_cgroups_no_limit) {
  EXPECT_EQ(Machine().cores(), 0);
  EXPECT_EQ(Machine().process("0::/a\n").cores(), 0);
}

TEST(Cores, version_2_is_rounded_up) {
  for (const auto& [text, cores] : {std::pair<const char*, int>{"max 100000\n", 0},
                                    {"100000 100000\n", 1},
                                    {"100001 100000\n", 2},
                                    {"1000 100000\n", 1},
                                    {"250000 100000\n", 3},
                                    {"40000 10000", 4},
                                    {"9223372036854775807 1\n", 2147483647},
                                    {"1 0\n", 0},
                                    {"-5 100000\n", 0},
                                    {"", 0},
                                    {"nonsense\n", 0}})
    EXPECT_EQ(Machine().process("0::/a\n").cgroup("a/cpu.max", text).cores(), cores) << text;
}

TEST(Cores, the_least_of_the_cgroups_around_it_counts) {
  Machine machine;
  machine.process("0::/a/b/c\n").cgroup("a/b/c/cpu.max", "500000 100000\n");
  EXPECT_EQ(machine.cores(), 5);
  EXPECT_EQ(machine.cgroup("a/cpu.max", "300000 100000\n").cores(), 3);
  EXPECT_EQ(machine.cgroup("a/b/cpu.max", "max 100000\n").cores(), 3);
  EXPECT_EQ(machine.cgroup("a/d/cpu.max", "100000 100000\n").cores(), 3) << "not around it";
  EXPECT_EQ(machine.cgroup("cpu.max", "200000 100000\n").cores(), 2);
}

TEST(Cores, a_container_that_sees_its_own_cgroup_as_the_root) {
  EXPECT_EQ(Machine().process("0::/\n").cgroup("cpu.max", "200000 100000\n").cores(), 2);
  // Version 1 names the folder as the host sees it.
  EXPECT_EQ(Machine()
                .process("5:memory:/far/away\n4:cpu,cpuacct:/far/away\n")
                .cgroup("cpu/cpu.cfs_quota_us", "150000\n")
                .cgroup("cpu/cpu.cfs_period_us", "100000\n")
                .cores(),
            2);
}

TEST(Cores, version_1) {
  for (const auto& [controllers, folder] : {std::pair<const char*, const char*>{"cpu", "cpu"},
                                            {"cpu,cpuacct", "cpu,cpuacct"},
                                            {"cpuacct,cpu", "cpu"}}) {
    Machine machine;
    machine.process("7:cpuset:/x\n3:" + std::string(controllers) + ":/a\n0::/\n");
    const std::string place = std::string(folder) + "/a/";
    machine.cgroup(place + "cpu.cfs_quota_us", "-1\n");
    machine.cgroup(place + "cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(machine.cores(), 0);
    machine.cgroup(place + "cpu.cfs_quota_us", "300001\n");
    EXPECT_EQ(machine.cores(), 4) << controllers;
    machine.cgroup("cpuset/x/cpu.cfs_quota_us", "100000\n");
    machine.cgroup("cpuset/x/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(machine.cores(), 4) << "of another controller";
  }
}

TEST(Cores, both_versions_at_once) {
  EXPECT_EQ(Machine()
                .process("1:cpu:/\n0::/b\n")
                .cgroup("cpu/cpu.cfs_quota_us", "700000\n")
                .cgroup("cpu/cpu.cfs_period_us", "100000\n")
                .cgroup("unified/b/cpu.max", "600000 100000\n")
                .cores(),
            6);
}

TEST(Cores, names_beyond_all_measure) {
  EXPECT_EQ(Machine().process("0::/" + std::string(6000, 'a') + "\n").cores(), 0);
  EXPECT_EQ(Machine().process("0::" + std::string(9000, '/')).cores(), 0);
  EXPECT_EQ(Machine().process("cpu\n:\n::\n\n0:cpu\n").cores(), 0);
}

TEST(Cores, the_affinity_mask_counts) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_LE(cores_allowed(), CPU_COUNT(&all));
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(cores_allowed(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

TEST(Cores, default_threads_is_what_the_environment_says) {
  if (fresh_process()) {
    const char* text = std::getenv("SCALEDOT_THREADS");
    const std::string number = text == nullptr ? "" : text;
    EXPECT_EQ(default_threads(), number.empty()      ? cores_allowed()
                                 : number == "65536" ? 65536
                                 : number == "3"     ? 3
                                                     : -1);
    return;
  }
  for (const char* value : {"SCALEDOT_THREADS", "SCALEDOT_THREADS=3", "SCALEDOT_THREADS=65536",
                            "SCALEDOT_THREADS=0", "SCALEDOT_THREADS=65537", "SCALEDOT_THREADS=2x",
                            "SCALEDOT_THREADS=", "SCALEDOT_THREADS=-1"})
    EXPECT_EQ(in_fresh_process(this_test().c_str(), {value}), 0) << value;
}

}  // namespace
}  // namespace scaledot::tests
