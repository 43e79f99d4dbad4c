<?php
// As rounded.c.
$sum = 0.0;
for ($i = 0; $i < 10; $i++) $sum += 0.1;
echo (float) sprintf("%.2f", $sum * 0.015) * 1.5, "\n";
