// BMI1, BMI2, ADX, MOVBE, LZCNT, POPCNT: scalar instructions in VEX and legacy encodings.
//@ flags: -mbmi -mbmi2 -madx -mmovbe -mlzcnt -mpopcnt
//@ needs: bmi1 bmi2 adx movbe abm popcnt
#include "vectors.h"

#define SCALAR(name, expression)                                                      \
    do {                                                                              \
        uint64_t hash_ = HASH_START;                                                  \
        for (int i = 0; i < SAMPLES; i++) {                                           \
            uint64_t a, b;                                                            \
            memcpy(&a, samples[0][i], 8);                                             \
            memcpy(&b, samples[1][i], 8);                                             \
            uint64_t r = (uint64_t)(expression);                                      \
            hash_ = hash_bytes(hash_, &r, sizeof r);                                  \
        }                                                                             \
        printf("%-10s %016lx\n", name, hash_);                                        \
    } while (0)

static uint64_t multiply_extended(uint64_t a, uint64_t b)
{
    unsigned long long high, low = _mulx_u64(a, b, &high);
    unsigned long long sum, top;
    unsigned char carry = _addcarry_u64(0, low, a, &sum);
    carry = _addcarryx_u64(carry, high, b, &top);
    carry = _subborrow_u64(carry, top, sum, &top);
    return sum ^ top ^ carry;
}

static uint64_t two_carry_chains(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    __asm__("xor %%eax, %%eax\n"
            "adcx %2, %0\n adox %3, %1\n adcx %3, %0\n adox %2, %1\n"
            "adcx %0, %1\n adox %1, %0\n"
            : "+r"(x), "+r"(y) : "r"(a), "r"(b) : "rax", "cc");
    return x ^ (y << 1);
}

static uint64_t swapped_load(const void *from)
{
    uint64_t wide;
    uint32_t narrow;
    uint16_t half;
    __asm__("movbe %1, %0" : "=r"(wide) : "m"(*(const uint64_t *)from));
    __asm__("movbe %1, %0" : "=r"(narrow) : "m"(*(const uint32_t *)from));
    __asm__("movbe %1, %0" : "=r"(half) : "m"(*(const uint16_t *)from));
    return wide ^ narrow ^ half;
}

int main(void)
{
    make_samples();
    SCALAR("andn", ~a & b);
    SCALAR("bextr", _bextr_u64(a, b & 63, b >> 8 & 63));
    SCALAR("blsi", _blsi_u64(a) ^ _blsr_u64(b) ^ _blsmsk_u64(a ^ b));
    SCALAR("tzcnt", _tzcnt_u64(a & b & 0xff00) + _tzcnt_u32((uint32_t)b));
    SCALAR("bzhi", _bzhi_u64(a, b & 0xff));
    SCALAR("pdep", _pdep_u64(a, b));
    SCALAR("pext", _pext_u64(a, b) ^ _pext_u32((uint32_t)b, (uint32_t)a));
    SCALAR("shifts", (a << (b & 63)) ^ (a >> (b & 63)) ^ (uint64_t)((int64_t)b >> (a & 63)));
    SCALAR("rorx", (a >> 13 | a << 51) ^ (b >> 5 | b << 59));
    SCALAR("lzcnt", _lzcnt_u64(a >> (b & 63)) + _lzcnt_u32((uint32_t)b));
    SCALAR("popcnt", __builtin_popcountll(a) * __builtin_popcount((unsigned)b));
    SCALAR("mulx", multiply_extended(a, b));
    SCALAR("adcx", two_carry_chains(a, b));
    SCALAR("movbe", swapped_load(&a) ^ swapped_load(&b));
    return 0;
}
