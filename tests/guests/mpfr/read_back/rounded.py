# As rounded.c: Python rounds a number by way of its digits.
total = 0.0
for i in range(10):
    total += 0.1
print(round(total * 0.015, 2) * 1.5)
