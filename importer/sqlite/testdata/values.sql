-- sqlite3 values.db <values.sql makes values.db and its log, under the name kept.db. A database that is closed has no log.
pragma page_size = 512;
pragma journal_mode = wal;
create table kinds (a, b, c, d);
insert into kinds values (0, 1, -1, 127), (-128, 32767, -8388608, 2147483647), (-140737488355328, 9223372036854775807, null, 'x''y'), ('é', 3.0, 0.5, null);
create table long (name text, value text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 120)
  insert into long select 'row ' || i, replace(hex(zeroblob((i * i) % 97 * 3)), '00', 'abcdefgh') from n;
create view logged_by as select * from kinds;
pragma wal_checkpoint(truncate);
begin;
create table logged (a);
insert into logged values ('of the log');
commit;
.shell cp values.db kept.db; cp values.db-wal kept.db-wal
