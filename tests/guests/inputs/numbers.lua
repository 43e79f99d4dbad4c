-- The same by tonumber and file:read, in Lua.
local a, w = tonumber(arg[1]), tonumber(os.getenv("SG_W"))
local s, t = io.read("n", "n")
local total = a * a + w * s * t
local file = io.open(arg[2])
file:read("l")
local rows = file:read("n")
for i = 1, rows do
    local p, q = file:read("n", "n")
    total = total + i * p * p * q
end
print(string.format("%.14g", total))
