// Bugs of strides, of data that is not aligned to a vector, and of offsets beyond 2^31.
#include <cstring>
#include <limits>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "bug_case.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

// The output of attend() on f32 tensors, for each usable table.
void each_output(const Tensor& query, const Tensor& key, const Tensor& value, Options options,
                 const std::function<void(const std::vector<float>&)>& check) {
  Extents extent(query.extent.begin(), query.extent.end());
  extent[3] = value.extent[3];
  for (const kernels::KernelTable* table : runnable_tables()) {
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(table->name);
      const Stored output(constant(std::numeric_limits<float>::quiet_NaN(), extent), DType::f32);
      options.threads = threads;
      const Status status = attend_on(*table, query, key, value, {output.tensor, {}, {}}, options);
      ASSERT_TRUE(status.ok()) << describe(status);
      check(read(output.tensor));
    }
  }
}

void expect_output_of(const Call& call, const Tensor& query, const Tensor& key, const Tensor& value,
                      const Options& options = {}) {
  const Stored copied_query(call.query, DType::f32), copied_key(call.key, DType::f32),
      copied_value(call.value, DType::f32);
  std::vector<float> want;
  each_output(copied_query.tensor, copied_key.tensor, copied_value.tensor, call.options,
              [&](const std::vector<float>& got) { want = got; });
  each_output(query, key, value, options,
              [&](const std::vector<float>& got) { ASSERT_TRUE(same_bits(got, want)); });
}

// The same numbers, stored with the last two axes exchanged in memory.
Stored transposed(const Numbers& numbers) {
  const Extents& extent = numbers.extent;
  Stored stored(each({extent[0], extent[1], extent[3], extent[2]},
                     [&](Index b, Index h, Index d, Index i) {
                       const Index row = (b * extent[1] + h) * extent[2] + i;
                       return numbers.at[static_cast<std::size_t>(row * extent[3] + d)];
                     }),
                DType::f32);
  std::swap(stored.tensor.extent[2], stored.tensor.extent[3]);
  std::swap(stored.tensor.stride[2], stored.tensor.stride[3]);
  return stored;
}

// pytorch#187506: wrong numbers when the last stride is not 1.
TEST(BugCases, D031_transposed_tensors) {
  for (const Index size : {5, 40, 129}) {
    const Call call{fill(3, {1, 2, size, 4}),
                    fill(5, {1, 2, size, 4}),
                    fill(7, {1, 2, size, 4}),
                    {},
                    {},
                    {},
                    {}};
    const Stored query = transposed(call.query), key = transposed(call.key),
                 value = transposed(call.value),
                 zeros = transposed(constant(0, {1, 1, size, size}));
    Options options;
    options.bias = zeros.tensor;
    expect_output_of(call, query.tensor, key.tensor, value.tensor, options);
    expect_output_of(call, query.tensor, key.tensor, value.tensor);
    if (size == 5) expect_output(call, {-0.0584476, -0.0991366, 0.0665524, 0.0258634});
  }
}

TEST(BugCases, D031_transposed_and_reversed_output) {
  const Call call{
      fill(3, {1, 2, 40, 4}), fill(5, {1, 2, 40, 4}), fill(7, {1, 2, 40, 3}), {}, {}, {}, {}};
  const Stored query(call.query, DType::f32), key(call.key, DType::f32),
      value(call.value, DType::f32);
  for (const kernels::KernelTable* table : runnable_tables()) {
    const Stored plain(constant(0, {1, 2, 40, 3}), DType::f32);
    Stored other = transposed(constant(0, {1, 2, 40, 3}));
    other.tensor.data = other.bytes.data() + (40 - 1) * 4;
    other.tensor.stride[2] = -1;
    for (const Tensor& output : {plain.tensor, other.tensor})
      ASSERT_TRUE(
          attend_on(*table, query.tensor, key.tensor, value.tensor, {output, {}, {}}, {}).ok());
    EXPECT_TRUE(same_bits(read(plain.tensor), read(other.tensor))) << table->name;
  }
}

