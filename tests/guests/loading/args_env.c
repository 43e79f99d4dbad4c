// Arguments and environment arrive complete, in order, and as the program was called.
//@ link: pie nopie static static-pie
//@ args: one two=2 -- --shadow=none *
//@ env: EMPTY=
//@ env: ODD=a=b=c
#include "guest.h"

extern char **environ;

int main(int argc, char **argv, char **envp)
{
    const char *slash = strrchr(argv[0], '/');
    printf("%d arguments, called %s\n", argc, slash ? slash + 1 : argv[0]);
    CHECK(argv[0][0] == '/');
    for (int i = 1; i < argc; i++) printf("[%s]\n", argv[i]);
    CHECK(argv[argc] == NULL);
    CHECK(envp == environ && envp == argv + argc + 1);
    for (int i = 0; envp[i]; i++)
        if (strncmp(envp[i], "GUEST_DIR=", 10)) printf("%s\n", envp[i]);
    CHECK(!strcmp(getenv("EMPTY"), ""));
    CHECK(!strcmp(program_invocation_short_name, slash + 1));
    return 0;
}
