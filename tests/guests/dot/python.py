# Derivatives in CPython: operators, the math and cmath modules, containers, generators, classes, text left alone.
import cmath
import math
import struct
import sys
from array import array

import shadowgrind

shift = shadowgrind.set_dot(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)


def check(name, value, derivative):
    print(f"{name} {value!r} {derivative!r}")


def at(name, value, derivative, *points):
    for p in points or (0.75, 2.5):
        check(name, value(p + shift), float(derivative(p)))


def halves(x):
    while abs(x) > 0.1:
        x = x / 2
    return x


def generated(x):
    return sum(x * i for i in range(50))


class Vector:
    def __init__(self, *v):
        self.v = v

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.v, other.v))


def through_containers(x):
    d = {"a": [x, (x * x, {"b": x + 1})]}
    a, (b, c) = d["a"]
    return a + 10 * b + 100 * c["b"]


def through_array(x):
    a = array("d", [x, 2 * x])
    a.extend([x * x])
    return struct.unpack("d", struct.pack("d", a[2]))[0] + a[1]


def raised(x):
    try:
        raise ValueError(x * x)
    except ValueError as e:
        return e.args[0]


at("add", lambda x: x + 2, lambda w: 1)
at("sub", lambda x: 2 - x, lambda w: -1)
at("mul", lambda x: x * x * 3, lambda w: 6 * w)
at("div", lambda x: 3 / x, lambda w: -3 / w**2)
at("floordiv^", lambda x: x // 0.5, lambda w: 0)
at("mod", lambda x: x % 0.5, lambda w: 1, 0.8, 2.6)
at("power", lambda x: x**3, lambda w: 3 * w**2)
at("power-of", lambda x: 2.5**x, lambda w: 2.5**w * math.log(2.5))
at("neg-abs", lambda x: -abs(x), lambda w: -1 if w > 0 else 1, 0.75, -2.5)
at("compare", lambda x: x * x if x > 1 else 3 * x, lambda w: 2 * w if w > 1 else 3)
at("min-max", lambda x: min(x, 1.0) + max(x, 1.0), lambda w: 1)
at("int^", lambda x: int(x * 10) * x, lambda w: int(w * 10))
at("exp", math.exp, math.exp)
at("log", math.log, lambda w: 1 / w)
at("sin", math.sin, math.cos)
at("cos", math.cos, lambda w: -math.sin(w))
at("tan", math.tan, lambda w: 1 / math.cos(w) ** 2)
at("atan2", lambda x: math.atan2(x, 3), lambda w: 3 / (w * w + 9))
at("sqrt", math.sqrt, lambda w: 0.5 / math.sqrt(w))
at("hypot~2", lambda x: math.hypot(x, 3), lambda w: w / math.hypot(w, 3))
at("fsum", lambda x: math.fsum([x, 1e9, x, -1e9]), lambda w: 2)
at("erf~4", math.erf, lambda w: 2 / math.sqrt(math.pi) * math.exp(-w * w), 0.75)
at("sinh", math.sinh, math.cosh)
at("copysign", lambda x: math.copysign(x, -1), lambda w: -1)
at("sum", generated, lambda w: 49 * 25)
at("sort", lambda x: sorted([3.0, x * x, x, 10.0])[1], lambda w: 1 if w < 1 else 0)
at("containers", through_containers, lambda w: 1 + 20 * w + 100)
at("array", through_array, lambda w: 2 * w + 2)
at("class", lambda x: Vector(x, 2, x) @ Vector(x, x, 1), lambda w: 2 * w + 3)
at("exception", raised, lambda w: 2 * w)
at("loop", halves, lambda w: 0.125 if w < 1 else 0.03125)
at("complex", lambda x: ((x + 2j) * (1 - x * 1j)).imag, lambda w: -2 * w)
at("cmath-exp~2", lambda x: cmath.exp(x * 1j).real, lambda w: -math.sin(w))
at("reduce", lambda x: math.prod([x, x + 1, 2.0]), lambda w: 4 * w + 2)
