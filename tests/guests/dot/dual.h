/* Forward-mode differentiation by operator overloading, the usual way, for comparison with what the tool computes. */
#ifndef DUAL_H
#define DUAL_H

#include <cmath>

struct Dual {
    double value = 0, dot = 0;
    Dual() = default;
    Dual(double v, double d = 0) : value(v), dot(d) {}
};

inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.dot + b.dot}; }
inline Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.dot - b.dot}; }
inline Dual operator-(Dual a) { return {-a.value, -a.dot}; }
inline Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.dot * b.value + a.value * b.dot}; }
inline Dual operator/(Dual a, Dual b) { return {a.value / b.value, (a.dot - a.value / b.value * b.dot) / b.value}; }
inline Dual &operator+=(Dual &a, Dual b) { return a = a + b; }
inline bool operator>(Dual a, Dual b) { return a.value > b.value; }
inline Dual sqrt(Dual a) { return {std::sqrt(a.value), a.dot / (2 * std::sqrt(a.value))}; }

#endif
