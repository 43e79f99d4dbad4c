"""Talks to shadowgrind from within a Python program.

    import shadowgrind
    x = shadowgrind.set_dot(4.0, 1.0)
    y = x * x * x
    print(shadowgrind.get_dot(y))       # 48.0 under `shadowgrind --shadow=dot`, 0.0 without

A Python float never changes, so what gives one a derivative returns a new float. Arrays (numpy's, array.array, anything
with a writable buffer of floats) are changed in place. Without the tool nothing happens.
"""

from contextlib import contextmanager

from . import _requests

NATIVE, NONE, DOT, MPFR, ERROR = range(-1, 4)

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
