# Perl: regular expressions, hashes, sorting, closures, sprintf, pack, fork, pipes, alarm, eval, local.
#@ run perl: perl {file}
use strict;
use warnings;
$| = 1;
my %count;
$count{$_}++ for map { $_ * $_ % 17 } 1 .. 5000;
print join(",", map { "$_=$count{$_}" } sort { $a <=> $b } keys %count), "\n";
my $text = join " ", map { sprintf "%03d:%s", $_, chr(97 + $_ % 26) x ($_ % 5) } 1 .. 300;
my @found = $text =~ /(\d+):(a{2,}|c+)/g;
print scalar(@found), " $found[1]\n";
(my $changed = $text) =~ s/(\d+)/$1 * 2/ge;
print substr($changed, 0, 60), "\n";
printf "%.17g %e %x %s\n", 1 / 3, 12345.678, 255, 2**0.5;
print unpack("H*", pack("d>nN/a*", 3.14, 513, "text")), "\n";
my $pid = open my $pipe, "-|";
if (!$pid) { print "from the child\n"; exit 3 }
print <$pipe>;
close $pipe;
print "status ", $? >> 8, "\n";
local $SIG{ALRM} = sub { die "alarm\n" };
eval { alarm 1; select undef, undef, undef, 0.01 while 1 };
print "caught $@";
my @sorted = sort { $a <=> $b } map { ($_ * 7919) % 10007 } 1 .. 20000;
print "$sorted[0] $sorted[-1] $sorted[777]\n";
print `echo backticks`;
