# The two-dimensional Burgers equations in plain Python lists.
import math, sys

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

n, steps, shift = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
h = 1.0 / n
u = [[0.1 + 16 * i * h * (1 - i * h) * j * h * (1 - j * h) + shift for j in range(n)] for i in range(n)]
v = [[0.5 - i * h * j * h + shift for j in range(n)] for i in range(n)]
for _ in range(steps):
    u, v = step(n, u, v, 0.1 * h, h, 1e-3)
print(repr(math.sqrt(sum(x * x for row in u + v for x in row))))
