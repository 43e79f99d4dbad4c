# A predator and its prey in plain Python, by Runge-Kutta steps: the last state, by rates and initial numbers.
import math
import sys

a, b, c, d, u, v = (float(word) for word in sys.stdin.read().split())


def slope(u, v):
    return a * u - b * u * v, c * u * v - d * math.tanh(v)


h = 0.05
for _ in range(30):
    k = slope(u, v)
    m = slope(u + h / 2 * k[0], v + h / 2 * k[1])
    u, v = u + h * m[0], v + h * m[1]
print(repr(u), repr(v))
