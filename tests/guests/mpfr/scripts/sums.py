# numpy asks the machine for its floats' parameters when it is imported, which is no decision of this script.
import numpy as np

x = np.array([1.1, 2.3, 3.7])
print(x.sum(), x.mean(), x.std(), float(x @ x))
print("%.6f" % np.linalg.norm(x))
