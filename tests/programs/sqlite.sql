-- sqlite3: tables, indices, joins, aggregates, floats, transactions, a database file.
--@ needs: sqlite3
--@ stdin: sqlite.sql
--@ run memory: sqlite3 :memory:
--@ run file: sqlite3 data.db
CREATE TABLE numbers (id INTEGER PRIMARY KEY, x REAL, name TEXT);
BEGIN;
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 6000)
INSERT INTO numbers SELECT i, i * 0.37 - (i % 13) / 7.0, 'n' || (i % 101) FROM c;
COMMIT;
CREATE INDEX by_name ON numbers (name);
SELECT name, count(*), sum(x), avg(x), max(x) FROM numbers GROUP BY name ORDER BY sum(x) DESC LIMIT 5;
SELECT a.id, b.id FROM numbers a JOIN numbers b ON a.name = b.name AND a.id < b.id WHERE a.id < 5 ORDER BY 1, 2 LIMIT 8;
SELECT total(x), printf('%.15g', sum(x * x)), round(2.675, 2), 1e16 + 1 - 1e16, sqrt(2), exp(1) FROM numbers;
UPDATE numbers SET x = x * 1.5 WHERE id % 3 = 0;
DELETE FROM numbers WHERE name LIKE 'n5%';
SELECT count(*), sum(x) FROM numbers;
PRAGMA integrity_check;
