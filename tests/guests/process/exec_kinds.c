// exec in all its forms: by path, through PATH, by descriptor, relative to a directory, scripts with arguments.
#include "guest.h"
#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;
static char *self;

static void script(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

// Each kind in the forked child of its own, which stays what this program is.
static int kind(int which)
{
    char *args[] = {(char *)"argv0", (char *)"a", (char *)"b c", NULL};
    char directory[4096];
    strcpy(directory, self);
    int fd = open(self, O_RDONLY), dir = open(dirname(directory), O_RDONLY | O_DIRECTORY);
    switch (which) {
    case 0: return execv(self, args);
    case 1: return execvp("echo", args);
    case 2: return fexecve(fd, args, environ);
    case 3: return (int)syscall(SYS_execveat, dir, strrchr(self, '/') + 1, args, environ, 0);
    case 4: return (int)syscall(SYS_execveat, fd, "", args, environ, AT_EMPTY_PATH);
    case 5: return execv("./plain", args);
    case 6: return execv("./with-argument", args);
    case 7: return execv("./nested", args);
    case 8: return execvp("no-magic", args);
    case 9: return execlp("./plain", "renamed", "last", NULL);
    case 10: return execv("/proc/self/exe", args);
    default: return 0;
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        printf("%s:", strcmp(argv[0], "argv0") ? basename(argv[0]) : argv[0]);
        for (int i = 1; i < argc; i++) printf(" [%s]", argv[i][0] == '/' ? basename(argv[i]) : argv[i]);
        puts("");
        return 0;
    }
    char text[8192], path[4200];
    self = argv[0];
    CHECK(symlink(self, "interpreter") == 0);
    // Short, so that it fits into the first line of a script.
    script("plain", "#!./interpreter\n");
    script("with-argument", "#! ./interpreter   one  argument  \n");
    script("nested", "#!./plain\n");
    script("no-magic", "echo run by the shell: $0 $1\n");
    CHECK(getcwd(path, sizeof path));
    snprintf(text, sizeof text, "%s:%s", path, getenv("PATH"));
    setenv("PATH", text, 1);
    for (int i = 0; i <= 10; i++) {
        printf("%d ", i);
        fflush(stdout);
        pid_t pid = fork();
        if (!pid) {
            kind(i);
            printf("errno %d\n", errno);
            fflush(stdout);
            _exit(1);
        }
        CHECK(waitpid(pid, NULL, 0) == pid);
    }
    CHECK(unlink("interpreter") == 0);
    return 0;
}
