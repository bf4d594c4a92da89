#!/usr/bin/python3
"""Fits the polynomials of src/kernels/exp2.hpp and prints their coefficients as hex floats.

Each is the minimax polynomial of its form (Remez exchange in double), its coefficients rounded to
f32 and then moved by single ulps while that makes the evaluation in f32 more exact. Needs
Debian's python3-numpy.
"""

import numpy


def minimax(basis, target, weight, points):
    """Coefficients minimising max |weight * (basis @ x - target)| over the points, by exchange."""
    count = basis.shape[1] + 1
    chosen = numpy.unique(
        numpy.round((0.5 - 0.5 * numpy.cos(numpy.pi * (numpy.arange(count) + 0.5) / count))
                    * (len(points) - 1)).astype(int))
    for _ in range(60):
        signs = (-1.0) ** numpy.arange(count)
        system = numpy.column_stack([basis[chosen], signs / weight[chosen]])
        solution = numpy.linalg.solve(system, target[chosen])[:-1]
        error = weight * (basis @ solution - target)
        edges = numpy.flatnonzero(numpy.diff(numpy.sign(error)) != 0) + 1
        pieces = [p for p in numpy.split(numpy.arange(len(points)), edges) if len(p)]
        peaks = numpy.array([p[numpy.argmax(numpy.abs(error[p]))] for p in pieces])
        while len(peaks) > count:
            drop = 0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1
            peaks = numpy.delete(peaks, drop)
        if len(peaks) < count or numpy.array_equal(peaks, chosen):
            break
        chosen = peaks
    return solution


def rounded(points, values, coefficients, relative):
    """Largest error of the polynomial evaluated by Horner's rule in f32 fused multiply-adds."""
    x = points.astype(numpy.float32).astype(numpy.float64)
    powers = sorted(coefficients, reverse=True)
    step = x ** (powers[0] - powers[1]) if len(powers) > 1 else x
    if powers[0] - powers[1] == 2:
        step = (x * x).astype(numpy.float32).astype(numpy.float64)
    total = numpy.full_like(x, coefficients[powers[0]])
    for power in powers[1:]:
        total = (total * step + coefficients[power]).astype(numpy.float32).astype(numpy.float64)
    if powers[-1] == 1:
        total = (total * x).astype(numpy.float32).astype(numpy.float64)
    error = numpy.abs(total - values)
    return numpy.max(error / numpy.abs(values) if relative else error)


def fit(name, function, low, high, powers, fixed):
    """Fits the sum of c[p] * x^p over `powers`, plus the terms in `fixed`, in relative error."""
    points = numpy.linspace(low, high, 40001)
    points = points[numpy.abs(points) > 1e-4].astype(numpy.float32).astype(numpy.float64)
    values = function(points)
    rest = values - sum(c * points ** p for p, c in fixed.items())
    lead = points ** powers[0]
    basis = numpy.column_stack([points ** (p - powers[0]) for p in powers])
    exact = minimax(basis, rest / lead, numpy.abs(lead / values), points)
    coefficients = dict(fixed)
    coefficients.update({p: float(numpy.float32(c)) for p, c in zip(powers, exact)})
    best = rounded(points, values, coefficients, True)
    improved = True
    while improved:
        improved = False
        for power in powers:
            for direction in (numpy.inf, -numpy.inf):
                tried = dict(coefficients)
                tried[power] = float(numpy.nextafter(numpy.float32(tried[power]),
                                                     numpy.float32(direction)))
                error = rounded(points, values, tried, True)
                if error < best:
                    best, coefficients, improved = error, tried, True
    print(f"{name}: largest relative error, evaluation in f32 included, {best:.3g}")
    for power in sorted(coefficients):
        print(f"  x^{power:<2} {float.hex(coefficients[power])}  {coefficients[power]:.9g}")


fit("2^x on [-1/2, 1/2]", numpy.exp2, -0.5, 0.5, [1, 2, 3, 4, 5], {0: 1.0})
fit("tanh(x) on [0, 5/8]", numpy.tanh, 1e-3, 0.625, [3, 5, 7, 9, 11], {1: 1.0})
fit("log2(1 + x) on [sqrt(1/2) - 1, sqrt(2) - 1]", lambda x: numpy.log1p(x) / numpy.log(2),
    numpy.sqrt(0.5) - 1, numpy.sqrt(2) - 1, [1, 2, 3, 4, 5, 6, 7, 8, 9], {})
fit("2^x on [0, 1]", numpy.exp2, 0, 1, [1, 2, 3, 4], {0: 1.0})
