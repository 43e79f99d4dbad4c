// Listing the open descriptors, after the standard ones were closed, shows those that the program opened.
#include "guest.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

static int out;

static int list(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    CHECK(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(directory)) continue;
        dprintf(out, " %s", entry->d_name);
        count++;
    }
    closedir(directory);
    dprintf(out, "\n");
    return count;
}

int main(void)
{
    for (int inherited = 3; inherited < 1000; inherited++) close(inherited);
    out = dup2(1, 40);
    CHECK(list("/proc/self/fd") == 4);
    CHECK(close(2) == 0 && close(1) == 0 && close(0) == 0);
    CHECK(list("/proc/self/fd") == 1 && list("/proc/thread-self/fd") == 1 && list("/proc/self/fdinfo") == 1);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", getpid());
    CHECK(list(path) == 1);
    // As daemons do: until there is nothing left to close.
    for (int found = 1; found;) {
        found = 0;
        DIR *directory = opendir("/proc/self/fd");
        for (struct dirent *entry; !found && (entry = readdir(directory));) {
            int number = atoi(entry->d_name);
            if (entry->d_name[0] == '.' || number == dirfd(directory) || number == out) continue;
            close(number);
            found = 1;
        }
        closedir(directory);
    }
    // One entry at a time.
    int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY), entries = 0;
    char buffer[32];
    for (long n; (n = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0;) entries++;
    dprintf(out, "%d entries\n", entries);
    return 0;
}
