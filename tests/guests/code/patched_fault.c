// A function whose entry one thread patches while another faults behind it: the fault stands where the processor met it.
#define _GNU_SOURCE
#include "jit.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>

#define FAULTS 3000
#define OTHER 32

/* nopl, or jmp to OTHER; at both: mov $1 or $2, %eax; mov (%rdi), %ecx; ret. The load stands at another offset in each. */
static const unsigned char straight[8] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0xb8, 1, 0};
static const unsigned char diverted[8] = {0xe9, OTHER - 5, 0, 0, 0, 0xb8, 1, 0};
static const unsigned char rest[] = {0, 0, 0x8b, 0x0f, 0xc3};
static const unsigned char other[] = {0x90, 0x90, 0xb8, 2, 0, 0, 0, 0x8b, 0x0f, 0xc3};

static unsigned char *code;
static long faults[3];
static atomic_int ended;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    long path = registers[REG_RAX], expected = (long)code + (path == 1 ? 10 : OTHER + 7);
    (void)signal;
    CHECK(info->si_addr == NULL);
    CHECK(path == 1 || path == 2);
    CHECK(registers[REG_RIP] == expected);
    faults[path]++;
    registers[REG_RIP] += 2;
}

static void *patch(void *unused)
{
    uint64_t image[2];
    memcpy(&image[0], straight, 8);
    memcpy(&image[1], diverted, 8);
    for (long i = 0; !atomic_load(&ended); i++) {
        atomic_store((_Atomic uint64_t *)(void *)code, image[i & 1]);
        for (volatile int wait = 0; wait < (i & 1 ? 200 : 500); wait++) continue;
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    code = pages(4096, RWX);
    memcpy(code, straight, 8);
    memcpy(code + 8, rest, sizeof rest);
    memcpy(code + OTHER, other, sizeof other);
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, patch, NULL) == 0);
    for (int i = 0; i < FAULTS; i++) call(code, 0);
    atomic_store(&ended, 1);
    CHECK(pthread_join(thread, NULL) == 0);
    printf("%ld\n", faults[1] + faults[2]);
    return 0;
}
