// The same by C++'s streams: manipulators, widths, fills.
#include <iomanip>
#include <iostream>
#include <sstream>

static volatile double large[] = { 1e16, 3e22, 1e16, 0x1p60 };
static volatile double small[] = { 1.2345, -9.5, 999.25, 0.0009765625 };
static volatile float parts[] = { 1.2345f, -9.5f, 999.25f, 0.0009765625f };

template <class T> static void both(T wrong, T right)
{
    std::ios state(nullptr);
    state.copyfmt(std::cout);
    const std::streamsize width = std::cout.width(0);
    std::cout << "w=[" << std::setw(width) << wrong << "] r={" << std::setw(width) << right << "}\n";
    std::cout.copyfmt(state);
}

int main()
{
    for (int i = 0; i < 4; i++) {
        double wrong = (large[i] + small[i]) - large[i], right = small[i];
        float single = large[i], part = parts[i], lost = (single + part) - single;
        long double big = large[i] * 4096.0L, wide = (big + small[i]) - big;
        for (auto style : { std::ios::fmtflags(), std::ios::fixed, std::ios::scientific, std::ios::fixed | std::ios::scientific })
            for (int precision : { -1, 0, 3, 17 })
                for (int flags = 0; flags < 8; flags++) {
                    std::cout.flags(style | (flags & 1 ? std::ios::showpos : std::ios::dec) |
                        (flags & 2 ? std::ios::showpoint : std::ios::dec) | (flags & 4 ? std::ios::uppercase : std::ios::dec));
                    std::cout.precision(precision);
                    std::cout.width(flags);
                    both(wrong, right);
                    both(lost, part);
                    both(wide, (long double)right);
                }
        std::cout.flags(std::ios::fixed);
        std::cout.precision(2);
        for (auto adjust : { std::ios::left, std::ios::right, std::ios::internal }) {
            std::cout.setf(adjust, std::ios::adjustfield);
            std::cout << std::setfill('*');
            std::cout.width(14);
            both(wrong, right);
            std::cout << std::setfill('0');
            std::cout.width(14);
            both(wrong, right);
            std::cout << std::setfill(' ');
        }
        std::ostringstream text;
        text << std::setprecision(5) << "w=[" << wrong << "] r={" << right << "}";
        std::cout << text.str() << '\n';
    }
}
