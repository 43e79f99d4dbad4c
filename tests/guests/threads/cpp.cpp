// C++ threads, futures, promises with exceptions, call_once, thread_local objects, condition variables, latches.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <latch>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

static std::atomic<int> constructed, destroyed;
struct Counted {
    std::vector<int> data = std::vector<int>(100, 1);
    Counted() { constructed++; }
    ~Counted() { destroyed++; }
};
thread_local Counted counted;
static std::once_flag once;

int main()
{
    std::atomic<long> total{0};
    int initialised = 0;
    std::latch ready(8);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back([&, i] {
            std::call_once(once, [&] { initialised++; });
            ready.arrive_and_wait();
            total += std::accumulate(counted.data.begin(), counted.data.end(), i);
        });
    for (auto &thread : threads) thread.join();
    std::printf("%ld %d %d %d\n", total.load(), initialised, constructed.load(), destroyed.load());

    auto sum = std::async(std::launch::async, [] {
        double s = 0;
        for (int i = 1; i < 10000; i++) s += 1.0 / i;
        return s;
    });
    auto fails = std::async(std::launch::async, []() -> int { throw std::runtime_error("from a thread"); });
    std::printf("%.15g\n", sum.get());
    try {
        fails.get();
    } catch (const std::exception &e) {
        std::puts(e.what());
    }
    // Exceptions thrown and caught in several threads at once.
    std::atomic<int> caught{0};
    threads.clear();
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < 300; k++) try {
                    throw k;
                } catch (int) {
                    caught++;
                }
        });
    for (auto &thread : threads) thread.join();
    std::printf("%d\n", caught.load());
}
