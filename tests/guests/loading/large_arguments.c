// Thousands of arguments and an argument of 100 kB survive an exec of the program by itself.
#include "guest.h"

extern char **environ;

int main(int argc, char **argv)
{
    if (argc == 1) {
        static char *many[5003];
        char *huge = (char *)malloc(100001);
        memset(huge, 'x', 100000);
        huge[100000] = 0;
        many[0] = argv[0];
        many[1] = huge;
        for (int i = 2; i < 5002; i++) {
            many[i] = (char *)malloc(20);
            snprintf(many[i], 20, "argument %d", i);
        }
        execv("/proc/self/exe", many);
        CHECK(!"exec");
    }
    uint64_t hash = HASH_START;
    for (int i = 1; i < argc; i++) hash = hash_bytes(hash, argv[i], strlen(argv[i]) + 1);
    printf("%d %zu %016lx\n", argc, strlen(argv[1]), hash);
    return 0;
}
