// A daemon: double fork, a new session, all descriptors closed, working on while the parent is gone.
#include "guest.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void work(int ready)
{
    CHECK(setsid() == getpid());
    if (fork()) _exit(0);
    CHECK(getsid(0) != getpid());
    umask(0);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < (int)limit.rlim_cur && i < 30000; i++)
        if (i != ready) close(i);
    open("/dev/null", O_RDWR);
    CHECK(dup(0) == 1 && dup(0) == 2);
    FILE *log = fopen("log", "w");
    CHECK(log);
    double sum = 0;
    for (int i = 1; i < 100000; i++) sum += 1.0 / i;
    fprintf(log, "%.9f\n", sum);
    fclose(log);
    CHECK(write(ready, "x", 1) == 1);
    _exit(0);
}

int main(void)
{
    int pipes[2];
    alarm(50);
    CHECK(pipe(pipes) == 0);
    pid_t pid = fork();
    if (!pid) work(pipes[1]);
    close(pipes[1]);
    int status;
    char byte;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(read(pipes[0], &byte, 1) == 1);
    CHECK(read(pipes[0], &byte, 1) == 0); // and gone
    puts("daemon done");
    return 0;
}
