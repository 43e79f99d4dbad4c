# scipy's hypergeometric function where it loses all digits but the exponent.
import scipy.special

print(repr(float(scipy.special.hyp2f1(100, 100, 300, -0.5))))
