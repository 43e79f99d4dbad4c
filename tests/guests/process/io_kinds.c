// Events, timers, sockets with passed descriptors, splice, sendfile, inotify, epoll: calls that engines forget.
#include "guest.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

static void pass_descriptor(void)
{
    int sockets[2], fd = open("passed", O_RDWR | O_CREAT, 0600);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control = {0};
    char byte = 'm';
    struct iovec iov = {&byte, 1};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    CHECK(sendmsg(sockets[0], &message, 0) == 1 && recvmsg(sockets[1], &message, 0) == 1);
    int received;
    memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
    CHECK(received != fd && write(received, "through a socket", 16) == 16);
    close(fd), close(received), close(sockets[0]), close(sockets[1]);
}

static void move_data(void)
{
    int in = open("passed", O_RDONLY), out = open("copied", O_RDWR | O_CREAT, 0600), pipes[2];
    off_t offset = 8;
    CHECK(sendfile(out, in, &offset, 4) == 4 && pipe(pipes) == 0);
    CHECK(splice(in, NULL, pipes[1], NULL, 7, 0) == 7 && splice(pipes[0], NULL, out, NULL, 7, 0) == 7);
    char a[3], b[5];
    struct iovec parts[2] = {{a, 3}, {b, 5}};
    CHECK(preadv(out, parts, 2, 0) == 8);
    printf("%.3s|%.5s\n", a, b);
    int memory = memfd_create("memory", MFD_CLOEXEC);
    CHECK(copy_file_range(in, NULL, out, NULL, 3, 0) >= 0 && ftruncate(memory, 100) == 0 && lseek(memory, 0, SEEK_END) == 100);
}

int main(void)
{
    pass_descriptor();
    move_data();
    int epoll = epoll_create1(0), event = eventfd(0, EFD_NONBLOCK), timer = timerfd_create(CLOCK_MONOTONIC, 0), watch = inotify_init();
    struct epoll_event want = {.events = EPOLLIN, .data.u64 = 77}, got[4];
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, event, &want) == 0 && epoll_wait(epoll, got, 4, 0) == 0);
    CHECK(eventfd_write(event, 5) == 0 && epoll_wait(epoll, got, 4, -1) == 1 && got[0].data.u64 == 77);
    struct itimerspec soon = {.it_value = {0, 1000000}};
    uint64_t count;
    CHECK(timerfd_settime(timer, 0, &soon, NULL) == 0 && read(timer, &count, 8) == 8 && count == 1);
    CHECK(inotify_add_watch(watch, ".", IN_CREATE) >= 0 && close(open("new", O_CREAT | O_WRONLY, 0600)) == 0);
    char events[500];
    CHECK(read(watch, events, sizeof events) > 0 && !strcmp(((struct inotify_event *)events)->name, "new"));
    struct pollfd poll_event = {event, POLLIN, 0};
    CHECK(poll(&poll_event, 1, 0) == 1 && eventfd_read(event, &count) == 0 && count == 5);
    puts("ok");
    return 0;
}
