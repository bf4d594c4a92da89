// .safetensors files made by hand, and headers that are wrong in one thing.
#include <gtest/gtest.h>

#include "file_bytes.hpp"

namespace scaledot::cli::tests {
namespace {

TEST(Safetensors, EveryType) {
  const Folder folder;
  struct Typed {
    const char* dtype;
    Element element;
    std::size_t size;
  };
  for (const Typed& each : {Typed{"F32", Element::f32, 4}, Typed{"F16", Element::f16, 2},
                            Typed{"BF16", Element::bf16, 2}, Typed{"F64", Element::f64, 8},
                            Typed{"BOOL", Element::boolean, 1}, Typed{"I64", Element::i64, 8},
                            Typed{"I32", Element::i32, 4}}) {
    const std::string elements = std::string("0123456789abcdef").substr(0, 2 * each.size);
    const std::string header = std::string(R"({"x":{"dtype":")") + each.dtype +
                               R"(","shape":[1,2],"data_offsets":[0,)" +
                               std::to_string(elements.size()) + "]}}";
    const Array array = read(folder.file("x.safetensors", safetensors(header, elements)));
    EXPECT_EQ(array.element, each.element) << each.dtype;
    EXPECT_EQ(array.extents, (std::vector<Index>{1, 2})) << each.dtype;
    EXPECT_EQ(elements_of(array), elements) << each.dtype;
  }
}

TEST(Safetensors, TensorsByNameWhateverTheirOrder) {
  const Folder folder;
  const std::string header = R"({"b":{"shape":[],"data_offsets":[12,16],"dtype":"F32"},)"
                             R"( "__metadata__":{"format":"pt"},)"
                             R"( "none":{"dtype":"F64","shape":[0,3],"data_offsets":[12,12]},)"
                             R"("u8":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                             R"("a:1":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}   )";
  const std::string file =
      folder.file("x.safetensors", safetensors(header, "1234" + little(1.0f, 2.0f, 3.0f)));
  EXPECT_EQ(numbers_of<float>(read(file + ":a:1")), (std::vector<float>{1, 2}));
  EXPECT_EQ(numbers_of<float>(read(file + ":b")), std::vector<float>{3});
  EXPECT_EQ(read(file + ":none").extents, (std::vector<Index>{0, 3}));
  EXPECT_EQ(refusal_of(file + ":u8"),
            "has elements of type 'U8', expected F32, F16, BF16, F64, BOOL, I32 or I64");
  EXPECT_EQ(refusal_of(file + ":c"), "has no tensor 'c'");
  EXPECT_EQ(refusal_of(file),
            "holds 4 tensors, none named 'query'; name one after a colon: "
            "'b', 'none', 'u8', 'a:1'");
}

struct Refused {
  std::string header, message;
};

// A good tensor of four bytes under the name x, in which `part` is replaced.
Refused wrong(const std::string& part, const std::string& replacement, const std::string& message) {
  std::string header = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  header.replace(header.find(part), part.size(), replacement);
  return {header, message};
}

TEST(Safetensors, WhatIsWrongInAHeaderIsNamed) {
  const Folder folder;
  const std::string start = "has a bad header: ";
  const std::string many(100'000, '[');
  for (const Refused& each :
       {wrong("[1]", "[2]", start + "'x' has 4 bytes, expected 8 for F32 [2]"),
        wrong("[1]", "[4294967296,4294967296]",
              start + "'x' has 4 bytes, expected more than 2^63 for F32 [4294967296, 4294967296]"),
        wrong("[1]", "[9223372036854775807]",
              start + "'x' has 4 bytes, expected more than 2^63 for F32 [9223372036854775807]"),
        wrong("[1]", "[9223372036854775808]", start + "an extent of 9223372036854775808"),
        wrong("[1]", "[-1]", start + "the number -1"),
        wrong("[1]", "[1.0]", start + "a number that is no integer"),
        wrong("[1]", "[1e2]", start + "a number that is no integer"),
        wrong("[1]", "[\"1\"]", start + "a string where none belongs"),
        wrong("[1]", "[[1]]", start + "an array where none belongs"),
        wrong("[1]", many, start + "an array where none belongs"),
        wrong("[1]", "{}", start + "an object where none belongs"),
        wrong("[1]", "null", start + "null where it does not belong"),
        wrong("[1]", "true", start + "a boolean where none belongs"),
        wrong("[0,4]", "[4,0]", start + "the data_offsets of 'x' go backwards"),
        wrong("[0,4]", "[4,8]", start + "'x' begins at byte 4, expected 0"),
        wrong("[0,4]", "[0]", start + "data_offsets that are not two"),
        wrong("[0,4]", "[0,4,8]", start + "a number where none belongs"),
        wrong("[0,4]", "[18446744073709551612,18446744073709551616]",
              start + "a number that is no integer"),
        wrong("\"shape\"", "\"size\"",
              start + "a tensor's member 'size' that does not belong there"),
        wrong("\"shape\"", "\"dtype\"",
              start + "a tensor's member 'dtype' that does not belong there"),
        wrong("\"dtype\":\"F32\",", "",
              start + "a tensor without dtype, shape or data_offsets: 'x'"),
        wrong("}}", R"(},"x":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})",
              start + "two tensors named 'x'"),
        wrong("}}", R"(},"y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
              start + "'y' begins at byte 0, expected 4"),
        wrong("}}", R"(},"__metadata__":{"a":"1","a":"2"}})",
              start + "two members of __metadata__ named 'a'"),
        wrong("}}", R"(},"__metadata__":{"a":1}})", start + "a number where none belongs"),
        wrong("}}", R"(},"__metadata__":{},"__metadata__":{}})", start + "__metadata__ twice"),
        wrong("}}", "}", start + "no JSON at byte 54"),
        wrong("}}", "}}x", start + "no JSON at byte 55"),
        wrong("{\"x\"", "[\"x\"", start + "it does not begin with {"),
        wrong("x", "\xff", start + "no JSON at byte 3")})
    EXPECT_EQ(refusal_of(folder.file("x.safetensors", safetensors(each.header, "1234"))),
              each.message)
        << each.header.substr(0, 200);
}

TEST(Safetensors, SizesThatDisagreeAreNamed) {
  const Folder folder;
  const std::string header = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const auto refusal = [&](const std::string& bytes) {
    return refusal_of(folder.file("x.safetensors", bytes));
  };
  const std::string none = "is not a .safetensors file: ";
  EXPECT_EQ(refusal(""), none + "it has 0 bytes");
  EXPECT_EQ(refusal("1234567"), none + "it has 7 bytes");
  EXPECT_EQ(refusal(little(std::uint64_t{3}) + "{}"), none + "a header of 3 bytes in a file of 10");
  EXPECT_EQ(refusal(std::string(8, '\xff') + "{}"),
            none + "a header of 18446744073709551615 bytes in a file of 10");
  EXPECT_EQ(refusal(safetensors(header, "123")),
            "has 3 bytes of elements, expected 4 by its header");
  EXPECT_EQ(refusal(safetensors(header, "12345")),
            "has 5 bytes of elements, expected 4 by its header");
}

}  // namespace
}  // namespace scaledot::cli::tests
