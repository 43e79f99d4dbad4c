# The same by float(text), beside a literal that looks like the argument.
import os
import sys

unlike = 0.625 + len(sys.argv)
a, w = float(sys.argv[-2]), float(os.environ["SG_W"])
s, t = map(float, input().split())
total = a * a + w * s * t
with open(sys.argv[-1]) as file:
    file.readline()
    rows = int(file.readline())
    for i in range(rows):
        p, q = map(float, file.readline().split())
        total += (i + 1) * p * p * q
print(repr(total))
