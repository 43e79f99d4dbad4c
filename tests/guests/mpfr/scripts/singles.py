# numpy reckons functions of float32 with tricks: it adds numbers to round, takes them off again, and uses bits as powers of two.
import numpy as np

x = np.array([0.1, 0.7, 1.3, 2.1, 2.9, 3.7, 0.55, 1.25, 4.25], dtype=np.float32) * np.float32(0.9)
for function in (np.sin, np.cos, np.exp, np.log, np.exp2, np.tanh):
    print(function.__name__, " ".join("%.4f" % value for value in function(x)))
