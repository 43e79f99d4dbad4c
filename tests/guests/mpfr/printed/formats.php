<?php
// Wrong floats, and the numbers that they stand for, in the notations of PHP.
$large = [1e16, 3e22, 1e16, 2.0**60, 1e40, 1e12];
$small = [1.2345, -9.5, 999.9996, 0.0009765625, 1.5e20, 1e-7];
foreach ($large as $at => $big) {
    $right = $small[$at];
    $wrong = ($big + $right) - $big;
    echo "w=[", $wrong, "] r={", $right, "}\n";
    echo "w=[" . json_encode($wrong) . "] r={" . json_encode($right) . "}\n";
    echo "w=[" . var_export($wrong, true) . "] r={" . var_export($right, true) . "}\n";
    foreach (["%.3f", "%.0f", "%.2e", "%.4E"] as $format) {
        printf("w=[$format] r={" . $format . "}\n", $wrong, $right);
    }
}
