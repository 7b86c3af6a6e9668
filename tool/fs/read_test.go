package fs_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
	"jp/tool"
	"jp/tool/fs"
)

func TestReadIsVerbatim(t *testing.T) {
	const text = "one\r\ntwo\x81\n\nfour"
	for name, tc := range map[string]struct {
		args   arguments
		want   string
		effect string
	}{
		"all":           {arguments{}, unknownEncoding + text, "4 lines, of an unknown encoding"},
		"from":          {arguments{"start_line": 3}, "\nfour", "2 lines"},
		"to":            {arguments{"end_line": 1}, "one\r\n", "1 line"},
		"between":       {arguments{"start_line": 2, "end_line": 3}, unknownEncoding + "two\x81\n\n", "2 lines, of an unknown encoding"},
		"past the end":  {arguments{"start_line": 4, "end_line": 99}, "four", "1 line"},
		"absolute path": {arguments{"path": "absolute"}, unknownEncoding + text, "4 lines, of an unknown encoding"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, fs.Options{})
			f.write("a.txt", text)
			if tc.args["path"] = "a.txt"; name == "absolute path" {
				tc.args["path"] = filepath.Join(f.root, "a.txt")
			}
			result := f.done("fs_read_file", tc.args)
			require.Equal(t, tc.want, string(result.Content))
			require.Equal(t, tc.effect, result.Effect)
			require.Nil(t, result.Truncated)
		})
	}
}

func TestReadRefuses(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("a.bin", strings.Repeat("x", 100_000)+"\x00")
	f.write("a.txt", "1\n2\n")
	f.write("dir/x", "")
	require.NoError(t, syscall.Mkfifo(filepath.Join(f.root, "pipe"), 0o644))
	require.Contains(t, f.refused("fs_read_file", arguments{"path": "a.bin"}), "a.bin: it is a binary file")
	for _, wide := range []string{"\xff\xfea\x00\n", "\xfe\xff\x00a\x00", "\xff\xfe\x00\x00a\x00\x00\x00", "\x00\x00\xfe\xff\x00\x00\x00a"} {
		const why = "wide: it is text in UTF-16 or UTF-32, and jp reads UTF-8, and UTF-16 with a byte order mark"
		f.write("wide", wide)
		require.Equal(t, why, f.refused("fs_read_file", arguments{"path": "wide"}))
		require.Equal(t, why, f.refused("fs_modify_file", arguments{"path": "wide", "edits": []any{map[string]any{"old": "a", "new": "b"}}}))
	}
	require.Contains(t, f.refused("fs_read_file", arguments{"path": "none"}), "none: no such file")
	require.Contains(t, f.refused("fs_read_file", arguments{"path": "dir"}), "directory")
	require.Contains(t, f.refused("fs_read_file", arguments{"path": "pipe"}), "not a regular file")
	require.Contains(t, f.refused("fs_read_file", arguments{"path": "a.txt/b"}), "a file stands where a folder is needed")
	require.Equal(t, "a.txt has 2 lines, start_line is 3", f.refused("fs_read_file", arguments{"path": "a.txt", "start_line": 3}))
	require.Contains(t, f.refused("fs_read_file", arguments{"path": "a.txt", "start_line": 3, "end_line": 2}), "before")
}

func TestReadCutsLargeFiles(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("big", strings.Repeat("0123456789\n", 1_000_000))
	result := f.done("fs_read_file", arguments{"path": "big"})
	require.Equal(t, int64(11_000_000), result.Truncated.Bytes)
	require.LessOrEqual(t, len(result.Content), tool.Limit)
	require.Equal(t, "1000000 lines", result.Effect)
	result = f.done("fs_read_file", arguments{"path": "big", "start_line": 999_999})
	require.Equal(t, "0123456789\n0123456789\n", string(result.Content))
}

