// Constructors, destructors and atexit functions run in their order; constructors get argc, argv and the environment.
//@ link: pie nopie static static-pie
//@ args: x
#include "guest.h"

extern char **environ;

static void early(int argc, char **argv, char **envp)
{
    (void)envp;
    char text[] = "preinit with 0 arguments\n";
    text[13] = (char)('0' + argc);
    CHECK(write(1, text, sizeof text - 1) == sizeof text - 1);
    CHECK(argv[argc] == NULL);
}
__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **, char **) = early;

__attribute__((constructor(200))) static void second(void) { puts("second"); }
__attribute__((constructor(101))) static void first(int argc, char **argv, char **envp)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("first, %d, %s, %d\n", argc, argv[1], envp == environ);
}
__attribute__((destructor(101))) static void last(void) { puts("last"); }
__attribute__((destructor(200))) static void before_last(void) { puts("before last"); }

static void at_exit_1(void) { puts("atexit 1"); }
static void at_exit_2(void) { puts("atexit 2"); }
static void on_exit_3(int status, void *data) { printf("on_exit %d %s\n", status, (char *)data); }

int main(void)
{
    atexit(at_exit_1);
    atexit(at_exit_2);
    on_exit(on_exit_3, "data");
    puts("main");
    exit(0);
}
