// .npy files made by hand: every type, order and version, and what is refused.
#include <gtest/gtest.h>

#include "file_bytes.hpp"
#include "npy_header.hpp"

namespace scaledot::cli::tests {
namespace {

struct Typed {
  const char* code;
  Element element;
  std::string bytes;   // two elements, as in the file
  std::string little;  // the same, the lowest byte first
};

// 1 and -2, or what is nearest.
std::vector<Typed> typed() {
  const std::string f2 = from_hex("003c00c0"), f4 = from_hex("0000803f000000c0");
  const std::string f8 = from_hex("000000000000f03f00000000000000c0");
  const std::string i4 = from_hex("01000000feffffff");
  const std::string i8 = from_hex("0100000000000000feffffffffffffff");
  const std::string b1 = from_hex("0100");
  return {{"<f2", Element::f16, f2, f2},
          {"<f4", Element::f32, f4, f4},
          {"<f8", Element::f64, f8, f8},
          {"<i4", Element::i32, i4, i4},
          {"<i8", Element::i64, i8, i8},
          {"|b1", Element::boolean, b1, b1},
          {">f2", Element::f16, from_hex("3c00c000"), f2},
          {">f4", Element::f32, from_hex("3f800000c0000000"), f4},
          {">f8", Element::f64, from_hex("3ff0000000000000c000000000000000"), f8},
          {">i4", Element::i32, from_hex("00000001fffffffe"), i4},
          {">i8", Element::i64, from_hex("0000000000000001fffffffffffffffe"), i8}};
}

TEST(Npy, EveryTypeInBothByteOrders) {
  const Folder folder;
  for (const Typed& each : typed()) {
    const Array array = read(folder.file("x.npy", npy(1, npy_text(each.code, "(2,)"), each.bytes)));
    EXPECT_EQ(array.element, each.element) << each.code;
    EXPECT_EQ(array.extents, std::vector<Index>{2}) << each.code;
    EXPECT_EQ(elements_of(array), each.little) << each.code;
  }
}

TEST(Npy, EveryVersion) {
  const Folder folder;
  for (const int version : {1, 2, 3}) {
    const std::string file = npy(version, npy_text("<f4", "(1, 2)"), little(5.0f, 6.0f));
    EXPECT_EQ(numbers_of<float>(read(folder.file("x.npy", file))), (std::vector<float>{5, 6}));
  }
}

TEST(Npy, FortranOrderIsReadInItsOrder) {
  const Folder folder;
  // [[0, 1, 2], [3, 4, 5]], column by column.
  const std::string text = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n";
  const std::string file = npy(1, text, little(0.0f, 3.0f, 1.0f, 4.0f, 2.0f, 5.0f));
  const Array array = read(folder.file("x.npy", file));
  EXPECT_EQ(array.extents, (std::vector<Index>{2, 3}));
  const Tensor tensor = tensor_of(array);
  for (Index row = 0; row < 2; ++row)
    for (Index column = 0; column < 3; ++column) {
      const Index at = row * tensor.stride[0] + column * tensor.stride[1];
      EXPECT_EQ(static_cast<const float*>(tensor.data)[at], static_cast<float>(row * 3 + column));
    }
}

TEST(Npy, NoAxesAndEmptyOnes) {
  const Folder folder;
  const Array one = read(folder.file("x.npy", npy(1, npy_text("<f8", "()"), little(7.5))));
  EXPECT_EQ(one.extents, std::vector<Index>{});
  EXPECT_EQ(numbers_of<double>(one), std::vector<double>{7.5});
  const Array none = read(folder.file("x.npy", npy(1, npy_text("<f4", "(3, 0, 2)"), "")));
  EXPECT_EQ(none.extents, (std::vector<Index>{3, 0, 2}));
  EXPECT_EQ(none.data.size(), 0u);
}

TEST(Npy, OtherWaysToWriteTheSame) {
  const Folder folder;
  for (const char* text :
       {"{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"<f4\"}",
        "{'fortran_order':False,'descr':'=f4','shape':(2,)}",
        "  { 'shape' : ( 2 , ) , 'fortran_order' : False , 'descr' : 'f4' , }   \n"}) {
    const std::string file = npy(1, text, little(1.0f, 2.0f));
    EXPECT_EQ(numbers_of<float>(read(folder.file("x.npy", file))), (std::vector<float>{1, 2}))
        << text;
  }
}

TEST(Npy, TheHeaderIsNumpysToTheByte) {
  const std::string text =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" + std::string(58, ' ') + "\n";
  EXPECT_EQ(npy_header_of(Element::f32, {2, 3}), std::string("\x93NUMPY\1\0v\0", 10) + text);
  const std::string one =
      "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }" + std::string(60, ' ') + "\n";
  EXPECT_EQ(npy_header_of(Element::boolean, {2}), std::string("\x93NUMPY\1\0v\0", 10) + one);
  EXPECT_NE(npy_header_of(Element::f16, {}).find("'shape': (), }"), std::string::npos);
}

struct Refused {
  std::string bytes, message;
};

// What is said of a header in which a good one's `part` is replaced.
Refused header(const std::string& part, const std::string& replacement,
               const std::string& message) {
  std::string text = npy_text("<f4", "(2, 3)");
  text.replace(text.find(part), part.size(), replacement);
  return {npy(1, text, std::string(24, '\0')), message};
}

TEST(Npy, WhatIsWrongInAHeaderIsNamed) {
  const Folder folder;
  const std::string known = "expected f2, f4, f8, b1, i4 or i8";
  for (const Refused& each :
       {header("<f4", "<u4", "has elements of type '<u4', " + known),
        header("<f4", "<c8", "has elements of type '<c8', " + known),
        header("<f4", "<<f4", "has elements of type '<<f4', " + known),
        header("<f4", "", "has elements of type '', " + known),
        header("<f4", "|V2",
               "has elements of type '|V2', " + known +
                   " (bf16 has no type in numpy; .safetensors keeps it)"),
        header("'<f4'", "[('x', '<f4')]", "holds records; one number an element is expected"),
        header("False", "0", "has a bad header: expected 'False' before '0, 'shape': (2, 3), '"),
        header("(2, 3)", "(-2, 3)", "has a bad header: expected an extent before '-2, 3), }\\x0a'"),
        header("(2, 3)", "(2, 99999999999999999999)",
               "has a bad header: expected an extent before '99999999999999999999'"),
        header("(2, 3)", "(2, 3", "has a bad header: expected an extent before '}\\x0a'"),
        header("(2, 3)", "((2, 3))",
               "has a bad header: expected an extent before '(2, 3)), }\\x0a'"),
        header("(2, 3)", "(6)", "has a bad header: expected ',' before '), }\\x0a'"),
        header("'shape'", "'descr'", "has a bad header: the key 'descr' twice"),
        header("'shape'", "'size'", "has a bad header: the key 'size'"),
        header("'descr': '<f4', ", "", "has a bad header: no key 'descr'"),
        header("}", "} {", "has a bad header: it goes on with '{\\x0a'"),
        header("}", "", "has a bad header: expected a string before its end"),
        header("{", "", "has a bad header: expected '{' before ''descr': '<f4', 'for'"),
        header("), }\n", "), 'x", "has a bad header: a string without an end")})
    EXPECT_EQ(refusal_of(folder.file("x.npy", each.bytes)), each.message);
}

TEST(Npy, SizesThatDisagreeAreNamed) {
  const Folder folder;
  const std::string good = npy(1, npy_text("<f4", "(2, 3)"), std::string(24, '\0'));
  const auto with_shape = [](const std::string& shape) {
    return npy(1, npy_text("<f4", shape), "1234");
  };
  for (const Refused& each : std::vector<Refused>{
           {"", "is not a .npy array: it has 0 bytes"},
           {good.substr(0, 7), "is not a .npy array: it has 7 bytes"},
           {"not a numpy file", "is not a .npy array: it does not begin with numpy's mark"},
           {npy(4, "", ""), "has version 4.0 of .npy, expected 1.0, 2.0 or 3.0"},
           {good.substr(0, 7) + '\t' + good.substr(8),
            "has version 1.9 of .npy, expected 1.0, 2.0 or 3.0"},
           {good.substr(0, 9), "is cut short in its header"},
           {good.substr(0, 30), "is cut short: its header has 60 bytes, only 20 are there"},
           {std::string("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14),
            "is cut short: its header has 4294967295 bytes, only 2 are there"},
           {npy(2, std::string((1 << 20) + 1, ' '), ""),
            "has a header of 1048577 bytes, expected at most 1048576"},
           {good.substr(0, good.size() - 1),
            "has 23 bytes of elements, expected 24 for f32 [2, 3]"},
           {good + 'x', "has 25 bytes of elements, expected 24 for f32 [2, 3]"},
           {with_shape("(1099511627776,)"),
            "has 4 bytes of elements, expected 4398046511104 for f32 [1099511627776]"},
           {with_shape("(4294967296, 4294967296)"),
            "has 4 bytes of elements, expected more than 2^63 for f32 [4294967296, 4294967296]"},
           {with_shape("(4611686018427387905,)"),
            "has 4 bytes of elements, expected more than 2^63 for f32 [4611686018427387905]"},
           {with_shape("(4294967296, 4294967296, 0)"),
            "has 4 bytes of elements, expected 0 for f32 [4294967296, 4294967296, 0]"}})
    EXPECT_EQ(refusal_of(folder.file("x.npy", each.bytes)), each.message);
}

}  // namespace
}  // namespace scaledot::cli::tests
