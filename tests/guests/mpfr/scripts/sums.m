% Octave decides how many digits to print, and OpenBLAS which number is the largest of a column.
x = [1.1 2.3 3.7];
disp(sum(x))
y = x * 2
printf("%g %.3f\n", mean(x), std(x));
b = [4 1; 1 3] \ [1; 2]
