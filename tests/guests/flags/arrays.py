# numpy asks for the processor's flags after each operation on arrays: it raises and warns as natively, of what the arrays'
# values do, and not of what the rules for their derivatives do.
import sys
import warnings
import numpy as np

zero = float(sys.argv[1])
warnings.simplefilter("always")


def tries(what, compute):
    """Everything raised as an error, and as a warning."""
    seen = []
    with np.errstate(all="raise"):
        try:
            seen.append(str(compute()))
        except FloatingPointError as error:
            seen.append(str(error))
    with warnings.catch_warnings(record=True) as caught:
        seen.append(str(compute()))
    print(what, seen, [str(warning.message) for warning in caught])


for size in (1, 3, 16, 1000):
    x = np.full(size, zero)
    third, huge, tiny = x / 3, x * 2.0**600, x * 2.0**-600
    root = np.sqrt(x)
    tries("root", lambda: np.sqrt(x)[-1])
    tries("invalid", lambda: (root * root - root)[-1])
    tries("overflow", lambda: (huge * 2.0**600)[-1])
    tries("underflow", lambda: (tiny * 2.0**-600)[-1])
    tries("power", lambda: np.power(x, 0.5)[-1])
    tries("functions", lambda: (np.exp(third) + np.cos(huge) + np.arctan(third) + np.cbrt(x))[-1])
    tries("product", lambda: np.dot(third, huge))
    tries("narrow", lambda: huge.astype(np.float32)[-1])
    tries("own zero", lambda: (1 / x)[-1])
    tries("own invalid", lambda: (x / x)[-1])
    tries("own overflow", lambda: ((x + 2.0**600) * 2.0**600)[-1])
    tries("own underflow", lambda: ((x + 2.0**-600) * 2.0**-600)[-1])
    tries("own logarithm", lambda: np.log(x)[-1])
scalar = np.float64(zero)
tries("scalar", lambda: scalar / np.float64(3) + np.sqrt(scalar))
tries("scalar zero", lambda: np.float64(1) / scalar)
print(float(scalar / 3))
