# The same by numpy: scalars, and arrays in the layouts that it chooses for them.
import numpy as np

large = [1e16, 3e22, 1e16, 2.0**60, 1e40, 1e12]
small = [1.2345, -9.5, 999.9996, 0.0009765625, 1.5e20, 1e-7]


def both(text, wrong, right):
    left, other = text(wrong), text(right)
    print("w=[" + left + "] r={" + other + "}")


def columns(wrong, right):
    text = str(np.array([wrong, right]))[1:-1]
    half = len(text) // 2
    print("w=[" + text[:half] + "] r={" + text[half + 1 :] + "}")


for big, right in zip(np.array(large), np.array(small)):
    wrong = (big + right) - big
    both(str, wrong, right)
    both(repr, wrong, right)
    columns(wrong, right)
    for options in [{"precision": 3}, {"floatmode": "fixed"}, {"sign": "+"}, {"suppress": True}]:
        with np.printoptions(**options):
            columns(wrong, right)
    both(lambda x: np.format_float_positional(x, precision=3, trim="-", pad_left=4), wrong, right)
    both(lambda x: np.format_float_scientific(x, precision=2, unique=False, pad_left=4), wrong, right)
for part in np.array([1.25, -9.5, 0.0009765625, 12345.6875], dtype=np.float32):
    lost = (np.float32(2.0**60) + part) - np.float32(2.0**60)
    both(str, lost, part)
    columns(lost, part)
