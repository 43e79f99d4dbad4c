# Awk prints integers as such, and decides which they are.
BEGIN {
    for (i = 1; i <= 3; i++) { x = i * 1.1; s += x; q += x * x }
    print s, q, s / 3, int(s) + 1
    printf "%.3f %g\n", sqrt(q), exp(s / 10)
}
