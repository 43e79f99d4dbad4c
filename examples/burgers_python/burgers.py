# The two-dimensional Burgers equations in plain Python lists; the norm of the final state, by a shift of the initial one.
import math
import sys

import shadowgrind


def step(n, u, v, dt, h, nu):
    un, vn = [row[:] for row in u], [row[:] for row in v]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            a, b = u[i][j], v[i][j]
            ux, uy = (a - u[i - 1][j]) / h, (a - u[i][j - 1]) / h
            vx, vy = (b - v[i - 1][j]) / h, (b - v[i][j - 1]) / h
            lu = (u[i + 1][j] + u[i - 1][j] + u[i][j + 1] + u[i][j - 1] - 4.0 * a) / (h * h)
            lv = (v[i + 1][j] + v[i - 1][j] + v[i][j + 1] + v[i][j - 1] - 4.0 * b) / (h * h)
            un[i][j] = a + dt * (nu * lu - a * ux - b * uy)
            vn[i][j] = b + dt * (nu * lv - a * vx - b * vy)
    return un, vn


n, steps = int(sys.argv[1]), int(sys.argv[2])
shift = shadowgrind.input("shift", float(sys.argv[3]) if len(sys.argv) > 3 else 0.0)
h = 1.0 / n
u = [[0.1 + 16 * i * h * (1 - i * h) * j * h * (1 - j * h) + shift for j in range(n)] for i in range(n)]
v = [[0.5 - i * h * j * h + shift for j in range(n)] for i in range(n)]
for _ in range(steps):
    u, v = step(n, u, v, 0.1 * h, h, 1e-3)
norm = math.sqrt(sum(x * x for row in u + v for x in row))
print(norm, shadowgrind.get_dot(norm))
