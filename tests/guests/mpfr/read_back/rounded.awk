# As rounded.c.
BEGIN {
    for (i = 0; i < 10; i++) sum += 0.1
    print sprintf("%.2f", sum * 0.015) * 1.5
}
