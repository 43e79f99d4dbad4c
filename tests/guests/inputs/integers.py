# The same by int and float.
import sys

a, s = int(sys.argv[1]), int(sys.stdin.readline())
with open(sys.argv[2]) as file:
    n, m = map(int, file.readline().split())
    p, q = map(float, file.readline().split())
print(a * p + n * m * q * q + s)
