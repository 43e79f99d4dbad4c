// The same by std::to_chars.
#include <charconv>
#include <cstdio>
#include <initializer_list>

static volatile double large[] = { 1e16, 3e22, 1e16, 0x1p60, 1e30 };
static volatile double small[] = { 1.2345, -9.5, 999.9996, 0.0009765625, 123456789012345678901.0 };
static volatile float parts[] = { 1.2345f, -9.5f, 999.9996f, 0.0009765625f, 123456789012345678901.0f };

template <class T, class... Format> static void both(T wrong, T right, Format... format)
{
    char text[2][200];
    *std::to_chars(text[0], text[0] + 199, wrong, format...).ptr = 0;
    *std::to_chars(text[1], text[1] + 199, right, format...).ptr = 0;
    printf("w=[%s] r={%s}\n", text[0], text[1]);
}

int main()
{
    for (int i = 0; i < 5; i++) {
        double wrong = (large[i] + small[i]) - large[i], right = small[i];
        float single = large[i], part = parts[i], lost = (single + part) - single;
        both(wrong, right);
        both(lost, part);
        both(wrong, right, std::chars_format::scientific);
        for (auto how : { std::chars_format::scientific, std::chars_format::fixed, std::chars_format::general })
            for (int precision : { 0, 3, 20 }) {
                both(wrong, right, how, precision);
                both(lost, part, how, precision);
            }
    }
}
