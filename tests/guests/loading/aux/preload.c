// Part of loading/preload: replaces a libc function.
long time(long *where)
{
    if (where) *where = 1234567;
    return 1234567;
}
