# Numbers read from text are what they are read as, however the interpreter finds their digits: these differences are
# exact (Sterbenz), and so is a number of more digits than fit.
import sys

for text in sys.argv[1:]:
    number, nearby = text.split("~")
    print(repr(float(number) - float(nearby)))
