#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "rivals.hpp"

namespace scaledot::bench {

namespace {

constexpr int row_major = 101, as_it_is = 111, transposed = 112;  // of cblas.h

void* open_library() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  return library != nullptr ? library : dlopen("libopenblas.so", RTLD_NOW | RTLD_LOCAL);
}

// A function of the library that takes nothing and returns a string; "" if it is not there.
std::string ask(void* library, const char* function) {
  const auto asked = reinterpret_cast<const char* (*)()>(dlsym(library, function));
  return asked != nullptr ? asked() : "";
}

// The core that OpenBLAS takes by itself. It decides when it is loaded, hence the process.
std::string core_left_alone() {
  int ends[2];
  if (pipe(ends) != 0) return "";
  const pid_t child = fork();
  if (child == 0) {
    void* library = open_library();
    const std::string core = library != nullptr ? ask(library, "openblas_get_corename") : "";
    const ssize_t written = write(ends[1], core.data(), core.size());
    _exit(written < 0 ? 1 : 0);
  }
  close(ends[1]);
  char core[64];
  const ssize_t length = child > 0 ? read(ends[0], core, sizeof core) : 0;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return std::string(core, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
}

// The core whose kernels use what this processor has; "" if OpenBLAS' own choice does that.
std::string better_core([[maybe_unused]] const std::string& own) {
#if defined(__x86_64__)
  const auto is_one_of = [&own](std::initializer_list<const char*> cores) {
    return std::find(cores.begin(), cores.end(), own) != cores.end();
  };
  const bool avx512 = is_one_of({"SkylakeX", "Cooperlake", "SapphireRapids"});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && !avx512)
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && !avx512 && !is_one_of({"Haswell", "Zen", "Excavator"}))
    return "Haswell";
#endif
  return "";
}

}  // namespace

// Some queries of one head; the pointers are to their rows and to the first key they see.
struct OpenBlas::Block {
  const measure::Shape& shape;
  Index first = 0, queries = 0;
  measure::Seen seen;  // by at least one of them
  const float *query = nullptr, *key = nullptr, *value = nullptr;
  float* output = nullptr;
};

std::unique_ptr<OpenBlas> OpenBlas::load() {
  const std::string own = core_left_alone();
  const std::string better = better_core(own);
  if (!own.empty() && !better.empty()) setenv("OPENBLAS_CORETYPE", better.c_str(), 0);
  void* library = open_library();
  if (library == nullptr) return nullptr;
  auto blas = std::make_unique<OpenBlas>();
  blas->gemm_ = reinterpret_cast<Gemm>(dlsym(library, "cblas_sgemm"));
  const auto use_threads =
      reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  if (blas->gemm_ == nullptr || use_threads == nullptr) return nullptr;
  use_threads(1);
  blas->core_ = ask(library, "openblas_get_corename");
  blas->own_ = own;
  blas->version_ = ask(library, "openblas_get_config");
  return blas;
}

void OpenBlas::attend_block(const Block& block, float* logits) const {
  const int queries = static_cast<int>(block.queries);
  const int keys = static_cast<int>(block.seen.end - block.seen.begin);
  const int head_dim = static_cast<int>(block.shape.head_dim);
  const int value_dim = static_cast<int>(block.shape.value_dim);
  const float scale = 1 / std::sqrt(static_cast<float>(head_dim));
  gemm_(row_major, as_it_is, transposed, queries, keys, head_dim, scale, block.query, head_dim,
        block.key, head_dim, 0, logits, keys);
  std::vector<float> sums;
  for (Index i = 0; i < block.queries; ++i) {
    const measure::Seen seen = measure::seen_by(block.shape, block.first + i);
    float* row = logits + i * keys;
    float* begin = row + (seen.begin - block.seen.begin);
    float* end = row + (seen.end - block.seen.begin);
    std::fill(row, begin, 0.0f);
    sums.push_back(begin < end ? exponentials(begin, end - begin) : 1);
    std::fill(end, row + keys, 0.0f);
  }
  gemm_(row_major, as_it_is, as_it_is, queries, value_dim, keys, 1, logits, keys, block.value,
        value_dim, 0, block.output, value_dim);
  for (Index i = 0; i < block.queries; ++i)
    for (Index d = 0; d < value_dim; ++d)
      block.output[i * value_dim + d] /= sums[static_cast<std::size_t>(i)];
}

void OpenBlas::attend(measure::Tensors& tensors, measure::Team& team) const {
  constexpr Index block_queries = 128;  // the best of 64 to 512, causal above all
  const measure::Shape& shape = tensors.shape();
  const Index blocks = (shape.queries + block_queries - 1) / block_queries;
  const Index tasks = shape.batch * shape.heads * blocks;
  std::atomic<Index> next{0};
  team.run([&](int) {
    thread_local std::vector<float> logits;  // kept: touching new pages would take its time
    const auto needed = static_cast<std::size_t>(block_queries * shape.keys);
    if (logits.size() < needed) logits.resize(needed);
    for (Index task = next++; task < tasks; task = next++) {
      const Index head = task / blocks, key_head = head / (shape.heads / shape.key_heads);
      const Index first = task % blocks * block_queries;
      const Index queries = std::min(block_queries, shape.queries - first);
      const measure::Seen seen{measure::seen_by(shape, first).begin,
                               measure::seen_by(shape, first + queries - 1).end};
      const Index row = head * shape.queries + first, key_row = key_head * shape.keys + seen.begin;
      attend_block({shape, first, queries, seen,
                    static_cast<const float*>(tensors.query().data) + row * shape.head_dim,
                    static_cast<const float*>(tensors.key().data) + key_row * shape.head_dim,
                    static_cast<const float*>(tensors.value().data) + key_row * shape.value_dim,
                    static_cast<float*>(tensors.output().data) + row * shape.value_dim},
                   logits.data());
    }
  });
}

}  // namespace scaledot::bench
