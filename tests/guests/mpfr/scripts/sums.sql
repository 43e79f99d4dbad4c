-- SQLite decides how it writes a number, and sums with compensation.
select 1.1 * 2.5, avg(x), sum(x) / 3.0, round(x * 2, 1), printf('%.3f', 0.1 + x)
  from (select 1.25 as x union select 2.5 union select 0.1);
