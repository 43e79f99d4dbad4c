// Sums to which threads of C++ add: under std::mutex, by compare-and-exchange, by futures and by a stack without locks; and through
// memory that each of them maps and gives up again.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <future>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <vector>

constexpr int N = 8, THREADS = 3, TERMS = 600;
double x[N] = {0.1, 0.2, 0.3, 0.7, 1.1, 1.3, 1.7, 1.9};
static double sum;

template <class Work>
static void in_threads(Work work)
{
    std::vector<std::thread> threads;
    for (int me = 0; me < THREADS; me++)
        threads.emplace_back([=] { for (int i = me; i < TERMS; i += THREADS) work(i); });
    for (auto &thread : threads) thread.join();
}

static void under_a_mutex()
{
    static std::mutex mutex;
    in_threads([](int i) { std::lock_guard<std::mutex> guard(mutex); sum += x[i % N]; });
}

static void by_exchange()
{
    static std::atomic<double> total{0};
    in_threads([](int i) {
        double old = total.load();
        while (!total.compare_exchange_weak(old, old + x[i % N])) {}
    });
    sum = total;
}

static void by_futures()
{
    auto part = [](int me) { double part = 0; for (int i = me; i < TERMS; i += THREADS) part += x[i % N]; return part; };
    std::vector<std::future<double>> parts;
    for (int me = 0; me < THREADS; me++) parts.push_back(std::async(std::launch::async, part, me));
    for (auto &future : parts) sum += future.get();
}

struct Node { double value; Node *next; };
static std::atomic<Node *> top;

static void by_a_stack()
{
    in_threads([](int i) {
        Node *node = new Node{x[i % N] + x[i % N] / 3, nullptr};
        node->next = top.load(std::memory_order_relaxed);
        while (!top.compare_exchange_weak(node->next, node, std::memory_order_release, std::memory_order_relaxed)) {}
    });
    for (Node *node = top; node; node = node->next) sum += node->value * 0.75;
}

// What one gives up the next one gets.
static void through_mappings()
{
    constexpr size_t BYTES = 1 << 16;
    double parts[THREADS] = {};
    in_threads([&parts](int i) {
        void *memory = mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        volatile double *values = static_cast<double *>(memory);
        for (size_t k = 0; k < BYTES / sizeof *values; k += 512) values[k] = x[i % N] / 16;
        for (size_t k = 0; k < BYTES / sizeof *values; k += 512) parts[i % THREADS] += values[k];
        munmap(memory, BYTES);
    });
    for (double part : parts) sum += part;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (!std::strcmp(way, "std-mutex")) under_a_mutex();
    if (!std::strcmp(way, "exchange")) by_exchange();
    if (!std::strcmp(way, "futures")) by_futures();
    if (!std::strcmp(way, "stack")) by_a_stack();
    if (!std::strcmp(way, "mappings")) through_mappings();
    std::printf("%.9g\n", sum);
}
