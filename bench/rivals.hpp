// What attend() is compared with: the loops anybody would write, and the same on a fast library.
// For f32 tensors, the seen keys of causal and window only.
#pragma once

#include <memory>
#include <string>

#include "measure/team.hpp"
#include "measure/tensors.hpp"

namespace scaledot::bench {

// Textbook loops on one thread, as the compiler makes them: logits, softmax, weighted sum, a query
// at a time. Only the leading `heads` of batch entry 0.
void naive_attention(measure::Tensors& tensors, Index heads);

// exp(logit - largest) in place, and their sum. Not exact to the last bit, but fast: vector code.
float exponentials(float* logits, Index count);

// OpenBLAS, found at run time.
class OpenBlas {
 public:
  // Null if it is not installed. Debian's version does not know every processor, and takes slow
  // kernels on those it does not know. So if no OPENBLAS_CORETYPE is set and OpenBLAS, asked in a
  // process of its own, chooses a core that lacks what this processor has, it is told a better one.
  // No other thread may run yet.
  static std::unique_ptr<OpenBlas> load();

  const std::string& core() const { return core_; }       // that it uses
  const std::string& own_choice() const { return own_; }  // that it takes when left alone
  const std::string& version() const { return version_; }

  // sgemm, softmax, sgemm for some queries of a head at a time, each by one of the team's threads.
  void attend(measure::Tensors& tensors, measure::Team& team) const;

 private:
  using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                        const float* a, int lda, const float* b, int ldb, float beta, float* c,
                        int ldc);
  struct Block;

  void attend_block(const Block& block, float* logits) const;

  Gemm gemm_ = nullptr;
  std::string core_, own_, version_;
};

}  // namespace scaledot::bench
