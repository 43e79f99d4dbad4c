# The same by Nim's parseFloat.
import os, strutils

let a = parseFloat(paramStr(paramCount() - 1))
let w = parseFloat(getEnv("SG_W"))
let given = stdin.readLine().splitWhitespace()
var total = a * a + w * parseFloat(given[0]) * parseFloat(given[1])
let lines = readFile(paramStr(paramCount())).splitLines()
for i in 1 .. parseInt(lines[1]):
  let row = lines[1 + i].splitWhitespace()
  let (p, q) = (parseFloat(row[0]), parseFloat(row[1]))
  total += float(i) * p * p * q
echo total
