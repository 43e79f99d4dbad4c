// C++20 coroutines: generators resumed through stored code addresses.
//@ cc: gcc
#include <coroutine>
#include <cstdio>

struct Generator {
    struct promise_type {
        long current = 0;
        Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(long value)
        {
            current = value;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { throw; }
    };
    std::coroutine_handle<promise_type> handle;
    ~Generator() { handle.destroy(); }
};

static Generator fibonacci(int count)
{
    long a = 0, b = 1;
    for (int i = 0; i < count; i++) {
        co_yield a;
        long next = (a + b) % 1000000007;
        a = b;
        b = next;
    }
    throw "exhausted";
}

int main()
{
    Generator numbers = fibonacci(5000);
    long last = 0;
    try {
        for (;;) {
            numbers.handle.resume();
            last = numbers.handle.promise().current;
        }
    } catch (const char *why) {
        std::printf("%ld %s\n", last, why);
    }
}
