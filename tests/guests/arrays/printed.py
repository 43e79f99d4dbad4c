# Arrays as numpy prints them: one and two dimensions, both formats, exponents, complex numbers; what is only measured is no output.
import sys

import numpy as np

x = np.float64(sys.argv[1])
print("a =", np.array([1.0, 2.5, -0.125]) * x)
print(np.array([[1e-10, 2e5], [0.5, -1.0]]) * x)
print(np.array([0.25, 3.0], dtype=np.float32) * np.float32(x))
print(np.array([1 + 2j]) * x)
print(np.array2string(np.array([2.0, 4.0]) * x, precision=3, separator=", "))
