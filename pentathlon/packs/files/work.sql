PRAGMA journal_mode = DELETE;
CREATE TABLE item (id INTEGER PRIMARY KEY, owner INTEGER, amount INTEGER, note TEXT);
BEGIN;
WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < 100000)
INSERT INTO item SELECT n, n * 7919 % 1009, n * 104729 % 65537, 'note ' || n FROM number;
COMMIT;
CREATE INDEX item_owner ON item (owner);
UPDATE item SET amount = amount + 1 WHERE owner < 100;
DELETE FROM item WHERE owner >= 1000;
SELECT 'sum ' || sum(total) FROM (SELECT owner, sum(amount) AS total FROM item GROUP BY owner);
SELECT 'text ' || sum(length(note)) FROM item WHERE note LIKE '%99%';
