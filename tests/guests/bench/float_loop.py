# A loop of float arithmetic in CPython.
import sys

def run(rounds):
    x, total = 0.5, 0.0
    for i in range(rounds):
        x = 3.7 * x * (1.0 - x)
        total += x / (1.0 + i)
    return total

print(repr(run(int(sys.argv[1]))))
