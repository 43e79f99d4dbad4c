# Tcl finds the shortest digits of a number with floats and integers of its own.
set sum 0.0
foreach x {1.1 2.3 3.7} { set sum [expr {$sum + $x}]; puts [expr {$x * 2}] }
puts $sum
puts [format %.3f [expr {sqrt($sum)}]]
