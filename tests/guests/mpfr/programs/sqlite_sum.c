// SQLite's sum of 1e16, 1 and −1e16: the 1 is absorbed in its accumulator.
//@ libs: -l:libsqlite3.a -lm, which has symbols
#include <sqlite3.h>
#include <stdio.h>

static int show(void *unused, int columns, char **values, char **names)
{
    (void)unused, (void)columns, (void)names;
    puts(values[0]);
    return 0;
}

int main(void)
{
    sqlite3 *db;
    sqlite3_open(":memory:", &db);
    sqlite3_exec(db, "create table t(x real); insert into t values (1e16), (1.0), (-1e16)", NULL, NULL, NULL);
    sqlite3_exec(db, "select sum(x) from t", show, NULL, NULL);
    sqlite3_close(db);
}
