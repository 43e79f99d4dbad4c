"""Variables of a script that are left at its end: floats, lists, and tuples in lists."""
import math
import sys

x = float(sys.argv[1])
square = x * x
rows = [[x, 2 * x], (3 * x, math.sin(x))]
word = "none"
if len(sys.argv) > 2:
    exec("inner = 7 * x")
    sys.exit(0)
