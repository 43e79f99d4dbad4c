// Executing by descriptor: one that closes then, a file without a name, relative to a directory, a script.
#define _GNU_SOURCE
#include "guest.h"
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

extern char **environ;

static void by_descriptor(int directory, const char *path, int flags, const char *step)
{
    char *argv[] = {"by descriptor", (char *)step, NULL};
    fflush(stdout);
    syscall(SYS_execveat, directory, path, argv, environ, flags);
}

// What it was executed by, without the number.
static void executed_by(void)
{
    const char *name = (const char *)getauxval(AT_EXECFN);
    if (!strncmp(name, "/dev/fd/", 8)) {
        name += 8 + strspn(name + 8, "0123456789");
        printf("/dev/fd/N%s\n", name);
    } else {
        puts("a path");
    }
}

static void script(int flags)
{
    int file = open("script", O_RDWR | O_CREAT | O_TRUNC, 0700);
    CHECK(write(file, "#!/bin/sh\necho \"script $1\"\n", 27) == 27 && close(file) == 0);
    file = open("script", O_RDONLY | flags);
    by_descriptor(file, "", AT_EMPTY_PATH, "last");
    CHECK(errno == ENOENT && flags == O_CLOEXEC);
}

int main(int argc, char **argv)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(length > 0);
    self[length] = 0;
    const char *step = argc > 1 ? argv[1] : "start";
    if (argc > 1) printf("%s: %s, ", argv[0], step), executed_by();
    if (!strcmp(step, "start")) {
        by_descriptor(open(self, O_PATH | O_CLOEXEC), "", AT_EMPTY_PATH, "closed");
    } else if (!strcmp(step, "closed")) {
        // Nothing was left open.
        int next = open("/dev/null", O_RDONLY);
        CHECK(next == 3 && close(next) == 0);
        by_descriptor(open(self, O_RDONLY), "", AT_EMPTY_PATH, "open");
    } else if (!strcmp(step, "open")) {
        CHECK(fcntl(3, F_GETFD) == 0 && fcntl(4, F_GETFD) == -1 && close(3) == 0);
        char copy[1 << 16];
        int from = open(self, O_RDONLY), to = memfd_create("nameless", MFD_CLOEXEC);
        for (ssize_t n; (n = read(from, copy, sizeof copy)) > 0;) CHECK(write(to, copy, (size_t)n) == n);
        close(from);
        by_descriptor(to, "", AT_EMPTY_PATH, "nameless");
    } else if (!strcmp(step, "nameless")) {
        // The test is linked to by another name, so that the directory has it.
        unlink("here");
        CHECK(symlink(argc > 2 ? argv[2] : "/bin/echo", "here") == 0);
        by_descriptor(open(".", O_DIRECTORY | O_CLOEXEC), "no such file", 0, "x");
        CHECK(errno == ENOENT);
        by_descriptor(open(".", O_DIRECTORY | O_CLOEXEC), "here", AT_SYMLINK_NOFOLLOW, "x");
        CHECK(errno == ELOOP);
        by_descriptor(99, "here", 0, "x");
        CHECK(errno == EBADF);
        by_descriptor(0, "", 0, "x");
        CHECK(errno == ENOENT);
        script(O_CLOEXEC);
        script(0);
    }
    CHECK(!"executed");
}
