package fs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/tool/fs"
)

func TestCreateMakesFolders(t *testing.T) {
	f := newFixture(t, fs.Options{})
	result := f.done("fs_create_file", arguments{"path": "a/b/new.txt", "content": "one\ntwo\n"})
	require.Equal(t, "one\ntwo\n", f.content("a/b/new.txt"))
	require.Equal(t, "+2 -0", result.Effect)
	require.Equal(t, []string{"a/b/new.txt"}, result.WrittenFiles)
	require.Equal(t, []string{"a/b/new.txt"}, f.names(), "no temporary file stays")
}

// Writing a file deletes the temporary files of killed processes in its folder, unless another process may be
// writing one.
func TestCreateTidiesUp(t *testing.T) {
	f := newFixture(t, fs.Options{})
	const old, young, other = "a/.jp-ABCDEFGHIJKLMNOPQRSTUVWXYZ", "a/.jp-234567ABCDEFGHIJKLMNOPQRST", "a/.jp-notes"
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{old, young, other} {
		f.write(name, "half")
		if name != young {
			require.NoError(t, os.Chtimes(filepath.Join(f.root, name), long, long))
		}
	}
	f.done("fs_create_file", arguments{"path": "a/new.txt", "content": "one\n"})
	require.ElementsMatch(t, []string{young, other, "a/new.txt"}, f.names())
}

func TestCreateAsksBeforeItOverwrites(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("run.sh", "old\nsame\n")
	require.NoError(t, os.Chmod(filepath.Join(f.root, "run.sh"), 0o750))
	args := arguments{"path": "run.sh", "content": "new\nsame\n"}

	result := f.run("fs_create_file", args)
	require.NotNil(t, result.Question)
	require.Equal(t, "overwrite", result.Question.ID)
	require.Equal(t, "Overwrite existing file?", result.Question.Text)
	require.Equal(t, "boolean", result.Question.AnswerType.Type)
	require.Nil(t, result.Question.Default)
	require.Contains(t, result.Question.Detail, "-old\n+new\n same\n")
	require.Equal(t, "old\nsame\n", f.content("run.sh"), "nothing is changed before the answer")

	declined := f.run("fs_create_file", args, "false")
	require.True(t, declined.IsError)
	require.Equal(t, "declined by user", declined.Effect)
	require.Equal(t, "old\nsame\n", f.content("run.sh"))

	result = f.done("fs_create_file", args, "true")
	require.Equal(t, "+1 -1", result.Effect)
	require.Contains(t, string(result.Content), "-old\n+new\n same\n")
	require.Equal(t, "new\nsame\n", f.content("run.sh"))
	info, err := os.Stat(filepath.Join(f.root, "run.sh"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o750), info.Mode().Perm())
	require.Equal(t, []string{"run.sh"}, f.names())
}

func TestCreateOverABinaryFile(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("a.bin", "\x00\x01")
	result := f.run("fs_create_file", arguments{"path": "a.bin", "content": "text"})
	require.Equal(t, "a.bin has 2 bytes that are not text; the new text has 4 bytes.", result.Question.Detail)
}

func TestWritesThroughALinkKeepIt(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("real/a.txt", "one\n")
	f.link("real/a.txt", "a.txt")
	result := f.done("fs_modify_file", arguments{"path": "a.txt", "edits": []edit{{Old: "one", New: "two"}}})
	require.Equal(t, []string{"real/a.txt"}, result.WrittenFiles)
	require.Equal(t, "two\n", f.content("real/a.txt"))
	target, err := os.Readlink(filepath.Join(f.root, "a.txt"))
	require.NoError(t, err)
	require.Equal(t, "real/a.txt", target)
}

func TestHardLinkElsewhereKeepsItsText(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write(".git/config", "canary")
	require.NoError(t, os.Link(filepath.Join(f.root, ".git/config"), filepath.Join(f.root, "plain")))
	f.done("fs_create_file", arguments{"path": "plain", "content": "x"}, "true")
	require.Equal(t, "canary", f.content(".git/config"))
}

type edit struct {
	Old   string `json:"old"`
	New   string `json:"new"`
	Count int    `json:"count,omitempty"`
}

func TestModify(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after, effect string
		edits                 []edit
	}{
		"one":               {"a\nb\nc\n", "a\nB\nc\n", "+1 -1", []edit{{Old: "b", New: "B"}}},
		"each on the last":  {"a\n", "c\n", "+1 -1", []edit{{Old: "a", New: "b"}, {Old: "b", New: "c"}}},
		"counted":           {"a a\na\n", "b b\nb\n", "+2 -2", []edit{{Old: "a", New: "b", Count: 3}}},
		"removal":           {"a\nb\n", "a\n", "+0 -1", []edit{{Old: "b\n", New: ""}}},
		"no last newline":   {"a\nb", "a\nb\nc", "+2 -1", []edit{{Old: "b", New: "b\nc"}}},
		"CRLF is kept":      {"a\r\nb\r\nc\r\n", "a\r\nx\r\ny\r\nc\r\n", "+2 -1", []edit{{Old: "a\nb\n", New: "a\nx\ny\n"}}},
		"CRLF with CRLF":    {"a\r\nb\r\n", "a\r\nc\r\n", "+1 -1", []edit{{Old: "a\r\nb", New: "a\r\nc"}}},
		"CRLF, one line":    {"a\r\nb\r\n", "a\r\nb\r\nc\r\n", "+1 -0", []edit{{Old: "b", New: "b\nc"}}},
		"mixed is verbatim": {"a\r\nb\nc\n", "a\r\nb\nd\n", "+1 -1", []edit{{Old: "b\nc", New: "b\nd"}}},
		"invalid UTF-8":     {"\xff\na\n", "\xff\nb\n", "+1 -1", []edit{{Old: "a", New: "b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, fs.Options{})
			f.write("f", tc.before)
			result := f.done("fs_modify_file", arguments{"path": "f", "edits": tc.edits})
			require.Equal(t, tc.after, f.content("f"))
			require.Equal(t, tc.effect, result.Effect)
			require.Contains(t, string(result.Content), "--- f\n+++ f\n@@ ")
		})
	}
}

