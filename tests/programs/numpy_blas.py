# numpy with OpenBLAS: matrix products, eigenvalues, solving, singular values, FFT, sorting, ufuncs, random numbers.
#@ needs: numpy for the system's Python!/usr/bin/python3 -c 'import numpy'
#@ run haswell: /usr/bin/python3 {file}
#@ env: OPENBLAS_CORETYPE=Haswell
#@ env: OPENBLAS_NUM_THREADS=2
#@ timeout: 300
# Both runs use the kernels for AVX2: which instruction set the library picks decides the last digit. numpy's own
# loops for AVX-512 are avoided below by summing exactly what elementary functions return, rounded to 12 digits.
import math
import numpy as np

rng = np.random.default_rng(42)
a, b = rng.standard_normal((200, 200)), rng.standard_normal((200, 200))
c = a @ b
print(repr(float(c[3, 4])), repr(float(c.trace())), (a.astype(np.float32) @ b.astype(np.float32))[0, 0])
print(np.linalg.eigvalsh(a + a.T)[:3].tolist())
print(sorted(np.linalg.eig(a[:50, :50])[0].real.round(9).tolist())[:3])
x = np.linalg.solve(a, b[:, 0])
print(bool(np.allclose(a @ x, b[:, 0])), np.linalg.svd(a, compute_uv=False)[:2].tolist())
f = np.fft.fft(a[0])
print(f[:2].tolist(), bool(np.allclose(np.fft.ifft(f), a[0])))
big = rng.random(200000)
print(np.sort(big)[::40000].tolist(), int(np.argsort(big, kind="stable")[7]), float(np.median(big)))
print([f"{math.fsum(g(big).tolist()):.11g}" for g in (np.sin, np.exp, np.sqrt, np.log1p, np.tanh)])
print(np.cumsum(np.arange(10.0) / 3).tolist(), np.histogram(big, 5)[0].tolist(), np.einsum("ij,kj->ik", a[:3, :4], b[:2, :4]).tolist())
print((rng.integers(0, 1000, 100000).reshape(100, -1).sum(axis=1) % 97)[:10].tolist(), np.linalg.det(a[:6, :6]))
