// sgdt, sidt, sldt, str and smsw: whatever the kernel lets a program see, and selectors of the segment registers.
//@ needs: umip
#include "guest.h"

int main(void)
{
    unsigned char table[10];
    unsigned long word = 0;
    // With UMIP the kernel answers in the CPU's place, and always the same.
    __asm__ volatile("sgdt %0" : "=m"(table));
    printf("gdt %016lx\n", hash_bytes(HASH_START, table, 10));
    __asm__ volatile("sidt %0" : "=m"(table));
    printf("idt %016lx\n", hash_bytes(HASH_START, table, 10));
    __asm__ volatile("smsw %0" : "=r"(word));
    printf("msw %lx\n", word & 0xffff);
    __asm__ volatile("mov %%cs, %0" : "=r"(word));
    printf("cs %lx ", word);
    __asm__ volatile("mov %%ss, %0" : "=r"(word));
    printf("ss %lx ", word);
    __asm__ volatile("mov %%fs, %0" : "=r"(word));
    printf("fs %lx ", word);
    __asm__ volatile("mov %%gs, %0" : "=r"(word));
    printf("gs %lx\n", word);
    __asm__ volatile("lsl %1, %0\n jz 1f\n mov $0, %0\n 1:" : "=r"(word) : "r"(0x33ul) : "cc");
    printf("limit of cs %lx\n", word & 0xffffffff);
    return 0;
}
