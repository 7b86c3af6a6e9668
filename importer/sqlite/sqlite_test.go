package sqlite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rows are all rows of a table, one line each.
func rows(t testing.TB, db *DB, name string) (lines []string, damaged int) {
	t.Helper()
	table, err := db.Table(name)
	require.NoError(t, err)
	var ids []int64
	damaged, err = table.Scan(func(r *Row) error {
		ids = append(ids, r.ID)
		lines = append(lines, line(t, table, r))
		return nil
	})
	require.NoError(t, err)
	reader := table.Reader()
	for i, id := range ids {
		row, err := reader.Get(id)
		require.NoError(t, err)
		require.Equal(t, lines[i], line(t, table, row))
	}
	return lines, damaged
}

func line(t testing.TB, table *Table, r *Row) string {
	var values []string
	for i := range table.columns {
		text, err := r.Text(i)
		require.NoError(t, err)
		values = append(values, text)
	}
	return strings.Join(values, "|")
}

// copyOf copies a database of testdata, with its log.
func copyOf(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+end))
		if err == nil {
			err = os.WriteFile(path+end, data, 0o644)
		}
		require.True(t, err == nil || end != "" && os.IsNotExist(err), err)
	}
	return path
}

func open(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// testdata/values.sql made values.db. A part of the rows is only in the log.
func TestValuesOfADatabase(t *testing.T) {
	db := open(t, copyOf(t, "values.db"))
	lines, damaged := rows(t, db, "kinds")
	require.Zero(t, damaged)
	require.Equal(t, []string{"0|1|-1|127", "-128|32767|-8388608|2147483647", "-140737488355328|9223372036854775807||x'y", "é|3||"}, lines)
	lines, damaged = rows(t, db, "long")
	require.Zero(t, damaged)
	require.Len(t, lines, 120)
	for i, l := range lines {
		name, text, _ := strings.Cut(l, "|")
		require.Equal(t, fmt.Sprintf("row %d", i+1), name)
		require.Equal(t, strings.Repeat("abcdefgh", (i+1)*(i+1)%97*3), text)
	}
	lines, _ = rows(t, db, "logged")
	require.Equal(t, []string{"of the log"}, lines)
	_, err := db.Table("none")
	require.ErrorIs(t, err, ErrNoTable)
}

// Without its log, and with a log of which a frame is damaged, a database is as it was
// before the change.
func TestALogThatBreaksOff(t *testing.T) {
	for name, change := range map[string]func(log []byte) []byte{
		"none":           func([]byte) []byte { return nil },
		"cut":            func(log []byte) []byte { return log[:len(log)-1] },
		"another frame":  func(log []byte) []byte { log[logHead+frameHead+7] ^= 1; return log },
		"another salt":   func(log []byte) []byte { log[logHead+9] ^= 1; return log },
		"another head":   func(log []byte) []byte { log[20] ^= 1; return log },
		"a page 0":       func(log []byte) []byte { copy(log[logHead:], make([]byte, 4)); return log },
		"no log at all":  func([]byte) []byte { return []byte("words") },
		"an empty log":   func([]byte) []byte { return []byte{} },
		"only its start": func(log []byte) []byte { return log[:logHead] },
	} {
		t.Run(name, func(t *testing.T) {
			path := copyOf(t, "values.db")
			log, err := os.ReadFile(path + "-wal")
			require.NoError(t, err)
			if log = change(log); log == nil {
				require.NoError(t, os.Remove(path+"-wal"))
			} else {
				require.NoError(t, os.WriteFile(path+"-wal", log, 0o644))
			}
			db := open(t, path)
			lines, _ := rows(t, db, "kinds")
			require.Len(t, lines, 4)
			_, err = db.Table("logged")
			require.ErrorIs(t, err, ErrNoTable)
		})
	}
}

func TestWhatIsNotOpened(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	path := copyOf(t, "values.db")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	write := func(name string, data []byte) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
		return filepath.Join(dir, name)
	}
	wide := bytes.Clone(whole)
	wide[59] = 2
	huge := write("huge.db", whole)
	require.NoError(t, os.Truncate(huge, maxFile+1))
	busy := write("busy.db", whole)
	write("busy.db-journal", append([]byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}, make([]byte, 512)...))
	for path, words := range map[string]string{
		dir:                         "not a regular file",
		write("empty.db", nil):      "no SQLite database",
		write("text.db", whole[1:]): "no SQLite database",
		write("wide.db", wide):      "not in UTF-8",
		huge:                        "over 4096 MiB",
		busy:                        "not complete",
	} {
		_, err := Open(path)
		require.ErrorContains(t, err, words)
	}
	require.Empty(t, temporary(t))
}

