// An exec that fails says why and leaves the program as it was.
#include "guest.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

extern char **environ;

static void file(const char *name, const char *text, size_t size, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, text, size) == (ssize_t)size && fchmod(fd, mode) == 0 && close(fd) == 0);
}

static char *read_file(const char *name, size_t *size)
{
    struct stat status;
    int fd = open(name, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &status) == 0);
    char *text = (char *)malloc((size_t)status.st_size);
    CHECK(read(fd, text, (size_t)status.st_size) == status.st_size && close(fd) == 0);
    *size = (size_t)status.st_size;
    return text;
}

static void expect(const char *path, int error)
{
    char *args[] = {(char *)path, NULL};
    CHECK_ERRNO(execve(path, args, environ), error);
}

int main(int argc, char **argv)
{
    char *args[] = {argv[0], (char *)"x", NULL};
    if (argc > 1) return 0;
    volatile long kept = 12345;
    expect("/nonexistent", ENOENT);
    expect("", ENOENT);
    expect("/etc/passwd/x", ENOTDIR);
    expect("/", EACCES);
    file("no-permission", "#!/bin/sh\n", 10, 0600);
    expect("./no-permission", EACCES);
    file("empty", "", 0, 0755);
    expect("./empty", ENOEXEC);
    file("text", "hello, this is no program at all\n", 33, 0755);
    expect("./text", ENOEXEC);
    file("truncated", "\x7f" "ELF\x02\x01\x01", 7, 0755);
    expect("./truncated", ENOEXEC);
    char header[64] = "\x7f" "ELF\x02\x01\x01";
    header[16] = 2, header[18] = (char)0xb7; // another machine
    file("foreign", header, sizeof header, 0755);
    expect("./foreign", ENOEXEC);
    file("no-interpreter", "#!/nonexistent/interpreter\n", 27, 0755);
    expect("./no-interpreter", ENOENT);
    file("directory-interpreter", "#!/tmp\n", 7, 0755);
    expect("./directory-interpreter", EACCES);
    // The dynamic linker that a program names is looked at as well.
    size_t size;
    char *image = read_file(argv[0], &size), *linker = (char *)memmem(image, size, "/lib64/ld-linux-x86-64.so.2", 28);
    CHECK(linker);
    memcpy(linker, "/nonexistent/\33[31mld-l.so.2", 28);
    file("no-linker", image, size, 0755);
    expect("./no-linker", ENOENT);
    memcpy(linker, "./././././././no-permission", 28);
    file("bad-linker", image, size, 0755);
    expect("./bad-linker", EACCES);
    char words[200];
    memset(words, 'w', sizeof words);
    file("words", words, sizeof words, 0755);
    memcpy(linker, "./././././././././././words", 28);
    file("text-linker", image, size, 0755);
    expect("./text-linker", ELIBBAD);
    for (const char *made[] = {"no-linker", "bad-linker", "text-linker", NULL}, **name = made; *name; name++)
        CHECK(unlink(*name) == 0); // as compiled, and so not the same everywhere
    CHECK(symlink("loop", "loop") == 0);
    expect("./loop", ELOOP);
    int writer = open("busy", O_RDWR | O_CREAT, 0755);
    CHECK(write(writer, "#!/bin/true\n", 12) == 12);
    expect("./busy", ETXTBSY);
    close(writer);
    char *long_name = (char *)malloc(5000);
    memset(long_name, 'a', 4999);
    long_name[4999] = 0;
    expect(long_name, ENAMETOOLONG);
    CHECK_ERRNO(execve((char *)8, args, environ), EFAULT);
    CHECK_ERRNO(execve(argv[0], (char **)8, environ), EFAULT);
    CHECK_ERRNO(execve(argv[0], args, (char **)8), EFAULT);
    char *bad[] = {(char *)8, NULL};
    CHECK_ERRNO(execve(argv[0], bad, environ), EFAULT);
    char *huge = (char *)malloc(200000), *too_long[] = {argv[0], huge, NULL};
    memset(huge, 'x', 199999);
    huge[199999] = 0;
    CHECK_ERRNO(execve(argv[0], too_long, environ), E2BIG); // one argument, at most 128 kB
    CHECK_ERRNO(syscall(SYS_execveat, 99, "x", args, environ, 0), EBADF);
    CHECK_ERRNO(syscall(SYS_execveat, AT_FDCWD, "x", args, environ, 0x10), EINVAL);
    CHECK_ERRNO(syscall(SYS_execveat, AT_FDCWD, "loop", args, environ, AT_SYMLINK_NOFOLLOW), ELOOP);
    CHECK(kept == 12345);
    puts("still here");
    return 0;
}
