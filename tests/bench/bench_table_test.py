"""The tables of the README, from made-up results."""

import json
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench" / "peers"), str(ROOT / "tools")]

import bench_table
import peers_table
from shapes import decode, prompt


def row(shape, results, **more):
    return {**vars(shape), "threads": 2, "ceiling": "multiply-add", "ceiling_rate": 240.4e9,
            "results": results, **more}


def result(fraction, ratio, right=True):
    return {"fraction": fraction, "ratio": ratio, "right": right}


class Table(unittest.TestCase):
    RESULTS = {
        "processor": "Some Processor", "isa": "avx2", "date": "2000-01-02", "python": "3.11.2",
        "peers": {"scaledot": {"version": "1.2.3"}, "Peer": {"version": "4"}}, "absent": {},
        "rows": [row(prompt("f32", 512, 64, True),
                     {"scaledot": result(0.804, 1), "Peer": result(0.4, 2.014, False)}),
                 row(decode("bf16"), {"scaledot": result(1.5, 1)}, ceiling="read",
                     ceiling_rate=29.64e9)]}
    LINES = ["| threads | type | work | scaledot | Peer | ceiling |",
             "| ---: | --- | --- | ---: | ---: | ---: |",
             "| 2 | f32 | 512 causal, d 64 | 80 % | 40 % (2.01) ! | 240 GFLOP/s |",
             "| 2 | bf16 | decode, 4096 keys, 32 heads on 8, d 128 | 150 % |  | 29.6 GB/s |"]

    def test_a_line_has_percent_ratio_and_ceiling(self):
        self.assertEqual(list(peers_table.lines(self.RESULTS)), self.LINES)

    def test_it_says_versions_date_and_processor_and_who_is_absent(self):
        about = ("**Some Processor**, avx2, 2000-01-02, Python 3.11.2: scaledot 1.2.3, Peer 4")
        self.assertEqual(peers_table.about(self.RESULTS), about)
        self.assertEqual(peers_table.about({**self.RESULTS, "absent": {"other": "No module"}}),
                         about + "; without other")


class Readme(unittest.TestCase):
    """What tools/bench_table.py makes of a folder of results and a text with its markers."""

    BENCH = {"machine": {"processor": "Some Processor", "isa": "avx2"}, "openblas": None,
             "compiler": "g++ 1", "rows": [
                 {"queries": 128, "head_dim": 64, "causal": "off", "dtype": "f32", "threads": 1,
                  "peak_gflops": 99.6, "fraction_of_peak": 0.514, "rivals": {}}]}
    TEXT = ("a\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nb\n"
            "<!-- peers:begin -->\nold\n<!-- peers:end -->\nc\n")

    def tool(self, *action, text=TEXT, **results):
        """Its exit code, or what it says in its stead, and the text that it leaves."""
        with tempfile.TemporaryDirectory() as folder:
            readme = pathlib.Path(folder) / "readme"
            readme.write_text(text)
            for name, each in results.items():
                (pathlib.Path(folder) / f"{name}.json").write_text(json.dumps(each))
            sys.argv = ["tool", "--results", folder, "--readme", str(readme), *action]
            try:
                code = bench_table.main()
            except SystemExit as why:
                code = str(why).replace(folder, "FOLDER")
            return code, readme.read_text()

    def test_each_kind_goes_between_its_own_markers(self):
        code, text = self.tool("--write", some=self.BENCH, some_peers=Table.RESULTS)
        a, bench, b, peers, c = re.split("<!-- .*:(?:begin|end) -->\n", text)
        self.assertEqual((code, a, b, c), (None, "a\n", "b\n", "c\n"))
        self.assertTrue(bench.startswith(
            "**Some Processor**, avx2, 100 GFLOP/s a core, g++ 1\n\n| length "), bench)
        self.assertIn("\n| 128 | 64 | no | 51 % |", bench)
        self.assertTrue(peers.startswith(
            "**Some Processor**, avx2, 2000-01-02, Python 3.11.2: scaledot 1.2.3, Peer 4\n\n"
            + "\n".join(Table.LINES) + "\n\nPercent of the ceiling"), peers)
        self.assertNotIn("Percent of the ceiling", bench)

    def test_what_was_not_measured_is_not_shown(self):
        _, text = self.tool("--write", some_peers=Table.RESULTS)
        self.assertIn("a\n<!-- bench:begin -->\n<!-- bench:end -->\nb\n", text)
        self.assertIn(Table.LINES[2], text)

    def test_check_compares_and_does_not_write(self):
        results = {"some": self.BENCH, "some_peers": Table.RESULTS}
        _, right = self.tool("--write", **results)
        self.assertEqual(self.tool("--check", text=right, **results), (None, right))
        for wrong in (self.TEXT, right.replace("80 %", "81 %"), right.replace("51 %", "52 %")):
            code, text = self.tool("--check", text=wrong, **results)
            self.assertRegex(code, "has other tables")
            self.assertEqual(text, wrong)

    def test_without_results_or_markers_nothing_is_written(self):
        self.assertRegex(self.tool("--write")[0], "^no results in FOLDER")
        for text in (self.TEXT.replace("bench:end", "end"), self.TEXT + self.TEXT,
                     self.TEXT.replace("peers:begin", "peers:end", 1),
                     self.TEXT.replace("peers:begin", "end").replace("peers:end", "peers:begin")
                     .replace("<!-- end", "<!-- peers:end")):
            code, left = self.tool("--write", text=text, some=self.BENCH)
            self.assertRegex(code, "^FOLDER/readme needs <!-- .* once each$")
            self.assertEqual(left, text)


if __name__ == "__main__":
    unittest.main()
