// Threads of C++ that compute parts of a sum of products, and hand them over through a mutex and a future.
#include "read.h"
#include <cmath>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

int main()
{
    double x[8], total = 0;
    if (read_all(x, 8) != 8) return 1;
    double part[4];
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] { part[t] = std::sin(x[2 * t]) * x[2 * t + 1] + x[t] * x[7 - t]; });
    for (auto &thread : threads) thread.join();
    std::mutex lock;
    auto add = [&](int t) {
        std::lock_guard<std::mutex> held(lock);
        total = total + part[t];
    };
    auto one = std::async(std::launch::async, add, 0);
    one.get();
    for (int t = 1; t < 4; t++) std::thread(add, t).join();
    auto root = std::async(std::launch::async, [&] { return std::sqrt(1 + total * total); });
    std::printf("%.17g %.17g\n", total, root.get());
}
