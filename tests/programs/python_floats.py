# A long loop of float arithmetic in Python: every digit of the result.
#@ run system: /usr/bin/python3 {file}
#@ run path: python3 {file}
import cmath, math

def logistic(r, x, n):
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x

def burgers(n, steps):
    u = [math.sin(2 * math.pi * i / n) for i in range(n)]
    for _ in range(steps):
        u = [u[i] - 0.1 * u[i] * (u[i] - u[i - 1]) + 0.05 * (u[(i + 1) % n] - 2 * u[i] + u[i - 1]) for i in range(n)]
    return u

print(repr(logistic(3.9, 0.5, 80000)))
print([repr(x) for x in burgers(40, 60)[::7]])
z = 0j
for k in range(1000):
    z = cmath.exp(z * 0.3) - 0.5j
print(z, math.lgamma(7.5), math.erf(0.3), f"{math.pi:.30f}", float("1e400"), -0.0)
