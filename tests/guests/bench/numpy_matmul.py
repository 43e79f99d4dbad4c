# Products of matrices by numpy, which leaves them to BLAS.
import os
import sys

# BLAS's other threads would wait busily, for as long as others keep the machine busy.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy

n = 160
a = (numpy.arange(n * n) % 97 / 97).reshape(n, n)
b = (numpy.arange(n * n) % 89 / 89 - 0.5).reshape(n, n)
for _ in range(int(sys.argv[1])):
    b = a @ b
    b /= numpy.abs(b).max()
print(repr(float(b.sum())))
