package worktree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitstore/trees"
	"jp/internal/testing/gitenv"
	"jp/worktree"
)

// back brings all differences between two trees back to the first, as a caller does it, and returns the
// rest.
func (r *repo) back(from, to string) []worktree.Skipped {
	r.t.Helper()
	return r.restore(r.puts(from, to), nil)
}

func (r *repo) puts(from, to string) (puts []worktree.WriteOp) {
	r.t.Helper()
	reader := trees.NewGit(gitcmd.New(r.dir, gitcmd.Options{}))
	defer reader.Close()
	steps, err := reader.DiffTrees(r.t.Context(), from, to)
	require.NoError(r.t, err)
	for _, s := range steps {
		puts = append(puts, worktree.WriteOp{Path: s.Path, Is: s.After, To: s.Before})
	}
	return puts
}

// restore looks, lets something happen, and restores; index and HEAD must stay.
func (r *repo) restore(puts []worktree.WriteOp, meanwhile func(), protected ...string) []worktree.Skipped {
	r.t.Helper()
	var names []string
	for _, p := range puts {
		names = append(names, p.Path)
	}
	seen := r.w.StatAll(names)
	if meanwhile != nil {
		meanwhile()
	}
	before := r.own()
	refused, err := r.w.CheckRestore(r.t.Context(), puts, protected)
	require.NoError(r.t, err)
	left, err := r.w.Restore(r.t.Context(), puts, seen, protected)
	require.NoError(r.t, err)
	foreseen := slices.DeleteFunc(slices.Clone(left), func(l worktree.Skipped) bool {
		return l.Failed || l.Why == "others wrote it just now" || l.Why == worktree.WhyStopped
	})
	require.ElementsMatch(r.t, foreseen, refused)
	require.Equal(r.t, before, r.own(), "something of the user's in .git changed")
	staged, err := filepath.Glob(r.path(".git/jp/restore-*"))
	require.NoError(r.t, err)
	require.Empty(r.t, staged)
	return left
}

// dated gives a file the time back that it has before an edit.
func (r *repo) dated(name string, edit func()) {
	r.t.Helper()
	was, err := os.Stat(r.path(name))
	require.NoError(r.t, err)
	edit()
	require.NoError(r.t, os.Chtimes(r.path(name), was.ModTime(), was.ModTime()))
}

// own is the fingerprint of .git, without the folder's own time.
func (r *repo) own() map[string]string {
	all := r.fingerprint()
	for name := range all {
		if name != ".git" && !strings.HasPrefix(name, ".git/") {
			delete(all, name)
		}
	}
	return all
}

// disk lists the files of the working tree: path to content.
func (r *repo) disk() map[string]string {
	r.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		require.NoError(r.t, err)
		name, _ := filepath.Rel(r.dir, path)
		switch {
		case name == ".git":
			return filepath.SkipDir
		case d.IsDir():
			if entries, _ := os.ReadDir(path); len(entries) == 0 {
				files[name] = "empty folder"
			}
		case d.Type()&os.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			files[name] = "-> " + target
		default:
			data, _ := os.ReadFile(path)
			info, _ := d.Info()
			files[name] = string(data)
			if info.Mode()&0o100 != 0 {
				files[name] = "x " + files[name]
			}
		}
		return nil
	})
	require.NoError(r.t, err)
	return files
}

