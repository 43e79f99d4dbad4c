// /proc/self shows the program, not what runs it: exe, cmdline, comm, auxv, environ, status, task, cwd.
//@ link: pie static
//@ args: first second
#include "guest.h"
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static char text[65536];

static size_t slurp(const char *path)
{
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    size_t size = 0;
    for (ssize_t n; (n = read(fd, text + size, sizeof text - 1 - size)) > 0;) size += (size_t)n;
    close(fd);
    text[size] = 0;
    return size;
}

static void check_exe(const char *path, char *name)
{
    char target[PATH_MAX] = {0}, pid_path[64];
    struct stat by_link, by_name, by_fd;
    CHECK(readlink(path, target, sizeof target - 1) == (ssize_t)strlen(name) && !strcmp(target, name));
    CHECK(readlink(path, target, 3) == 3); // cut, without a zero
    CHECK(stat(path, &by_link) == 0 && stat(name, &by_name) == 0 && by_link.st_ino == by_name.st_ino);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &by_fd) == 0 && by_fd.st_ino == by_name.st_ino);
    CHECK(read(fd, target, 4) == 4 && !memcmp(target, ELFMAG, 4));
    close(fd);
    CHECK(lstat(path, &by_link) == 0 && S_ISLNK(by_link.st_mode));
    snprintf(pid_path, sizeof pid_path, "/proc/%d/exe", getpid());
    CHECK(realpath(pid_path, target) && !strcmp(target, name));
}

static void print_status(void)
{
    slurp("/proc/self/status");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (!strncmp(line, "Name:", 5) || !strncmp(line, "Threads:", 8) || !strncmp(line, "State:", 6)
            || !strncmp(line, "SigBlk:", 7) || !strncmp(line, "Seccomp:", 8))
            puts(line);
}

int main(int argc, char **argv)
{
    (void)argc;
    check_exe("/proc/self/exe", argv[0]);
    size_t size = slurp("/proc/self/cmdline");
    CHECK(!strcmp(text, argv[0]));
    for (size_t i = strlen(text) + 1; i < size; i += strlen(text + i) + 1) printf("[%s]\n", text + i);
    slurp("/proc/self/comm");
    printf("%s", text);
    prctl(PR_SET_NAME, "renamed program");
    slurp("/proc/self/comm");
    printf("%s", text);
    print_status();
    size = slurp("/proc/self/auxv");
    Elf64_auxv_t entry;
    for (size_t i = 0; i < size; i += sizeof entry) {
        memcpy(&entry, text + i, sizeof entry);
        if (entry.a_type != AT_HWCAP && entry.a_type != AT_PLATFORM) CHECK(getauxval(entry.a_type) == entry.a_un.a_val);
    }
    CHECK(entry.a_type == AT_NULL);
    size = slurp("/proc/self/environ");
    CHECK(memmem(text, size, "LANG=C.UTF-8", 13));
    int tasks = 0;
    DIR *directory = opendir("/proc/self/task");
    for (struct dirent *item; (item = readdir(directory));) tasks += item->d_name[0] != '.';
    printf("%d tasks\n", tasks);
    slurp("/proc/self/stat");
    printf("%.*s\n", (int)(strrchr(text, ')') - strchr(text, '(') + 1), strchr(text, '('));
    return 0;
}
