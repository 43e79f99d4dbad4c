# Sums, means, and arithmetic on whole arrays by numpy.
import os
import sys

# BLAS's other threads would wait busily, for as long as others keep the machine busy.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy

a = numpy.arange(100000) % 977 / 977
b = a * 0.5 + 0.25
total = 0.0
for i in range(int(sys.argv[1])):
    c = a * b + i
    total += c.sum() + c.mean() - a.dot(b)
print(repr(float(total)))
