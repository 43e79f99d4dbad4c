# Python's json, re, decimal, fractions, random, hashlib, struct, collections, itertools, datetime, exceptions.
#@ run system: /usr/bin/python3 {file}
#@ run path: python3 {file}
import collections, datetime, decimal, fractions, hashlib, itertools, json, math, random, re, statistics, struct, zlib

data = {"list": [i / 7 for i in range(200)], "text": "größe ☺", "nested": [{"a": None, "b": True}] * 3}
text = json.dumps(data, sort_keys=True)
assert json.loads(text) == data
print(len(text), hashlib.sha256(text.encode()).hexdigest())
words = re.findall(r"\b(\w)(\w+)\b", "the quick brown fox jumps over the lazy dog " * 50)
print(collections.Counter(w[0] for w in words).most_common(3))
decimal.getcontext().prec = 60
print(decimal.Decimal(2).sqrt(), decimal.Decimal(1) / 7)
print(sum((fractions.Fraction(1, n) for n in range(1, 200)), fractions.Fraction()))
random.seed(42)
numbers = [random.gauss(0, 1) for _ in range(2000)]
print(statistics.fmean(numbers), statistics.stdev(numbers), math.fsum(numbers))
print(struct.pack("<dfqh", 1.5, 2.5, -3, 4).hex(), zlib.crc32(text.encode()), len(zlib.compress(text.encode())))
print(sum(1 for p in itertools.permutations(range(6)) if p[0] < p[-1]))
print(datetime.date(2024, 2, 29) + datetime.timedelta(days=366))
try:
    eval("1 +")
except SyntaxError as e:
    print(type(e).__name__, e.lineno)
def recurse(n):
    return 0 if n == 0 else 1 + recurse(n - 1)
print(recurse(900))
try:
    recurse(10 ** 6)
except RecursionError as e:
    print(e)
print([math.sin(x / 3) ** 2 + math.exp(-x) for x in range(5)], 3.0 .hex(), 10 ** 50 // 3, pow(3, 10 ** 5, 10 ** 9 + 7))
print(sum(x * x for x in range(20000)), max("abcdef"), sorted({3: "c", 1: "a", 2: "b"}.items(), reverse=True))
