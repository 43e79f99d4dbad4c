# As rounded.c.
my $sum = 0;
$sum += 0.1 for 1 .. 10;
print sprintf("%.2f", $sum * 0.015) * 1.5, "\n";
