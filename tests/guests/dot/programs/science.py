# scipy: special functions, an ODE solver, linear algebra, splines, an FFT, of an input seeded by the package.
import sys

import numpy as np
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.special

import shadowgrind

shift = shadowgrind.set_dot(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)


def show(*values):
    for value in values:
        print(repr(float(value)))


x = 1.3 + shift
show(scipy.special.j0(x), scipy.special.gamma(x), scipy.special.erf(x), scipy.special.ellipk(x / 2))
show(scipy.special.hyp2f1(0.5, 1.5, 2.5, x / 4), scipy.special.digamma(x), scipy.special.kv(1.5, x))

solution = scipy.integrate.solve_ivp(
    lambda t, y: [y[1], -y[0] - x * y[1] * (y[0] ** 2 - 1)], (0, 2), [1.0, 0.0], rtol=1e-10, atol=1e-12, max_step=0.02
)
show(*solution.y[:, -1])
show(scipy.integrate.quad(lambda t: np.exp(-t * t * x) * np.cos(t), 0, 2)[0])

a = np.array([[4.0, 1, 2], [1, 3, 0.5], [2, 0.5, 5]]) + shift * np.arange(9).reshape(3, 3)
show(*scipy.linalg.solve(a, np.array([1.0, 2, 3]), assume_a="gen"), scipy.linalg.det(a))
show(*np.linalg.eigvalsh((a + a.T) / 2), *np.ravel(scipy.linalg.expm(a / 10))[:3])

points = np.sin(np.arange(6.0) + shift)
show(scipy.interpolate.CubicSpline(np.arange(6), points)(2.3))
show(*np.abs(scipy.fft.rfft(points)))