// pytorch#112577: keys and values of one head, repeated by a stride of 0, cut from wider rows.
TEST(BugCases, D032_heads_expanded_from_a_larger_projection) {
  const Numbers projection = fill(5, {1, 1, 16, 24});
  const auto columns = [&](Index first) {
    return each({1, 16, 16, 8}, [&](Index, Index, Index j, Index d) {
      return projection.at[static_cast<std::size_t>(j * 24 + first + d)];
    });
  };
  const Call call{fill(3, {1, 16, 1, 8}), columns(8), columns(16), {}, {}, {}, {}};
  Stored query(call.query, DType::f32), wide(projection, DType::f32);
  const auto view = [&](Index first) {
    return Tensor{wide.bytes.data() + first * 4, DType::f32, 4, {1, 16, 16, 8}, {384, 0, 24, 1}};
  };
  const Stored open(constant(1, {1, 1, 1, 16}), DType::boolean);
  Options options;
  options.mask = open.tensor;
  expect_output_of(call, query.tensor, view(8), view(16), options);
}

// numpy#23349: an axis of length 1 may show any stride, and so may one of length 0.
TEST(BugCases, D034_any_stride_on_an_axis_of_one) {
  const Call call{
      fill(3, {1, 1, 1, 20}), fill(5, {1, 1, 10, 20}), fill(7, {1, 1, 10, 1}), {}, {}, {}, {}};
  const Stored query(call.query, DType::f32), key(call.key, DType::f32),
      value(call.value, DType::f32);
  for (const Index stride : {Index{-1600}, Index{0}, std::numeric_limits<Index>::max(),
                             std::numeric_limits<Index>::min()}) {
    Tensor odd[] = {query.tensor, key.tensor, value.tensor};
    for (Tensor& tensor : odd)
      for (std::size_t axis = 0; axis < 4; ++axis)
        if (tensor.extent[axis] == 1) tensor.stride[axis] = stride;
    expect_output_of(call, odd[0], odd[1], odd[2]);

    const Stored output(constant(0, {1, 1, 1, 1}), DType::f32);
    Tensor strange = output.tensor;
    strange.stride.fill(stride);
    EXPECT_TRUE(attend(query.tensor, key.tensor, value.tensor, {strange, {}, {}}).ok());
    Tensor empty = query.tensor;
    empty.extent = {0, 1, 5, 20};
    empty.stride.fill(stride);
    EXPECT_TRUE(attend(empty, empty, empty, {empty, {}, {}}).ok());
  }
}

// pytorch#183484, onnxruntime#27831: loads of whole vectors from data that starts amid one.
TEST(BugCases, D075_data_aligned_to_one_element) {
  const Index elements = 6 * 4 * 64 * 64;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const std::size_t size = dtype == DType::f32 ? 4 : 2;
    for (const kernels::KernelTable* table : runnable_tables()) {
      Stored buffer(constant(0, {elements + 3}), dtype);
      Stored output(constant(-1, {elements + 3}), dtype);
      const auto at = [&](Stored& stored, std::size_t first) {
        return contiguous(stored.bytes.data() + first * size, dtype, {6, 4, 64, 64});
      };
      for (std::size_t first = 0; first < 4; ++first) {
        const Tensor target = at(output, first);
        ASSERT_TRUE(
            attend_on(*table, at(buffer, 1), at(buffer, 2), at(buffer, 3), {target, {}, {}}, {})
                .ok());
        ASSERT_EQ(read(target), constant(0, {elements}).at) << table->name;
      }
      const Numbers numbers[] = {fill(3, {1, 2, 33, 20}), fill(5, {1, 2, 40, 20}),
                                 fill(7, {1, 2, 40, 12})};
      std::vector<float> aligned;
      for (std::size_t first = 0; first < 4; ++first) {
        std::vector<Stored> stored;
        for (const Numbers& one : numbers) stored.emplace_back(one, dtype);
        stored.emplace_back(constant(-1, {1, 2, 33, 12}), dtype);
        for (Stored& one : stored) {
          one.bytes.insert(one.bytes.begin(), first * size, std::byte{0xFF});
          one.tensor.data = one.bytes.data() + first * size;
        }
        ASSERT_TRUE(attend_on(*table, stored[0].tensor, stored[1].tensor, stored[2].tensor,
                              {stored[3].tensor, {}, {}}, {})
                        .ok());
        const std::vector<float> got = read(stored[3].tensor);
        if (first == 0) aligned = got;
        ASSERT_TRUE(same_bits(got, aligned)) << table->name << ", element " << first;
      }
    }
  }
}

