// Scaled dot-product attention on the CPU, forward:
//
//     output = softmax(scale * query . key^T + bias) . value          scale = 1 / sqrt(head_dim)
//
// (Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1). One function does it:
// attend(). The logits are never stored, so memory does not grow with queries * keys. A row of the
// result has the same bits whatever the batch, the neighbouring rows, the strides, the number of
// threads and the instruction set. How it works: docs/design.md. How exact it is: docs/numerics.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "scaledot/export.h"

namespace scaledot {

using Index = std::int64_t;

// The type of a tensor's elements. A boolean is one byte, and any byte but 0 is true.
enum class DType : std::uint8_t { f32 = 0, f16 = 1, bf16 = 2, boolean = 3 };

// A tensor that somebody else owns. Axes are in numpy's order: [batch, head, sequence, dim] has
// rank 4, [head, sequence, dim] rank 3, [sequence, dim] rank 2. Strides count elements, not bytes;
// any value is allowed, 0 and negative ones included. `data` is the element with every index 0.
// attend() writes to the tensors in Outputs alone; the others are only read.
struct Tensor {
  void* data = nullptr;
  DType dtype = DType::f32;
  int rank = 0;                   // axes in use; entries of extent and stride from there on are not
  std::array<Index, 4> extent{};  // each 0 or more
  std::array<Index, 4> stride{};
};

// A tensor whose last axis is contiguous and whose others follow it without a gap (C order).
SCALEDOT_EXPORT Tensor contiguous(const void* data, DType dtype,
                                  std::initializer_list<Index> extents) noexcept;

// Which diagonal a query may not look beyond. Query i sees key j only if
//     top_left      j <= i                      (PyTorch's is_causal)
//     bottom_right  j <= i + keys - queries     (decoding: the last query sees the last key)
enum class Causal : std::uint8_t { off = 0, top_left = 1, bottom_right = 2 };

// How sums and products are rounded. The result depends on this choice, never on the machine.
//     f32        every product and sum in f32; f16 and bf16 tensors are widened, exactly
//     bf16       products of bf16 numbers summed in f32 in the order of the AMX tiles, weights
//                rounded to bf16; query, key and value must all be bf16
//     automatic  bf16 if query, key and value are all bf16, else f32
enum class Arithmetic : std::uint8_t { automatic = 0, f32 = 1, bf16 = 2 };

inline constexpr Index unlimited = -1;

// How far a query sees to both sides of the diagonal, both ends included: key j is seen if
// diagonal - left <= j <= diagonal + right, where the diagonal of query i is i + keys - queries
// with Causal::bottom_right and i otherwise. 0 or more, or `unlimited`.
struct Window {
  Index left = unlimited;
  Index right = unlimited;
};

// A loop of the caller's own, for a program that has its threads already. run() calls
// task(data, index, worker) exactly once for each index in [0, count), in any order and on any
// threads, and returns when all of these calls have returned and what they wrote can be seen. Each
// worker is at least 0 and less than `threads`, and no two calls at the same time have the same
// one: it says which part of the scratch memory a task may use. A task neither throws nor waits for
// another, so run() may make all calls itself; it must not throw either. If it breaks these rules,
// the result is undefined. `context` is the caller's and is passed on.
struct ParallelFor {
  using Task = void (*)(void* data, Index index, int worker);

  void (*run)(void* context, Index count, int threads, Task task, void* data) = nullptr;
  void* context = nullptr;
};

inline constexpr int most_threads = 65536;  // that a call may ask for

struct Options {
  // Multiplies query . key. Any finite number, 0 and negative included, whose product with log2(e)
  // is finite. 1 / sqrt(head_dim) if unset (1 if head_dim is 0).
  std::optional<float> scale = {};
  // Logits become softcap * tanh(scale * query . key / softcap), before bias. 0 is off. Positive
  // and finite; softcap * log2(e) and scale / softcap must stay in the normal range of f32.
  float softcap = 0;
  Causal causal = Causal::off;
  Window window = {};
  // Boolean: a key is seen where it is true. Rank 0 to 4, aligned to the right with
  // [batch, head, query, key]; an extent of 1 (or a stride of 0) broadcasts.
  std::optional<Tensor> mask = {};
  // f32, f16 or bf16, added to the logits; shaped like mask. -inf hides a key.
  std::optional<Tensor> bias = {};
  // One a batch entry, 0 to `keys`: the keys of entry b from key_lengths[b] on are hidden, and
  // `keys` in Causal and Window means this length.
  std::optional<std::span<const Index>> key_lengths = {};
  Arithmetic arithmetic = Arithmetic::automatic;
  // Threads to use, this one included, up to most_threads; 0: SCALEDOT_THREADS, or one for each
  // processor that the process may use by its affinity mask and its cgroups, as they were at its
  // first call. Work of less than it takes to wake a worker is done by this one alone.
  int threads = 0;
  // Scratch memory of at least workspace_bytes(), then nothing is allocated. Any alignment. If it
  // is empty, the library has memory of its own: release_memory().
  std::span<std::byte> workspace = {};
  // If it has a run(), each step of the work that takes more than one thread goes through that, a
  // few of them a call, with at most `threads` workers. The library then uses no threads of its
  // own.
  ParallelFor parallel_for = {};
};

// Where the results go. Strides are free, but axes may not interleave: each must step over all that
// the axes of smaller strides cover, so that no two elements share a place (no stride of 0 on an
// extent above 1). No tensor may overlap another or an input.
struct Outputs {
  // [batch, query heads, queries, value_dim], of query's rank. Any type but boolean.
  Tensor output = {};
  // The natural logarithm of the sum of exp(logits), f32: [batch, query heads, queries], one axis
  // fewer than query. -inf for a query that sees no key.
  std::optional<Tensor> lse = {};
  // softmax(logits): [batch, query heads, queries, keys], of query's rank, any type but boolean; 0
  // for hidden keys. This one needs queries * keys elements and a second pass over the keys.
  std::optional<Tensor> weights = {};
};

// The outcome of a call. If it is not ok, nothing has been written.
struct Status {
  enum class Code : std::uint8_t {
    ok = 0,
    null_data = 1,      // a tensor with elements has no data
    alignment = 2,      // data is not a multiple of the element's size
    rank = 3,           // a tensor has another number of axes than the call needs
    extent = 4,         // an axis, or workspace, has another length than the call needs
    stride = 5,         // an output's stride makes elements coincide, or axes interleave
    overflow = 6,       // a tensor's extents and strides reach beyond 64 bits
    overlap = 7,        // an output meets an input or another output
    dtype = 8,          // a tensor has a type that the call cannot take
    option = 9,         // an option (or SCALEDOT_ISA, SCALEDOT_THREADS) has no meaning
    out_of_memory = 10  // scratch memory could not be had
  };

