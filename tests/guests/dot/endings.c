// Ways for a program to end: the first argument says which. Before that, it prints a float that was computed.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

double x = 3;

static void *leave(void *unused)
{
    (void)unused;
    exit(7);
}

/* Floats, in memory and in atomic operations, until the process ends. */
static void *compute(void *unused)
{
    (void)unused;
    static double sums[8];
    for (int i = 0;; i = (i + 1) & 7) {
        double old = sums[i], next = old * 0.5 + x;
        __atomic_compare_exchange(&sums[i], &old, &next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
}

static int children(int count)
{
    pthread_t thread;
    for (int i = 0; i < 2; i++) pthread_create(&thread, NULL, compute, NULL);
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            printf("child %g\n", x * (i + 2));
            exit(i);
        }
        int status;
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != i) return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("%g\n", x * x);
    if (!strcmp(how, "fault")) *(volatile int *)16 = 1;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "terminated")) raise(SIGTERM);
    if (!strcmp(how, "killed-thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, compute, NULL);
        kill(getpid(), SIGTERM);
        pause();
    }
    if (!strcmp(how, "thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, compute, NULL);
        pthread_create(&thread, NULL, leave, NULL);
        for (;;) pause();
    }
    if (!strcmp(how, "exec")) execl(argv[0], argv[0], "replaced", (char *)0);
    if (!strcmp(how, "fork")) return children(30);
    if (!strcmp(how, "vfork")) {
        /* The child ends in its parent's memory. */
        pid_t child = vfork();
        if (child == 0) {
            execl("/no/such/program", "x", (char *)0);
            _exit(4);
        }
        int status;
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 4) return 1;
    }
    if (!strcmp(how, "memory")) {
        /* What cannot be had is refused; the program goes on. */
        if (malloc((size_t)1 << 46)) return 1;
    }
    return 5;
}
