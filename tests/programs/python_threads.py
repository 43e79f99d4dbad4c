# Python's threading, queue, concurrent.futures, multiprocessing, asyncio and signals.
#@ run system: /usr/bin/python3 {file}
#@ run path: python3 {file}
import asyncio, concurrent.futures, multiprocessing, os, queue, signal, threading, time

def worker(inbox, outbox):
    while (n := inbox.get()) is not None:
        outbox.put(sum(i * i for i in range(n)))

def square(x):
    return x * x

async def tick(n):
    await asyncio.sleep(0.001 * n)
    return n

async def gather():
    return await asyncio.gather(*(tick(n) for n in range(10)))

if __name__ == "__main__":
    inbox, outbox = queue.Queue(), queue.Queue()
    threads = [threading.Thread(target=worker, args=(inbox, outbox)) for _ in range(8)]
    [t.start() for t in threads]
    [inbox.put(n) for n in range(200)]
    [inbox.put(None) for _ in threads]
    [t.join() for t in threads]
    print(sum(outbox.get() for _ in range(200)))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(sum(pool.map(square, range(1000))))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(square, range(1000))))
    print(asyncio.run(gather()))
    seen = []
    signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    while len(seen) < 5:
        time.sleep(0.001)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(seen[:5])
    pid = os.fork()
    if pid == 0:
        os._exit(9)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    local = threading.local()
    local.x = 1
    event = threading.Event()
    timer = threading.Timer(0.01, event.set)
    timer.start()
    print(event.wait(10), hasattr(local, "y"))