func TestRestoreBringsEverythingBack(t *testing.T) {
	tests := map[string]func(r *repo){
		"changed":              func(r *repo) { r.write("a", "2\n") },
		"deleted":              func(r *repo) { r.remove("a") },
		"deleted with folder":  func(r *repo) { r.remove("d") },
		"made":                 func(r *repo) { r.write("new", "n\n") },
		"made in folders":      func(r *repo) { r.write("n/e/w", "n\n") },
		"made executable":      func(r *repo) { require.NoError(r.t, os.Chmod(r.path("a"), 0o755)) },
		"executable no more":   func(r *repo) { require.NoError(r.t, os.Chmod(r.path("run"), 0o644)) },
		"a link moved":         func(r *repo) { r.remove("link"); require.NoError(r.t, os.Symlink("d/b", r.path("link"))) },
		"a link became a file": func(r *repo) { r.remove("link"); r.write("link", "text\n") },
		"a file became a link": func(r *repo) { r.remove("a"); require.NoError(r.t, os.Symlink("d", r.path("a"))) },
		"a file became folder": func(r *repo) { r.remove("a"); r.write("a/b/c", "1\n") },
		"a folder became file": func(r *repo) { r.remove("d"); r.write("d", "1\n") },
		"a folder became link": func(r *repo) { r.remove("d"); require.NoError(r.t, os.Symlink(".", r.path("d"))) },
		"moved":                func(r *repo) { r.write("e/b", "b\n"); r.remove("d/b") },
		"odd names":            func(r *repo) { r.write("-a b\n\"ä\xff", "1\n"); r.write(":(top)x", "1\n") },
		"emptied":              func(r *repo) { r.write("a", "") },
	}
	for name, edits := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"a": "1\n", "d/b": "b\n", "d/c/e": "e\n"})
			r.write("run", "#!\n")
			require.NoError(t, os.Chmod(r.path("run"), 0o755))
			require.NoError(t, os.Symlink("a", r.path("link")))
			r.git("add", "-A")
			r.git("commit", "-qm", "more")
			before := r.disk()
			s := r.tool(r.head(), func() { edits(r) })
			changed := r.disk()
			require.NotEqual(t, before, changed)

			require.Empty(t, r.back(r.head(), s.Tree))
			require.Equal(t, before, r.disk())
			require.Empty(t, r.back(s.Tree, r.head()), "and forth again")
			require.Equal(t, changed, r.disk())
		})
	}
}

func TestRestoreConvertsAsGitDoes(t *testing.T) {
	r := newRepo(t, map[string]string{".gitattributes": "*.txt text eol=crlf\n*.up filter=up\n", "a.txt": "1\r\n", "a.up": "loud\n"})
	r.git("config", "--global", "filter.up.clean", "tr A-Z a-z")
	r.git("config", "--global", "filter.up.smudge", "tr a-z A-Z")
	s := r.tool(r.head(), func() {
		r.write("a.txt", "2\r\n")
		r.write("a.up", "OTHER\n")
	})
	require.Empty(t, r.back(r.head(), s.Tree))
	require.Equal(t, "1\r\n", r.disk()["a.txt"])
	require.Equal(t, "LOUD\n", r.disk()["a.up"])
	require.Equal(t, r.head(), r.snapshot(s.Tree, worktree.SnapshotOptions{}).Tree)
}

