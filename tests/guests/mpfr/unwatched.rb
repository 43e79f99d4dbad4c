# Ruby's own functions make text of floats, and its library has no names for them.
x = 0.1 * 3
puts x, format("%.3f", Math.sqrt(x))
