"""Arrays of numpy that are left at the end of a script: whole ones, parts of them, and a number of four bytes."""
import sys

import numpy

x = float(sys.argv[1])
array = numpy.arange(6.0).reshape(2, 3) * x
column = array[:, 1]
single = numpy.float32(x) * numpy.float32(2)