func TestListWithGit(t *testing.T) {
	root := gitenv.Repo(t)
	f := fixtureAt(t, root, fs.Options{Git: gitcmd.New(root, gitcmd.Options{})})
	f.write(".gitignore", "*.log\n")
	f.write("a.log", "")
	f.write("cmd/main.go", "")
	f.write("cmd/sub/x.go", "")
	f.write("gone.txt", "")
	gitenv.Git(t, root, "add", "gone.txt")
	f.done("fs_delete_file", arguments{"path": "gone.txt"})
	for name, tc := range map[string]struct {
		args arguments
		want string
	}{
		"all":              {arguments{}, ".gitignore\nREADME.md\ncmd/main.go\ncmd/sub/x.go\n"},
		"folder":           {arguments{"path": "cmd/sub"}, "cmd/sub/x.go\n"},
		"names anywhere":   {arguments{"pattern": "*.go"}, "cmd/main.go\ncmd/sub/x.go\n"},
		"relative to path": {arguments{"path": "cmd", "pattern": "./*/*.go"}, "cmd/sub/x.go\n"},
		"one file":         {arguments{"path": "README.md"}, "README.md\n"},
		"limited":          {arguments{"limit": 1}, ".gitignore\n[and 3 files more: narrow path or pattern, or raise limit]\n"},
		"none":             {arguments{"pattern": "*.rs"}, "[no files]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, string(f.done("fs_list_files", tc.args).Content))
		})
	}
	require.Equal(t, "1 of 4 files", f.done("fs_list_files", arguments{"limit": 1}).Effect)
	require.Contains(t, f.refused("fs_list_files", arguments{"pattern": "["}), "not a glob")
	require.Contains(t, f.refused("fs_list_files", arguments{"path": "none"}), "no such file")
}

func TestListWithoutGit(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("a", "")
	f.write("d/b", "")
	f.write("d/.git/config", "")
	f.write(".GIT/config", "")
	f.link("d", "link")
	require.Equal(t, "a\nd/b\nlink\n", string(f.done("fs_list_files", nil).Content))
	require.Equal(t, "d/b\n", string(f.done("fs_list_files", arguments{"path": "link"}).Content))
}

func TestNamesAreOneLineEach(t *testing.T) {
	f := newFixture(t, fs.Options{})
	for _, name := range []string{"a\nREADME.md", "b\x1b[2J", "\"c\"", "ü 漢"} {
		f.write(name, "two\n")
	}
	require.Equal(t, `"\"c\""`+"\n"+`"a\nREADME.md"`+"\n"+`"b\x1b[2J"`+"\nü 漢\n", string(f.done("fs_list_files", nil).Content))
	require.Equal(t, `"\"c\"":1:two`+"\n"+`"a\nREADME.md":1:two`+"\n"+`"b\x1b[2J":1:two`+"\nü 漢:1:two\n",
		string(f.done("fs_grep_files", arguments{"pattern": "two"}).Content))
}

func TestGrep(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("a.txt", "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\n")
	f.write("d/b.txt", "two\n")
	f.write("c.bin", "two\x00")
	for name, tc := range map[string]struct {
		args         arguments
		want, effect string
	}{
		"matches": {arguments{"pattern": "two$"}, "a.txt:2:two\nd/b.txt:1:two\n", "2 matches in 2 files"},
		"context": {arguments{"pattern": "two|five", "context": 1},
			"a.txt-1-one\na.txt:2:two\na.txt-3-three\na.txt-4-four\na.txt:5:five\na.txt-6-six\n--\nd/b.txt:1:two\n", "3 matches in 2 files"},
		"groups":        {arguments{"pattern": "one|six", "context": 1}, "a.txt:1:one\na.txt-2-two\n--\na.txt-5-five\na.txt:6:six\n", "2 matches in 1 file"},
		"touching":      {arguments{"pattern": "one|two", "context": 9, "path": "a.txt"}, "a.txt:1:one\na.txt:2:two\na.txt-3-three\na.txt-4-four\na.txt-5-five\na.txt-6-six\n", "2 matches in 1 file"},
		"glob":          {arguments{"pattern": "two", "glob": "d/*"}, "d/b.txt:1:two\n", "1 match in 1 file"},
		"limit":         {arguments{"pattern": "o", "limit": 1}, "a.txt:1:one\n[stopped after 1 match: narrow the pattern, path or glob, or raise limit]\n", "1 match in 1 file"},
		"limit reached": {arguments{"pattern": "six", "limit": 1}, "a.txt:6:six\n", "1 match in 1 file"},
		"none":          {arguments{"pattern": "seven"}, "[no matches]\n", "no matches"},
	} {
		t.Run(name, func(t *testing.T) {
			result := f.done("fs_grep_files", tc.args)
			require.Equal(t, tc.want, string(result.Content))
			require.Equal(t, tc.effect, result.Effect)
		})
	}
	require.Contains(t, f.refused("fs_grep_files", arguments{"pattern": "("}), "not a regular expression")
}

func TestGrepCutsLongLines(t *testing.T) {
	f := newFixture(t, fs.Options{})
	f.write("a", strings.Repeat("x", 10_000))
	require.Less(t, len(f.done("fs_grep_files", arguments{"pattern": "x"}).Content), 500)
}