// A restored file is as it was when other attributes held.
func TestRestoreUnderTheAttributesThatArePutBack(t *testing.T) {
	for name, tt := range map[string]struct {
		rules     map[string]string // attribute files before; of the folder d, too
		edits     func(r *repo)
		file, was string
	}{
		"made":       {nil, func(r *repo) { r.write(".gitattributes", "* text=auto eol=crlf\n") }, "d/a.txt", "1\n2\n"},
		"made below": {nil, func(r *repo) { r.write("d/.gitattributes", "* text=auto eol=crlf\n") }, "d/a.txt", "1\n2\n"},
		"changed": {
			map[string]string{"d/.gitattributes": "*.txt text eol=lf\n"},
			func(r *repo) { r.write("d/.gitattributes", "*.txt text eol=crlf\n") }, "d/a.txt", "1\n2\n",
		},
		"removed": {
			map[string]string{".gitattributes": "*.txt text eol=crlf\n"},
			func(r *repo) { r.remove(".gitattributes") }, "d/a.txt", "1\r\n2\r\n",
		},
		"encoded": {nil, func(r *repo) { r.write(".gitattributes", "*.txt working-tree-encoding=ISO-8859-1\n") }, "d/a.txt", "h\u00e9\n"},
		"ident":   {nil, func(r *repo) { r.write(".gitattributes", "*.txt ident\n") }, "d/a.txt", "$Id$\n"},
		"with a folder": {
			map[string]string{"d/.gitattributes": "*.txt text eol=crlf\n"},
			func(r *repo) { r.remove("d"); r.write("d", "a file\n") }, "d/a.txt", "1\r\n2\r\n",
		},
		"the user's CRLF": {nil, func(r *repo) { r.write(".gitattributes", "*.txt text\n") }, "d/a.txt", "1\r\n2\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, tt.rules)
			r.write(tt.file, tt.was)
			r.git("add", "-A")
			r.git("commit", "-qm", "text")
			from := r.head()
			before := r.disk()
			s := r.tool(from, func() {
				tt.edits(r)
				if _, err := os.Stat(r.path(tt.file)); err == nil {
					r.write(tt.file, strings.Replace(tt.was, "2", "3", 1)+"4\n")
				}
			})
			require.Empty(t, r.back(from, s.Tree))
			require.Equal(t, before, r.disk())
		})
	}
}

// Git stores no line ends with these settings, and its checkout would choose them anew: the user's index
// tells the old ones.
func TestRestoreKeepsLineEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		autocrlf, attributes string
		before, after, want  string
	}{
		"input, CRLF":            {"input", "", "1\r\n2\r\n", "1\r\n3\r\n", "1\r\n2\r\n"},
		"input, LF":              {"input", "", "1\n2\n", "1\n3\n", "1\n2\n"},
		"input, no line end":     {"input", "", "1\n2\n", "3", "1\n2\n"},
		"input, made LF":         {"input", "", "1\r\n2\r\n", "1\n3\n", "1\r\n2\r\n"},
		"input, made CRLF":       {"input", "", "1\n2\n", "1\r\n3\r\n", "1\n2\n"},
		"input, was both":        {"input", "", "1\r\n2\n", "1\r\n3\n", "1\n2\n"},
		"true, LF":               {"true", "", "1\n2\n", "1\n3\n", "1\n2\n"},
		"true, was both":         {"true", "", "1\r\n2\n", "1\r\n3\n", "1\r\n2\r\n"},
		"eol=lf, made CRLF":      {"false", "*.txt text eol=lf\n", "1\n2\n", "1\r\n3\r\n", "1\n2\n"},
		"auto, made CRLF":        {"false", "* text=auto\n", "1\n2\n", "1\r\n3\r\n", "1\n2\n"},
		"input, both":            {"input", "", "1\n2\n", "1\n3\r\n", "1\n2\n"},
		"input, deleted":         {"input", "", "1\r\n2\r\n", "", "1\r\n2\r\n"},
		"plain, deleted":         {"false", "", "1\n2\n", "", "1\n2\n"},
		"text=auto, CRLF":        {"false", "*.txt text=auto\n", "1\r\n2\r\n", "1\r\n3\r\n", "1\r\n2\r\n"},
		"text, eol=lf, CRLF":     {"false", "*.txt text eol=lf\n", "1\r\n2\r\n", "1\r\n3\r\n", "1\r\n2\r\n"},
		"no text":                {"input", "*.txt -text\n", "1\n2\n", "1\r\n3\r\n", "1\n2\n"},
		"stored as they are":     {"false", "", "1\n2\n", "1\r\n3\r\n", "1\n2\n"},
		"true, written whole":    {"true", "", "1\r\n2\r\n", "1\n3\n", "1\r\n2\r\n"},
		"eol=crlf, made LF":      {"false", "*.txt text eol=crlf\n", "1\r\n2\r\n", "1\n3\n", "1\r\n2\r\n"},
		"input, binary, not CRs": {"input", "", "1\x00\n2\n", "1\r\n3\r\n", "1\x00\n2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{".gitattributes": tt.attributes})
			r.git("config", "core.autocrlf", tt.autocrlf)
			r.write("d/a.txt", tt.before)
			r.git("add", "-A")
			r.git("commit", "-qm", "text")
			from := r.head()
			s := r.tool(from, func() {
				if r.remove("d/a.txt"); tt.after != "" {
					r.write("d/a.txt", tt.after)
				}
			})
			require.Empty(t, r.back(from, s.Tree))
			require.Equal(t, tt.want, r.disk()["d/a.txt"])
			require.Equal(t, from, r.snapshot(s.Tree, worktree.SnapshotOptions{Named: []string{"d/a.txt"}}).Tree)
		})
	}
}

