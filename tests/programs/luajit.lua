-- luajit: hot loops for its trace compiler, with and without it, closures, coroutines, FFI callbacks into libc.
--@ needs: luajit
--@ run jit: luajit {file}
--@ run interpreter: luajit -joff {file}
--@ run hot: luajit -Ohotloop=2 -Ohotexit=2 {file}
local function mandelbrot(n)
  local count = 0
  for y = 0, n - 1 do
    for x = 0, n - 1 do
      local cr, ci, zr, zi = 2 * x / n - 1.5, 2 * y / n - 1, 0, 0
      for i = 1, 50 do
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        if zr * zr + zi * zi > 4 then break end
        if i == 50 then count = count + 1 end
      end
    end
  end
  return count
end
print(mandelbrot(200))
local s = 0.0
for i = 1, 3000000 do s = s + 1 / i end
print(string.format("%.17g", s))
local t = {}
for i = 1, 50000 do t[i] = (i * 7919) % 10007 end
table.sort(t)
print(t[1], t[25000], #t)
local co = coroutine.wrap(function() for i = 1, 1000 do coroutine.yield(i * i) end return "end" end)
local last
for _ = 1, 1001 do last = co() end
print(last, ("hello world"):gsub("o", "0"), pcall(error, "message"))
local ffi = require("ffi")
ffi.cdef [[ typedef int (*compare)(const int *, const int *); void qsort(int *, size_t, size_t, compare); double cos(double); ]]
local a = ffi.new("int[1000]")
for i = 0, 999 do a[i] = (i * 7919) % 1009 end
ffi.C.qsort(a, 1000, 4, ffi.cast("compare", function(x, y) return x[0] - y[0] end))
local sum = 0
for i = 1, 200000 do sum = sum + ffi.C.cos(i) end
print(a[0], a[500], a[999], string.format("%.15g", sum))
