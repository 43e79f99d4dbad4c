// posix_spawn: attributes, file actions, PATH look-up, and the errno of a spawn that fails.
#include "guest.h"
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static void run(const char *file, char **argv, posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int expected)
{
    pid_t pid;
    int status;
    CHECK(posix_spawnp(&pid, file, actions, attributes, argv, environ) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        sigset_t mask;
        struct sigaction action;
        sigprocmask(SIG_SETMASK, NULL, &mask);
        sigaction(SIGUSR2, NULL, &action);
        printf("child: group %d, masked %d, ignored %d\n", getpgrp() == getpid(), sigismember(&mask, SIGUSR1),
               action.sa_handler == SIG_IGN);
        return 5;
    }
    pid_t pid = -7;
    char *missing[] = {(char *)"missing", NULL}, *self[] = {argv[0], (char *)"x", NULL};
    CHECK(posix_spawn(&pid, "/nonexistent/file", NULL, NULL, missing, environ) == ENOENT);
    CHECK(posix_spawn(&pid, "/etc/passwd", NULL, NULL, missing, environ) == EACCES);
    CHECK(posix_spawnp(&pid, "no-such-program-anywhere", NULL, NULL, missing, environ) == ENOENT);
    CHECK_ERRNO(waitpid(-1, NULL, WNOHANG), ECHILD);
    char *echo[] = {(char *)"echo", (char *)"by echo", NULL};
    run("echo", echo, NULL, NULL, 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "output", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    signal(SIGUSR2, SIG_IGN);
    posix_spawnattr_setsigmask(&attributes, &mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    run(argv[0], self, &actions, &attributes, 5);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGUSR2);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    run(argv[0], self, NULL, &attributes, 5);
    fflush(stdout);
    printf("%d\n", WEXITSTATUS(system("exit 6")));
    FILE *pipe = popen("echo through popen; exit 3", "r");
    char line[100];
    CHECK(fgets(line, sizeof line, pipe));
    printf("%s%d\n", line, WEXITSTATUS(pclose(pipe)));
    return 0;
}
