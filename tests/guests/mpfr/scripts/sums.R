# R asks the machine for its floats' parameters when it starts, and decides how many digits to print.
x <- c(1.1, 2.3, 3.7)
print(sum(x))
print(x * 2)
cat(mean(x), sd(x), "\n")
cat(format(pi * x, digits = 4), "\n")
