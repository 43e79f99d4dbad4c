# The same by to_f and Float, in Ruby.
a, w = ARGV[0].to_f, Float(ENV["SG_W"])
s, t = $stdin.read.split.map(&:to_f)
total = a * a + w * s * t
rows = File.readlines(ARGV[1]).drop(2)
rows.each_with_index do |line, index|
  p, q = line.split.map(&:to_f)
  total += (index + 1) * p * p * q
end
puts total
