# numpy: ufuncs, reductions and linear algebra in float32 or float64 (the argument `f4` or `f8`), seeded in place.
import sys

import numpy as np

import shadowgrind

kind = np.dtype(sys.argv[1])
shift = np.zeros(1, kind)
shadowgrind.set_dot(shift)
if len(sys.argv) > 2:
    shift += float(sys.argv[2])
points = np.array([0.3, 0.55, 0.75, 0.9, 0.25, 0.125, 0.66, 0.81, 0.42, 0.37, 0.5], kind)
x = points + shift
w = points.astype(np.longdouble)
n = len(points)
ramp = np.arange(1, n + 1)


def check(name, value, derivative):
    print(f"{name} {float(value)!r} {float(derivative)!r}")


def each(name, values, derivatives):
    derivatives = np.broadcast_to(derivatives, np.shape(values))
    for v, d in zip(values, derivatives):
        check(name, v, d)


each("add", x + x, 2)
each("mul", x * x, 2 * w)
each("div", 1 / x, -1 / w**2)
each("sqrt", np.sqrt(x), 0.5 / np.sqrt(w))
each("abs", np.abs(-x), 1)
each("square", np.square(x), 2 * w)
each("reciprocal", np.reciprocal(x), -1 / w**2)
each("maximum", np.maximum(x, kind.type(0.52)), np.where(w > 0.52, 1, 0))
each("where", np.where(points > 0.5, x * 2, x), np.where(w > 0.5, 2, 1))
each("exp~4", np.exp(x), np.exp(w))
each("log~4", np.log(x), 1 / w)
each("sin~4", np.sin(x), np.cos(w))
each("cos~4", np.cos(x), -np.sin(w))
each("tanh~4", np.tanh(x), 1 / np.cosh(w) ** 2)
each("arctan~4", np.arctan(x), 1 / (1 + w**2))
each("power~4", np.power(x, kind.type(2.5)), 2.5 * w**1.5)
each("log1p~4", np.log1p(x), 1 / (1 + w))
each("hypot~4", np.hypot(x, kind.type(3)), w / np.hypot(w, 3))
each("cumsum", np.cumsum(x), ramp)
each("fancy", x[::-1][ramp % 4], 1)
each("cast^", x.astype("f8" if kind == "f4" else "f4").astype(kind), 1)
check("sum", np.sum(x), n)
check("mean", np.mean(x), 1)
check("prod~16", np.prod(x), np.prod(w) * np.sum(1 / w))
check("max", np.max(x), 1)
check("var~64", np.var(x * x), 4 * (np.mean(w**3) - np.mean(w) * np.mean(w**2)))
check("dot~4", np.dot(x, x), 2 * np.sum(w))
check("norm~4", np.linalg.norm(x), np.sum(w) / np.sqrt(np.sum(w**2)))
m = np.outer(x, x) + np.eye(n, dtype=kind)
mw = np.outer(w, w)
check("matmul~16", (m @ m)[1, 2], (w[1] + w[2]) * (np.sum(w**2) + 2) + w[1] * w[2] * 2 * np.sum(w))
check("sort", np.sort(x)[3], 1)
check("einsum~16", np.einsum("i,i,i->", x, x, x), 3 * np.sum(w**2))
check("interp~16", np.interp(0.5, [0, 1], [x[0], x[1] * 3]), 2)