func TestModifyIsAllOrNothing(t *testing.T) {
	const before = "func main() {\n\tfmt.Println(\"hello\")\n}\n\na\na\n"
	for name, tc := range map[string]struct {
		edits []edit
		want  string
	}{
		"not there, with the nearest": {[]edit{{Old: "func main", New: "func x"}, {Old: "fmt.Printline(\"hello\")", New: "x"}},
			`edit 2 of 2: old does not occur; the nearest to its first line is line 2: "\tfmt.Println(\"hello\")"; the file is unchanged`},
		"nothing like it": {[]edit{{Old: "zzzzzz", New: "x"}}, "no line is like its first"},
		"too often":       {[]edit{{Old: "a\n", New: "b\n"}}, "old occurs 2 times (lines 5, 6), expected 1"},
		"not as often":    {[]edit{{Old: "main", New: "x", Count: 2}}, "old occurs 1 times (lines 1), expected 2"},
		"no change":       {[]edit{{Old: "main", New: "main"}}, "the edits change nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, fs.Options{})
			f.write("f.go", before)
			require.Contains(t, f.refused("fs_modify_file", arguments{"path": "f.go", "edits": tc.edits}), tc.want)
			require.Equal(t, before, f.content("f.go"))
			require.Equal(t, []string{"f.go"}, f.names())
		})
	}
}

func TestModifyRefuses(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("bin", "a\x00b")
	f.write("dir/x", "")
	edits := []edit{{Old: "a", New: "b"}}
	require.Contains(t, f.refused("fs_modify_file", arguments{"path": "bin", "edits": edits}), "binary")
	require.Contains(t, f.refused("fs_modify_file", arguments{"path": "dir", "edits": edits}), "directory")
	require.Contains(t, f.refused("fs_modify_file", arguments{"path": "none", "edits": edits}), "no such file")
}

func TestDelete(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("a.txt", "1\n2\n3")
	f.write("keep.txt", "k")
	f.link("keep.txt", "link")
	f.write("dir/x", "")
	result := f.done("fs_delete_file", arguments{"path": "a.txt"})
	require.Equal(t, "+0 -3", result.Effect)
	require.Equal(t, []string{"a.txt"}, result.WrittenFiles)
	f.absent("a.txt")
	require.Equal(t, "deleted", f.done("fs_delete_file", arguments{"path": "link"}).Effect)
	require.Equal(t, []string{"dir/x", "keep.txt"}, f.names())
	require.Contains(t, f.refused("fs_delete_file", arguments{"path": "dir"}), "directory")
	require.Contains(t, f.refused("fs_delete_file", arguments{"path": "."}), "directory")
	require.Contains(t, f.refused("fs_delete_file", arguments{"path": "a.txt"}), "no such file")
}

func TestMove(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("a.txt", "A")
	f.write("b.txt", "B")
	f.write("dir/x", "")
	result := f.done("fs_move_file", arguments{"source": "a.txt", "target": "new/deep/a.txt"})
	require.Equal(t, []string{"a.txt", "new/deep/a.txt"}, result.WrittenFiles)
	require.Equal(t, "A", f.content("new/deep/a.txt"))
	f.absent("a.txt")
	require.Contains(t, f.refused("fs_move_file", arguments{"source": "b.txt", "target": "new/deep/a.txt"}), "exists")
	require.Contains(t, f.refused("fs_move_file", arguments{"source": "b.txt", "target": "dir"}), "exists")
	require.Contains(t, f.refused("fs_move_file", arguments{"source": "dir", "target": "other"}), "directory")
	require.Contains(t, f.refused("fs_move_file", arguments{"source": "none", "target": "other"}), "no such file")
	require.Equal(t, []string{"b.txt", "dir/x", "new/deep/a.txt"}, f.names())
}

func TestLargeTextsAreNotCompared(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("big", strings.Repeat("line\n", 600_000)+"end\n")
	result := f.done("fs_modify_file", arguments{"path": "big", "edits": []edit{{Old: "end", New: "END"}}})
	require.Equal(t, "Modified big.\n", string(result.Content))
	require.True(t, strings.HasSuffix(f.content("big"), "line\nEND\n"))
}

// The question about a call mentions that it would overwrite a file, and otherwise nothing.
func TestCreateForeseesItsQuestion(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("a.txt", "old\n")
	f.write("dir/b.txt", "old\n")
	f.link("dir/b.txt", "link")
	f.link("/etc/passwd", "outside")
	create, _ := f.tools.Lookup("fs_create_file")
	for path, want := range map[string]bool{
		"a.txt": true, "dir/b.txt": true, "link": true, "new.txt": false, "no/such/dir.txt": false, "dir": false, "outside": false, "../a.txt": false,
	} {
		foreseen, ok := create.Definition().Foresee(json.RawMessage(`{"path":"` + path + `","content":"new\n"}`))
		require.Equal(t, want, ok, path)
		if ok {
			require.Equal(t, "overwrite", foreseen.ID)
			asked := f.run("fs_create_file", arguments{"path": path, "content": "new\n"})
			require.Equal(t, foreseen.ID, asked.Question.ID, "it is what the tool asks")
			f.done("fs_create_file", arguments{"path": path, "content": "new\n"}, "true")
		}
	}
	require.NoDirExists(t, filepath.Join(f.root, "no"), "nothing is made")
}
