# A linear system, a Fourier transform and an interpolation by numpy, of the numbers read.
import sys

import numpy

x = numpy.array([float(word) for word in sys.stdin.read().split()])
a = x[:9].reshape(3, 3) + 3 * numpy.eye(3)
for value in numpy.linalg.solve(a, x[9:12]):
    print(repr(float(value)))
spectrum = numpy.fft.fft(x[:8])
for k in range(4):
    print(repr(float(abs(spectrum[k]) ** 2)))
print(repr(float(numpy.interp(x[0] * 0.1 + 1.3, [0.0, 1.0, 2.0, 3.0], x[4:8]))))