// A file that git decodes to store it has its line ends in two or four bytes.
func TestRestoreKeepsWideLineEnds(t *testing.T) {
	encode := func(text string, unit int, big bool) string {
		var b []byte
		for _, c := range text {
			n := make([]byte, unit)
			if big {
				n[unit-1], n[unit-2] = byte(c), byte(c>>8)
			} else {
				n[0], n[1] = byte(c), byte(c>>8)
			}
			b = append(b, n...)
		}
		return string(b)
	}
	for name, unit := range map[string]int{"UTF-16LE": 2, "UTF-16BE": 2, "UTF-32LE": 4, "UTF-32BE": 4, "UTF-16": 2} {
		for eol, text := range map[string]string{"CRLF": "1\r\n\u0a0d\u0d0a\r\n", "LF": "1\n\u0a0d\u0d0a\n", "CR": "1\r2\n"} {
			for _, autocrlf := range []string{"input", "true"} {
				t.Run(name+" "+eol+" "+autocrlf, func(t *testing.T) {
					was := encode(text, unit, strings.HasSuffix(name, "BE"))
					if name == "UTF-16" {
						was = "\xff\xfe" + was
						if out, err := exec.Command("sh", "-c", "printf a | iconv -f UTF-8 -t UTF-16 | head -c 1").Output(); err != nil || string(out) != "\xff" {
							t.Skip("the C library writes UTF-16 with the high byte first")
						}
					}
					r := newRepo(t, map[string]string{".gitattributes": "*.txt text working-tree-encoding=" + name + "\n"})
					r.git("config", "core.autocrlf", autocrlf)
					r.write("a.txt", was)
					r.git("add", "-A")
					r.git("commit", "-qm", "text")
					from := r.head()
					s := r.tool(from, func() {
						r.remove("a.txt")
						if name != "UTF-16" {
							r.write("a.txt", encode("3", unit, strings.HasSuffix(name, "BE")))
						}
					})
					require.Empty(t, r.back(from, s.Tree))
					require.Equal(t, was, r.disk()["a.txt"])
				})
			}
		}
	}
}

func TestRestoreKeepsPermissions(t *testing.T) {
	for name, tt := range map[string]struct {
		fileMode          string
		mode, after, want os.FileMode
	}{
		"as they were":         {"true", 0o644, 0o640, 0o640},
		"executable for few":   {"true", 0o711, 0o711, 0o711},
		"executable, as is":    {"true", 0o755, 0o751, 0o751},
		"executable once more": {"true", 0o755, 0o640, 0o750},
		"executable no more":   {"true", 0o644, 0o751, 0o640},
		"not recorded":         {"false", 0o644, 0o755, 0o755},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"a": "1\n"})
			r.git("config", "core.fileMode", tt.fileMode)
			require.NoError(t, os.Chmod(r.path("a"), tt.mode))
			r.git("commit", "-qam", "mode", "--allow-empty")
			s := r.tool(r.head(), func() {
				r.write("a", "2\n")
				require.NoError(t, os.Chmod(r.path("a"), tt.after))
			})
			require.Empty(t, r.back(r.head(), s.Tree))
			info, err := os.Stat(r.path("a"))
			require.NoError(t, err)
			require.Equal(t, tt.want, info.Mode())
		})
	}
}

