"""From repetitions to figures. A sample is (seconds of a call, rate of the ceiling around it)."""

import statistics


def fractions(samples, work):
    """What part of its own ceiling each repetition reached."""
    return [work / (seconds * ceiling) for seconds, ceiling in samples]


def spread(values):
    """The distance of the quartiles in parts of the median."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / middle


def result_of(samples, work, ours):
    """One contestant's figures; `ours` are the samples of scaledot in the same rounds.

    "ratio" is ours / theirs, the median over the rounds: above 1 scaledot is faster. Each is
    taken relative to its own ceiling, so that a neighbour who comes between the two turns of a
    round changes both sides.
    """
    mine, theirs = fractions(ours, work), fractions(samples, work)
    ratios = [a / b for a, b in zip(mine, theirs, strict=True)]
    return {"microseconds": 1e6 * statistics.median(seconds for seconds, _ in samples),
            "fraction": statistics.median(theirs), "spread": spread(theirs),
            "ratio": statistics.median(ratios), "ratio_spread": spread(ratios),
            "repetitions": len(samples)}
