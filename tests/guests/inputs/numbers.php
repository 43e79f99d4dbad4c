<?php
// The same by casts and by arithmetic with texts.
[$a, $w] = [(float) $argv[$argc - 2], floatval(getenv("SG_W"))];
[$s, $t] = array_map('floatval', explode(" ", trim(fgets(fopen("php://stdin", "r")))));
$total = $a * $a + $w * $s * $t;
$file = fopen($argv[$argc - 1], "r");
fgets($file);
$rows = (int) fgets($file);
for ($i = 0; $i < $rows; $i++) {
    [$p, $q] = array_map(fn($text) => 1 * $text, explode(" ", trim(fgets($file))));
    $total += ($i + 1) * $p * $p * $q;
}
printf("%.17g\n", $total);