func TestRestoreLeavesWhatItMustNotWrite(t *testing.T) {
	tests := map[string]struct {
		edits     func(r *repo)
		meanwhile func(r *repo)
		left      string // the path
		why       string
	}{
		"written just now": {
			edits:     func(r *repo) { r.write("a", "2\n") },
			meanwhile: func(r *repo) { r.remove("a"); r.write("a", "3\n") },
			left:      "a", why: "just now",
		},
		"written just now, and dated back": {
			edits:     func(r *repo) { r.write("a", "2\n") },
			meanwhile: func(r *repo) { r.dated("a", func() { r.write("a", "3\n") }) },
			left:      "a", why: "just now",
		},
		"replaced just now, and dated back": {
			edits:     func(r *repo) { r.write("a", "2\n") },
			meanwhile: func(r *repo) { r.dated("a", func() { r.write("b", "3\n"); r.rename("b", "a") }) },
			left:      "a", why: "just now",
		},
		"deleted just now": {
			edits:     func(r *repo) { r.write("a", "2\n") },
			meanwhile: func(r *repo) { r.remove("a") },
			left:      "a", why: "just now",
		},
		"made just now": {
			edits:     func(r *repo) { r.remove("a") },
			meanwhile: func(r *repo) { r.write("a", "3\n") },
			left:      "a", why: "no snapshot has",
		},
		"a folder in its place": {
			edits:     func(r *repo) { r.remove("a") },
			meanwhile: func(r *repo) { r.write("a/mine", "3\n") },
			left:      "a", why: "a folder is in its place",
		},
		"a link in place of its folder": {
			edits: func(r *repo) { r.remove("d/b") },
			meanwhile: func(r *repo) {
				require.NoError(r.t, os.Symlink(r.t.TempDir(), r.path("d")))
			},
			left: "d/b", why: "something other than a folder",
		},
		"a file in place of its folder": {
			edits:     func(r *repo) { r.remove("d/b") },
			meanwhile: func(r *repo) { r.write("d", "3\n") },
			left:      "d/b", why: "something other than a folder",
		},
		"jp's folder": {
			edits: func(r *repo) { r.write(".jp/config.toml", "x = 1\n") },
			left:  ".jp/config.toml", why: "protected",
		},
		"jp's folder in other letters": {
			edits: func(r *repo) { r.write("sub/.J\u200dP/config.toml", "x = 1\n") },
			left:  "sub/.J\u200dP/config.toml", why: "protected",
		},
		"a filter of the repository": {
			edits: func(r *repo) { r.write("a.bin", "2\n") },
			meanwhile: func(r *repo) {
				r.write(".git/info/attributes", "*.bin filter=evil\n")
				r.git("config", "filter.evil.smudge", "touch ran; cat")
			},
			left: "a.bin", why: "evil",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"a": "1\n", "d/b": "b\n", "a.bin": "1\n", "z": "1\n"})
			s := r.tool(r.head(), func() { tt.edits(r); r.write("z", "2\n"); os.Remove(r.path("d")) })
			puts := r.puts(r.head(), s.Tree)
			var want map[string]string
			left := r.restore(puts, func() {
				if tt.meanwhile != nil {
					tt.meanwhile(r)
				}
				want = r.disk()
			})
			require.Equal(t, []string{tt.left}, leftPaths(left))
			require.Contains(t, left[0].Why, tt.why)
			want["z"] = "1\n"
			require.Equal(t, want, r.disk(), "the others are put back, and nothing else")
		})
	}
}

