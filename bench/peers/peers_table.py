"""The table of a comparison, in Markdown: for the terminal, and by tools/bench_table.py for the
README. Needs nothing but Python."""

NOTE = ("Percent of the ceiling in the last column, measured between the repetitions: "
        "multiply-adds in f32 for prompts (bf16 on matrix units can exceed 100 %), reading the "
        "keys and values for decoding. In brackets, scaledot's speed in parts of the peer's in "
        "the same round: above 1 scaledot is faster. Medians of ten rounds, warm cache; prompts "
        "have 8 heads. Empty: the peer does not do this. An exclamation mark: the error is above "
        "the bound. docs/benchmarks.md says how it is measured.")
OURS = "scaledot"


def work(row):
    """What was computed, in a few words."""
    if row["queries"] == 1:
        return (f"decode, {row['keys']} keys, {row['heads']} heads on {row['key_heads']}, "
                f"d {row['head_dim']}")
    return f"{row['queries']}{' causal' if row['causal'] else ''}, d {row['head_dim']}"


def ceiling(row):
    giga = row["ceiling_rate"] / 1e9
    return f"{giga:.1f} GB/s" if row["ceiling"] == "read" else f"{giga:.0f} GFLOP/s"


def cell(row, name):
    result = row["results"].get(name)
    if result is None:
        return ""
    text = f"{100 * result['fraction']:.0f} %"
    if name != OURS:
        text += f" ({result['ratio']:.2f})"
    return text + " !" * (not result["right"])


def heading(names):
    yield "| threads | type | work | " + " | ".join(names) + " | ceiling |"
    yield "| ---: | --- | --- |" + " ---: |" * (len(names) + 1)


def line(row, names):
    cells = [str(row["threads"]), row["dtype"], work(row), *(cell(row, name) for name in names),
             ceiling(row)]
    return "| " + " | ".join(cells) + " |"


def about(results):
    """The machine, the day and the versions, and who could not come, in a sentence."""
    versions = ", ".join(f"{name} {peer['version']}" for name, peer in results["peers"].items())
    absent = "".join(f"; without {name}" for name in results["absent"])
    return (f"**{results['processor']}**, {results['isa']}, {results['date']}, Python "
            f"{results['python']}: {versions}{absent}")


def lines(results):
    names = list(results["peers"])
    yield from heading(names)
    for row in results["rows"]:
        yield line(row, names)
