// ld.so run as a program loads the program given to it.
#include "guest.h"

int main(int argc, char **argv)
{
    if (argc == 1) {
        execl("/lib64/ld-linux-x86-64.so.2", "ld.so", "--argv0", "renamed", argv[0], "again", NULL);
        CHECK(!"exec");
    }
    printf("%s %s\n", argv[0], argv[1]);
    return 0;
}