// temporary are the copies that are left.
func temporary(t *testing.T) []string {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "jp-import-*"))
	require.NoError(t, err)
	return left
}

func TestNamesOfColumns(t *testing.T) {
	for statement, want := range map[string]string{
		"CREATE TABLE t(a, b)": "a b",
		"CREATE TABLE `t` (`a b` text, [c] int, \"d\"\"\" text not null)":                                                                             "a b c d\"",
		"create table t (a decimal(1, 2) default (1), b, primary key (a, b), unique(b), check (a > cast(b as int)), foreign key (a) references u(a))": "a b",
		"create table t (-- a comment, with words\n a text /* , x */, 'primary' int, constraint \"k\" unique (a))":                                    "a primary",
		"create table t (a default ')(' , b default '', c)":                                                                                           "a b c",
	} {
		names, err := columnsOf(statement)
		require.NoError(t, err, statement)
		require.Equal(t, want, strings.Join(names, " "))
	}
	for _, statement := range []string{"", "create table t", "create table t (a", "create table t (\"a", "create table t (a, b generated always as (a))", "create table t (/*"} {
		_, err := columnsOf(statement)
		require.Error(t, err, statement)
	}
}

// A damaged page loses its own rows only.
func TestADamagedPage(t *testing.T) {
	path := copyOf(t, "values.db")
	db := open(t, path)
	table, err := db.Table("long")
	require.NoError(t, err)
	buffer := make([]byte, db.size)
	p, err := db.treePage(table.root, buffer)
	require.NoError(t, err)
	require.True(t, p.inner)
	child, _, _ := p.child(1)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[int(child-1)*db.size] = 7
	require.NoError(t, os.WriteFile(path, data, 0o644))
	lines, damaged := 0, 0
	table, err = open(t, path).Table("long")
	require.NoError(t, err)
	damaged, err = table.Scan(func(*Row) error { lines++; return nil })
	require.NoError(t, err)
	require.Equal(t, 1, damaged)
	require.Greater(t, lines, 60)
	require.Less(t, lines, 120)
}

// This package reads the same as the sqlite3 program.
func TestAsTheProgramReads(t *testing.T) {
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("sqlite3 is not installed")
	}
	for _, size := range []int{512, 4096, 65536} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "made.db")
			script := fmt.Sprintf(`pragma page_size=%d; create table made (a integer primary key, b text, c int);
				with recursive n(i) as (select 1 union all select i+1 from n where i < 3000)
				insert into made select i*7, hex(zeroblob(i*i%%2000)), i*i*i-9999 from n; delete from made where a %% 5 = 0; alter table made add column d;`, size)
			require.NoError(t, exec.Command(program, path, script).Run())
			out, err := exec.Command(program, "-json", path, "select b, c from made order by a").Output()
			require.NoError(t, err)
			var want []struct {
				B string
				C int64
			}
			require.NoError(t, json.Unmarshal(out, &want))
			lines, damaged := rows(t, open(t, path), "made")
			require.Zero(t, damaged)
			require.Len(t, lines, len(want))
			for i, w := range want {
				require.Equal(t, fmt.Sprintf("|%s|%d|", w.B, w.C), lines[i])
			}
		})
	}
}

// FuzzRead reads any content of a database and its log, in time and memory that follow from their size.
func FuzzRead(f *testing.F) {
	data, err := os.ReadFile("testdata/values.db")
	require.NoError(f, err)
	log, err := os.ReadFile("testdata/values.db-wal")
	require.NoError(f, err)
	f.Add(data, log)
	f.Add(data, []byte{})
	f.Add([]byte{}, log)
	f.Fuzz(func(t *testing.T, data, log []byte) {
		path := filepath.Join(t.TempDir(), "made.db")
		require.NoError(t, os.WriteFile(path, data, 0o644))
		require.NoError(t, os.WriteFile(path+"-wal", log, 0o644))
		db, err := Open(path)
		if err != nil {
			return
		}
		defer db.Close()
		for _, name := range []string{"kinds", "long", "logged"} {
			table, err := db.Table(name)
			if err != nil {
				continue
			}
			reader, n := table.Reader(), 0
			_, err = table.Scan(func(r *Row) error {
				for i := range table.columns {
					_, _ = r.Text(i)
				}
				if n++; n < 100 {
					_, _ = reader.Get(r.ID)
				}
				return nil
			})
			require.NoError(t, err)
			require.LessOrEqual(t, n, len(data)+len(log))
		}
	})
}
