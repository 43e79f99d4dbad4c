// Part of code/dlopen: C++ with static objects, an exception and thread-local storage.
#include <stdexcept>
#include <string>

static std::string text = "three";
static thread_local int local = 40;
extern "C" int compute(int x)
{
    try {
        if (x > 2) throw std::runtime_error(text);
    } catch (const std::exception &e) {
        return local++ + e.what()[0];
    }
    return -x;
}
