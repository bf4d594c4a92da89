// .npz archives made by hand: stored and deflated entries, and archives that lie.
#include <gtest/gtest.h>

#include "file_bytes.hpp"

namespace scaledot::cli::tests {
namespace {

std::string floats(const std::string& shape, const std::string& elements) {
  return npy(1, npy_text("<f4", shape), elements);
}

// As zlib packs numpy's file of [[0, 1, 2], [3, 4, 5]].
ZipEntry deflated() {
  return {"query.npy",
          from_hex("9bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f"
                   "94920a12774bcc294e058a17672416a402f91a463a0ac69a3a0ab50a64032e063068b007120e"
                   "4004c40d40bcc00100"),
          0x2a00e94f, 152, 8};
}

// As zlib packs numpy's header of two f32 with 65,536 zeros after it.
ZipEntry bomb(std::uint32_t claimed_size) {
  return {"query.npy",
          from_hex("edc8310e01410040d1d53ac57443b295a844ad231a854a2676360ab1322b1a710a1736cea07d"
                   "affbffb33b6cf7c749f36c5eb1cbe3b9c45588eb7e19db10fba13c4aba9d86d2e5dfdfa4eb98"
                   "eb1f2fe99e6bcf16edbc0deff0876903" +
                   std::string(126, '0') + "d517"),
          0x24ac298, claimed_size, 8};
}

TEST(Npz, StoredArraysByName) {
  const Folder folder;
  const std::string file = folder.file(
      "x.npz", zip({stored("a.npy", floats("(2,)", little(1.0f, 2.0f))), stored("note.txt", "a"),
                    stored("b.npy", floats("()", little(3.0f)))}));
  EXPECT_EQ(numbers_of<float>(read(file + ":a")), (std::vector<float>{1, 2}));
  EXPECT_EQ(numbers_of<float>(read(file + ":a.npy")), (std::vector<float>{1, 2}));
  EXPECT_EQ(numbers_of<float>(read(file + ":b")), std::vector<float>{3});
}

TEST(Npz, ADeflatedArray) {
  const Folder folder;
  const Array array = read(folder.file("x.npz", zip({deflated()})) + ":query");
  EXPECT_EQ(array.extents, (std::vector<Index>{2, 3}));
  EXPECT_EQ(numbers_of<float>(array), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(Npz, WithoutANameTheOnlyOneOrTheArguments) {
  const Folder folder;
  const ZipEntry a = stored("a.npy", floats("()", little(1.0f)));
  const ZipEntry b = stored("b.npy", floats("()", little(2.0f)));
  const ZipEntry query = stored("query.npy", floats("()", little(3.0f)));
  EXPECT_EQ(numbers_of<float>(read(folder.file("one.npz", zip({a})))), std::vector<float>{1});
  EXPECT_EQ(numbers_of<float>(read(folder.file("some.npz", zip({a, query, b})))),
            std::vector<float>{3});
  EXPECT_EQ(refusal_of(folder.file("two.npz", zip({a, b}))),
            "holds 2 tensors, none named 'query'; name one after a colon: 'a', 'b'");
  EXPECT_EQ(refusal_of(folder.file("none.npz", zip({}))), "holds no tensor");
}

TEST(Npz, WhatIsNoArchiveIsRefused) {
  const Folder folder;
  const std::string good = zip({deflated()});
  for (const std::string& bytes : {std::string(), std::string("PK"), good.substr(0, 100),
                                   good.substr(0, good.size() - 1), good.substr(20)}) {
    const std::string message = refusal_of(folder.file("x.npz", bytes));
    EXPECT_TRUE(message.starts_with("is not a whole .npz archive: ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

struct Refused {
  std::string what;
  ZipEntry entry;
  std::string message;
};

TEST(Npz, AnEntryThatLiesIsRefused) {
  const Folder folder;
  const ZipEntry good = stored("query.npy", floats("(2,)", little(1.0f, 2.0f)));
  std::vector<Refused> cases;
  const auto add = [&](const std::string& what, const std::string& message) -> ZipEntry& {
    return cases.emplace_back(Refused{what, good, message}).entry;
  };
  add("checksum", "cannot be unpacked: CRC error").checksum ^= 1;
  add("method", "has compression method 12, expected stored or deflated").method = 12;
  add("stored, but of two sizes", "claims to hold 4294967280 bytes in 76").size = 4294967280u;
  add("more than deflate can hold", "claims to hold 4294967280 bytes in 85") = deflated();
  cases.back().entry.size = 4294967280u;
  add("less than the header says", "has 7 bytes of elements, expected 8 for f32 [2]") =
      stored("query.npy", floats("(2,)", "1234567"));
  add("no array", "is not a .npy array: it does not begin with numpy's mark") =
      stored("query.npy", "not an array");
  add("a bomb", "has 65536 bytes of elements, expected 8 for f32 [2]") = bomb(128 + 65536);
  add("a bomb that claims to be small", "holds more than it claims") = bomb(128 + 8);
  add("less than it claims", "has 4025 bytes of elements, expected 24 for f32 [2, 3]") = deflated();
  cases.back().entry.size = 128 + 4025;
  for (const Refused& each : cases)
    EXPECT_EQ(refusal_of(folder.file("x.npz", zip({each.entry})) + ":query"), each.message)
        << each.what;
}

TEST(Npz, AnArrayShorterThanItClaimsIsCutShort) {
  const Folder folder;
  // Archive and header say 1000 numbers; 500 are there.
  const ZipEntry entry{
      "query.npy",
      from_hex("9bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f"
               "94920a12774bcc294e058a17672416a402f91a860606063a9a3a0ab50ae4022e8651300a46c1"
               "281805a360140c790000"),
      0x15bc4cef, 128 + 4000, 8};
  EXPECT_EQ(refusal_of(folder.file("x.npz", zip({entry})) + ":query"), "is cut short");
}

TEST(Npz, TwoEntriesOfOneNameAreRefused) {
  const Folder folder;
  const ZipEntry entry = stored("query.npy", floats("()", little(1.0f)));
  EXPECT_EQ(refusal_of(folder.file("x.npz", zip({entry, entry})) + ":query"),
            "has two entries named 'query.npy'");
  EXPECT_EQ(refusal_of(folder.file("x.npz", zip({entry})) + ":key"), "has no array 'key'");
}

}  // namespace
}  // namespace scaledot::cli::tests
