# The same by Perl, which finds numbers in texts as it computes with them.
my ($a, $path) = @ARGV[-2, -1];
my ($s, $t) = split ' ', <STDIN>;
my $total = $a * $a + $ENV{SG_W} * $s * $t;
open(my $file, '<', $path) or die;
<$file>;
my $rows = <$file>;
for my $i (1 .. $rows) {
    my ($p, $q) = split ' ', <$file>;
    $total += $i * $p * $p * $q;
}
printf("%.17g\n", $total);