// onnxruntime#27831: rows of a bias that are no multiple of 16 bytes.
TEST(BugCases, D076_bias_rows_of_any_length) {
  for (Index keys = 4; keys <= 40; ++keys) {
    Call call = mean_call({1, 1, 3, 4}, {1, 1, keys, 4}, positions({1, 1, keys, 1}));
    call.bias = each({1, 1, 3, keys}, [&](Index, Index, Index i, Index j) {
      return j == (7 * i) % keys ? 0 : -std::numeric_limits<float>::infinity();
    });
    expect_exactly(call, {0.0, static_cast<double>(7 % keys), static_cast<double>(14 % keys)});
  }
}

// Zeros that take memory only where they are written to.
class Sparse {
 public:
  explicit Sparse(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Sparse() {
    if (there()) munmap(data_, bytes_);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;

  bool there() const { return data_ != MAP_FAILED; }
  float* data() const { return static_cast<float*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

// pytorch#190857: the number of a key times a large stride did not fit in 32 bits.
TEST(BugCases, D058_offsets_beyond_2_to_the_31) {
  const Index step = Index{1} << 27, keys = 24, last = (keys - 1) * step;
  const Sparse zeros(static_cast<std::size_t>(last + 4) * 4),
      rows(static_cast<std::size_t>(last + 4) * 4), target(static_cast<std::size_t>(last + 4) * 4);
  ASSERT_TRUE(zeros.there() && rows.there() && target.there());
  for (Index j = 0; j < keys; ++j) rows.data()[j * step] = static_cast<float>(j);
  const Stored query(constant(0, {1, 1, 1, 4}), DType::f32);
  const Tensor key{zeros.data(), DType::f32, 4, {1, 1, keys, 4}, {0, 0, step, 1}};
  const Tensor value{rows.data(), DType::f32, 4, {1, 1, keys, 1}, {0, 0, step, 1}};
  const auto mean = [](double number) {
    return [number](const std::vector<float>& got) {
      for (const float one : got) ASSERT_EQ(one, number);
    };
  };
  each_output(query.tensor, key, value, {}, mean(11.5));

  // Backwards, and seen through a causal diagonal.
  Tensor reversed_key = key, reversed_value = value;
  reversed_key.data = zeros.data() + last;
  reversed_value.data = rows.data() + last;
  reversed_key.stride[2] = reversed_value.stride[2] = -step;
  Options causal;
  causal.causal = Causal::top_left;
  each_output(query.tensor, reversed_key, reversed_value, {}, mean(11.5));
  each_output(query.tensor, reversed_key, reversed_value, causal, mean(23));

  // The same distances in query, bias and output: row i sees key i alone through the bias.
  const Sparse biases(static_cast<std::size_t>(last + keys) * 4);
  ASSERT_TRUE(biases.there());
  for (Index i = 0; i < keys; ++i)
    for (Index j = 0; j < keys; ++j)
      if (i != j) biases.data()[i * step + j] = -std::numeric_limits<float>::infinity();
  Options options;
  options.bias = Tensor{biases.data(), DType::f32, 2, {keys, keys}, {step, 1}};
  Outputs outputs;
  outputs.output = Tensor{target.data(), DType::f32, 4, {1, 1, keys, 1}, {0, 0, step, 1}};
  outputs.lse = Tensor{target.data() + 2, DType::f32, 3, {1, 1, keys}, {0, 0, step}};
  EXPECT_EQ(attend(key, key, value, outputs, options).code, Status::Code::overlap);
  const Sparse sums(static_cast<std::size_t>(last + 4) * 4);
  ASSERT_TRUE(sums.there());
  outputs.lse->data = sums.data();
  for (const kernels::KernelTable* table : runnable_tables()) {
    for (Index i = 0; i < keys; ++i) target.data()[i * step] = sums.data()[i * step] = -1;
    ASSERT_TRUE(attend_on(*table, key, key, value, outputs, options).ok());
    for (Index i = 0; i < keys; ++i) {
      ASSERT_EQ(target.data()[i * step], static_cast<float>(i)) << table->name;
      ASSERT_EQ(sums.data()[i * step], 0) << table->name;
    }
  }
}

}  // namespace
}  // namespace scaledot::tests
