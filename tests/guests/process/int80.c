// int $0x80 in 64-bit code, which takes 32-bit system call numbers, if the kernel has it.
#include "guest.h"
#include <signal.h>
#include <sys/mman.h>

static void handler(int signal)
{
    (void)signal;
    puts("not on this kernel");
    exit(0);
}

static long compat(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
    return result;
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    signal(SIGSEGV, handler);
    long pid = compat(20, 0, 0, 0);
    if (pid == -ENOSYS) handler(0);
    CHECK(pid == getpid());
    char *low = (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    strcpy(low, "written\n");
    CHECK(compat(4, 1, (long)low, 8) == 8);
    CHECK(compat(9999, 0, 0, 0) == -ENOSYS);
    return 0;
}