// A copy of large content takes its time: another program's write meanwhile stays, and the copy goes.
func TestRestoreLeavesWhatIsWrittenDuringTheCopy(t *testing.T) {
	for name, tt := range map[string]struct {
		edits func(r *repo)
		why   string
	}{
		"written": {func(r *repo) { r.write("d/a", "2\n") }, "just now"},
		"made":    {func(r *repo) { r.remove("d/a") }, "no snapshot has"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"d/a": "1\n", "d/b": "1\n"})
			s := r.tool(r.head(), func() { tt.edits(r) })
			seen, copies := r.w.StatAll([]string{"d/a"}), 0
			r.w.OnFlush(func(string) {
				copies++
				r.write("d/a", "the user's\n")
			})
			left, err := r.w.Restore(t.Context(), r.puts(r.head(), s.Tree), seen, nil)
			require.NoError(t, err)
			require.Equal(t, 1, copies)
			require.Equal(t, []string{"d/a"}, leftPaths(left))
			require.Contains(t, left[0].Why, tt.why)
			require.Equal(t, map[string]string{"d/a": "the user's\n", "d/b": "1\n"}, without(r.disk(), "README.md"))
		})
	}
}

func TestRestoreRefusesProtectedPlaces(t *testing.T) {
	r := newRepo(t, map[string]string{"conf/own": "1\n", "state/key": "1\n", "z": "1\n"})
	s := r.tool(r.head(), func() {
		r.write("conf/own", "2\n")
		r.write("state/key", "2\n")
		r.write("z", "2\n")
	})
	left := r.restore(r.puts(r.head(), s.Tree), nil, r.path("conf/own"), r.path("state"), "/nowhere/at/all")
	require.Equal(t, []string{"conf/own", "state/key"}, leftPaths(left))
	require.False(t, left[0].Failed, "it is left on purpose")
	require.Equal(t, map[string]string{"conf/own": "2\n", "state/key": "2\n", "z": "1\n"}, without(r.disk(), "README.md"))
}

// A folder that became a repository since then has an owner of its own.
func TestRestoreLeavesOtherRepositories(t *testing.T) {
	for name, make := range map[string]string{
		"a repository": "git init -q d",
		"a worktree":   "git worktree add -q -f --detach w; mv w/.git d/.git",
		"a submodule":  "mkdir .git/modules; git init -q --separate-git-dir .git/modules/d d",
		"deeper":       "mkdir -p d/e; git init -q d/e",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"d/e/changed": "1\n", "d/e/deleted": "1\n", "d.txt": "1\n"})
			s := r.tool(r.head(), func() {
				r.write("d/e/changed", "2\n")
				r.remove("d/e/deleted")
				r.write("d/e/new", "2\n")
				r.write("d.txt", "2\n")
			})
			r.shell(make)
			left := r.back(r.head(), s.Tree)
			require.Equal(t, []string{"d/e/changed", "d/e/deleted", "d/e/new"}, leftPaths(left))
			folder := "d"
			if name == "deeper" {
				folder = "d/e"
			}
			for _, l := range left {
				require.Equal(t, `its folder "`+folder+`" is a repository of its own now`, l.Why)
				require.False(t, l.Failed, "it is left on purpose")
			}
			require.Equal(t, "1\n", r.disk()["d.txt"])
			require.Equal(t, "2\n", r.disk()["d/e/changed"])
			require.FileExists(t, r.path("d/e/new"))
			require.NoFileExists(t, r.path("d/e/deleted"))
		})
	}
}

func TestRestoreNeverLeavesTheWorkingTree(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	blob := worktree.Version{Mode: "100644", OID: r.git("rev-parse", "HEAD:a")}
	before := r.disk()
	for _, path := range []string{"../out", "/tmp/out", "a/../../out", ".git/config", ".GIT/hooks/x", "d/.git ./x", "git~1/x", ".git::$INDEX_ALLOCATION/x", ""} {
		left := r.restore([]worktree.WriteOp{{Path: path, To: blob}}, nil)
		require.Equal(t, []string{path}, leftPaths(left))
		require.Equal(t, before, r.disk())
	}
}

