# sqrt(x + 1) − sqrt(x) in Python.
import math
import sys

x = float(sys.argv[1])
print(repr(math.sqrt(x + 1) - math.sqrt(x)))
