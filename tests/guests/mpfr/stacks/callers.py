# Prints where Python itself says that it is when a difference cancels: lines of the script, from the innermost outwards.
import math
import traceback


def here():
    frames = traceback.extract_stack()[:-1]
    return [f"{frame.name}:{frame.lineno}" for frame in reversed(frames)]


def difference(x):
    print("difference", *here()); return math.sqrt(x + 1) - math.sqrt(x)


def größe(x):
    total = 0.0
    for k in range(3):
        # Far from the first line, for what the table of lines calls long.



        total += difference(x * (k + 1))
    return total


class Caller:
    def 呼ぶ(self, x):
        return (
            größe(x)
            + 1
        )


def generator():
    yield Caller().呼ぶ(1e12)


print("printed", *here()); print(sum([value for value in generator()]))