func TestRestoreOfContentThatIsMissing(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n"})
	s := r.tool(r.head(), func() { r.write("a", "2\n"); r.write("b", "2\n") })
	puts := r.puts(r.head(), s.Tree)
	puts[0].To.OID = strings.Repeat("12", gitcmd.ObjectFormat(gitenv.ObjectFormat()).Size())
	left := r.restore(puts, nil)
	require.Equal(t, []string{"a"}, leftPaths(left))
	require.True(t, left[0].Failed, "nobody has chosen to leave it")
	require.Equal(t, map[string]string{"a": "2\n", "b": "1\n"}, without(r.disk(), "README.md"))
}

// The next restore removes the files of killed ones, at once.
func TestRestoreTidiesUp(t *testing.T) {
	r := newRepo(t, map[string]string{"d/a": "1\n", "d/b": "1\n"})
	s := r.tool(r.head(), func() { r.write("d/a", "2\n"); r.write("d/b", "2\n") })
	puts := r.puts(r.head(), s.Tree)
	const old, young, other = "d/.jp-restore-restore-1", "d/.jp-restore-restore-2", "d/.jp-restore-restore-3"
	for _, name := range []string{old, young, other, "d/.jp-restore-mine"} {
		r.write(name, "half")
	}
	long := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(r.path(old), long, long))
	stage := r.path(".git/jp/restore-2")
	require.NoError(t, os.MkdirAll(filepath.Join(stage, "files"), 0o700))
	left, err := r.w.Restore(t.Context(), puts, r.w.StatAll([]string{"d/a", "d/b"}), nil)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoDirExists(t, stage)
	require.Equal(t, map[string]string{
		"d/a": "1\n", "d/b": "1\n", "d/.jp-restore-mine": "half",
		other: "half", // another repository that has these files may be at work
	}, without(r.disk(), "README.md"))
}

func TestRestoreLeavesSubmodules(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	link := worktree.Version{Mode: "160000", OID: r.git("rev-parse", "HEAD")}
	left := r.restore([]worktree.WriteOp{{Path: "sub", Is: link}, {Path: "other", To: link}}, nil)
	require.Equal(t, []string{"other", "sub"}, leftPaths(left))
}

func without(files map[string]string, name string) map[string]string {
	delete(files, name)
	return files
}

// More files than a command line could name.
func TestRestoreKeepsLineEndsOfManyFiles(t *testing.T) {
	files := map[string]string{}
	for i := range 210 {
		files[fmt.Sprintf("d/%d.txt", i)] = "1\r\n2\r\n"
	}
	r := newRepo(t, nil)
	r.git("config", "core.autocrlf", "input")
	for name, text := range files {
		r.write(name, text)
	}
	r.git("add", "-A")
	r.git("commit", "-qm", "many")
	before := r.disk()
	s := r.tool(r.head(), func() {
		for name := range files {
			r.write(name, "3\n")
		}
	})
	require.Empty(t, r.back(r.head(), s.Tree))
	require.Equal(t, before, r.disk())
}

