"""Talks to shadowgrind from within a Python program.

    import shadowgrind
    x = shadowgrind.set_dot(4.0, 1.0)
    y = x * x * x
    print(shadowgrind.get_dot(y))       # 48.0 under `shadowgrind --shadow=dot`, 0.0 without

A Python float never changes, so what gives one a derivative returns a new float. Arrays (numpy's, array.array, anything
with a writable buffer of floats) are changed in place. Without the tool nothing happens.
"""

import json
from contextlib import contextmanager

from . import _requests

NATIVE, NONE, DOT, MPFR, ERROR, ADJOINT = range(-1, 5)

mode = _requests.mode
off = _requests.off
on = _requests.on
output = _requests.output
get_real = _requests.get_real
error_bits = _requests.error_bits


def set_dot(x, dot=1.0):
    """Gives x the dot value(s) `dot`: a float is returned anew, an array is changed in place and returned."""
    if isinstance(x, (int, float)):
        return _requests.with_dot(x, dot)
    _requests.set_dots(x, _like(x, dot))
    return x


def get_dot(x):
    """The dot value of a float, or an array of those of an array's elements."""
    if isinstance(x, (int, float)):
        return _requests.get_dot(x)
    dots = _like(x, 0.0)
    _requests.get_dots(x, dots)
    return dots


def input(name, x, weight=1.0):
    """x is an input called `name`. A float is returned anew, an array is changed in place and returned."""
    if isinstance(x, (int, float)):
        return _requests.input_float(name, x, weight)
    _requests.input_array(name, x, weight)
    return x


def gradient(report, output=None):
    """Gradients of a run under --shadow=adjoint, from the file of its --report=json:FILE.

    A list of (output, {input: derivatives}) with all outputs that have one: their numbers, or their names if they have one, and
    for each input its derivatives, as many as floats were seeded, each time they were. With `output`, a number or a name, the
    one dictionary for that. KeyError if there is none; ValueError if the report has no gradients.
    """
    with open(report) as file:
        document = json.load(file)
    if "gradients" not in document:
        raise ValueError(f"{report}: no gradients, which are of --shadow=adjoint")
    labels = {o["index"]: o["label"] for o in document["outputs"] if o["label"]}
    rows = []
    for row in document["gradients"]:
        if row["values"] is None:
            raise ValueError(f"{report}: too many numbers for a report; --gradient=FILE.npy has them")
        by_input = {}
        for i in document["inputs"]:
            own = row["values"][i["first"] : i["first"] + i["count"]]
            by_input.setdefault(i["spec"], []).extend(map(float, own))
        rows.append((labels.get(row["output"], row["output"]), row["output"], by_input))
    if output is None:
        return [(name, by_input) for name, _, by_input in rows]
    for name, number, by_input in rows:
        if output in (name, number):
            return by_input
    raise KeyError(output)


@contextmanager
def paused():
    """No shadowing within the block."""
    off()
    try:
        yield
    finally:
        on()


def _like(x, dot):
    """`dot` as one double for each float of x, in a new array of x's shape (complex: of x's kind)."""
    if hasattr(x, "dtype"):
        import numpy

        dots = numpy.empty(x.shape, complex if x.dtype.kind == "c" else float)
        dots[...] = dot
        return dots
    from array import array

    return array("d", dot if hasattr(dot, "__iter__") else [dot] * len(x))