  Code code = Code::ok;
  const char* argument = "";  // "query", "key", "scale", "SCALEDOT_ISA", ...
  const char* other = "";     // the tensor it disagrees with or meets, if any
  Index axis = -1;     // the axis, in the tensor's own order; for key_lengths the entry; or -1
  Index got = 0;       // what was found: an extent, a rank, a stride, a DType ...
  Index expected = 0;  // what the call needs in its place; the nearest, if several would do
  double value = 0;    // what was found, if it is not an integer (scale, softcap)

  bool ok() const noexcept { return code == Code::ok; }
};

// One sentence for a person: "key: axis 3 is 64, expected 128 as in query".
SCALEDOT_EXPORT std::string describe(const Status& status);

// Computes attention. For batch entry b, query head h and its key head g = h / (query heads / key
// heads), in exact arithmetic,
//
//     logits[j]     = softcapped(scale * query[b,h,i,:] . key[b,g,j,:]) + bias[b,h,i,j]
//     output[b,h,i] = sum over the keys j that i sees of softmax(logits)[j] * value[b,g,j,:]
//
// query  [batch, query heads, queries, head_dim]     f32, f16 or bf16; rank 2, 3 or 4
// key    [batch, key heads, keys, head_dim]          of query's rank; query heads are a multiple
// value  [batch, key heads, keys, value_dim]         of key heads
//
// A query that sees no key, or only logits of -inf, gets output 0 and lse -inf. What a hidden key
// or value holds, NaN included, has no effect, the sign of an output that underflows to 0 excepted.
// A key with a computed logit of -inf has weight 0 but is seen: NaN or infinity in its value makes
// NaN. A NaN that a row sees, or a logit of +inf, makes the row NaN and no other. Every extent may
// be 0. Products and sums are kept in f32: with keys * largest |value| from 2^118 on they may
// overflow to infinity, and a logit that is finite in exact arithmetic becomes infinite or NaN if
// scale * query or a partial sum overflows.
//
// On a processor with AMX the first call in bf16 arithmetic asks Linux to let this process use the
// tiles. A caller's own tile configuration is as before when attend() returns; what its tiles held
// is not.
[[nodiscard]] SCALEDOT_EXPORT Status attend(const Tensor& query, const Tensor& key,
                                            const Tensor& value, const Outputs& outputs,
                                            const Options& options = {}) noexcept;

// The scratch memory attend() needs for the same arguments, in bytes. It depends on shapes, options
// and threads, grows with keys and not with queries * keys, and is checked like attend(). A call
// without a workspace leaves what it allocates to later calls, at most 256 MiB in all:
// release_memory().
[[nodiscard]] SCALEDOT_EXPORT Status workspace_bytes(const Tensor& query, const Tensor& key,
                                                     const Tensor& value, const Outputs& outputs,
                                                     const Options& options,
                                                     std::size_t& bytes) noexcept;

// Frees the scratch memory that calls without a workspace have left to those after them: up to 8
// blocks a process, each of up to 32 MiB, so 256 MiB at most; as many as there were such calls at
// the same time, and each no larger than the largest call needed, in whole huge pages. A call that
// needs more than that allocates it and frees it when it ends. May be called at any time and from
// any thread: what calls under way use is not freed but left, as ever, when they end.
SCALEDOT_EXPORT void release_memory() noexcept;

}  // namespace scaledot