func TestRestoreOfAFileWithSeveralNames(t *testing.T) {
	for name, tt := range map[string]struct {
		edits     func(r *repo)
		meanwhile func(r *repo)
		left      []string
		want      map[string]string
	}{
		"written": {
			edits: func(r *repo) { r.write("a", "2\n") },
			want:  map[string]string{"a": "1\n", "b": "1\n", "c": "1\n", "d": "1\n"},
		},
		"made": {
			edits: func(r *repo) {
				for _, path := range []string{"a", "b", "c"} {
					r.remove(path)
				}
				r.write("a", "2\n")
				require.NoError(r.t, os.Link(r.path("a"), r.path("b")))
			},
			want: map[string]string{"a": "1\n", "b": "1\n", "c": "1\n", "d": "1\n"},
		},
		"removed": {
			edits: func(r *repo) {
				r.write("d", "2\n")
				require.NoError(r.t, os.Link(r.path("d"), r.path("e")))
				r.git("add", "e")
				require.NoError(r.t, os.Link(r.path("d"), r.path("f")))
				r.git("add", "f")
			},
			want: map[string]string{"a": "1\n", "b": "1\n", "c": "1\n", "d": "1\n"},
		},
		"written meanwhile": {
			edits:     func(r *repo) { r.write("a", "2\n") },
			meanwhile: func(r *repo) { r.write("b", "three\n") },
			left:      []string{"a", "b", "c"},
			want:      map[string]string{"a": "three\n", "b": "three\n", "c": "three\n", "d": "1\n"},
		},
		"one replaced meanwhile": {
			edits:     func(r *repo) { r.write("a", "2\n"); r.write("d", "2\n") },
			meanwhile: func(r *repo) { r.remove("d"); r.write("d", "3\n") },
			left:      []string{"d"},
			want:      map[string]string{"a": "1\n", "b": "1\n", "c": "1\n", "d": "3\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"a": "1\n", "d": "1\n"})
			require.NoError(t, os.Link(r.path("a"), r.path("b")))
			require.NoError(t, os.Link(r.path("a"), r.path("c")))
			r.git("add", "-A")
			r.git("commit", "-qm", "linked")
			s := r.tool(r.head(), func() { tt.edits(r) })
			puts := r.puts(r.head(), s.Tree)
			left := r.restore(puts, func() {
				if tt.meanwhile != nil {
					tt.meanwhile(r)
				}
			})
			require.Equal(t, tt.left, leftPaths(left))
			require.Equal(t, tt.want, without(r.disk(), "README.md"))
		})
	}
}

// ending is a context that has ended as soon as something is so.
type ending struct {
	context.Context
	ended func() bool
}

func (e ending) Err() error {
	if e.ended() {
		return context.Canceled
	}
	return nil
}

func TestRestoreStopsBetweenTwoFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		at   string // the path after which it ends
		left []string
		want map[string]string
	}{
		"at once":       {"README.md", nil, map[string]string{".gitattributes": "2\n", "a": "2\n", "b": "2\n", "new": "n\n"}},
		"a removal":     {"new", []string{".gitattributes", "a", "b"}, map[string]string{".gitattributes": "2\n", "a": "2\n", "b": "2\n"}},
		"the rules":     {".gitattributes", []string{"a", "b"}, map[string]string{".gitattributes": "1\n", "a": "2\n", "b": "2\n"}},
		"one of them":   {"a", []string{"b"}, map[string]string{".gitattributes": "1\n", "a": "1\n", "b": "2\n"}},
		"the last file": {"b", nil, map[string]string{".gitattributes": "1\n", "a": "1\n", "b": "1\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{".gitattributes": "1\n", "a": "1\n", "b": "1\n"})
			s := r.tool(r.head(), func() {
				for _, path := range []string{".gitattributes", "a", "b"} {
					r.write(path, "2\n")
				}
				r.write("new", "n\n")
			})
			puts := r.puts(r.head(), s.Tree)
			was, _ := os.ReadFile(r.path(tt.at))
			ctx := ending{context.Background(), func() bool {
				is, _ := os.ReadFile(r.path(tt.at))
				return tt.at == "README.md" || string(is) != string(was)
			}}
			left, err := r.w.Restore(ctx, puts, r.w.StatAll([]string{".gitattributes", "a", "b", "new"}), nil)
			require.Equal(t, tt.at == "README.md", errors.Is(err, context.Canceled), "nothing was written")
			require.Equal(t, tt.left, leftPaths(left))
			for _, l := range left {
				require.Equal(t, worktree.Skipped{Path: l.Path, Why: worktree.WhyStopped}, l)
			}
			require.Equal(t, tt.want, without(r.disk(), "README.md"))
		})
	}
}
