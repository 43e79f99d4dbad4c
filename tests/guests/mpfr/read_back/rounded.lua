-- As rounded.c.
local sum = 0
for i = 1, 10 do sum = sum + 0.1 end
print(tonumber(string.format("%.2f", sum * 0.015)) * 1.5)
