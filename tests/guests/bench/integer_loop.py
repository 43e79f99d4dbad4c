# A loop of integers, dictionaries and strings in CPython: no floats.
import sys

def run(rounds):
    table, total = {}, 0
    for i in range(rounds):
        key = str(i % 1000)
        table[key] = table.get(key, 0) + i
        total ^= table[key]
    return total

print(run(int(sys.argv[1])))
