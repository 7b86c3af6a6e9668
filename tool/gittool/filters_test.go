package gittool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
)

const plain = "the password is swordfish\n"

// secretive is a repository with files that a filter of its own encrypts: a.key is
// committed, and changed since; b.key is committed and as it was.
func secretive(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.git("config", "filter.crypt.clean", "tr a-z n-za-m")
	f.git("config", "filter.crypt.smudge", "tr a-z n-za-m")
	f.git("config", "filter.crypt.required", "true")
	f.write(".gitattributes", "*.key filter=crypt\n")
	f.write("a.key", "old "+plain)
	f.write("b.key", plain)
	f.write("sub/c.key", plain)
	old := time.Now().Add(-time.Hour) // git looks into files that are as new as its index
	for _, name := range []string{"a.key", "b.key", "sub/c.key"} {
		require.NoError(t, os.Chtimes(filepath.Join(f.dir, name), old, old))
	}
	f.git("add", ".")
	f.git("commit", "-qm", "secrets")
	f.write("a.key", "new "+plain)
	f.write("main.go", "package main\n")
	f.open()
	return f
}

// holds reports whether any object of the repository has a text, under any name.
func (f *fixture) holds(text string) bool {
	f.Helper()
	for line := range strings.Lines(f.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")) {
		oid, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "blob" && strings.Contains(f.git("cat-file", "blob", oid), text) {
			return true
		}
	}
	return false
}

const ownFails = "the user's own that fails"

// The content stays out of all objects, however the filter is lost and the file is named.
func TestNothingIsStoredWithoutItsFilter(t *testing.T) {
	for name, prepare := range map[string]func(f *fixture){
		"the repository's own":     func(*fixture) {},
		"not required":             func(f *fixture) { f.git("config", "filter.crypt.required", "false") },
		"a process":                func(f *fixture) { f.git("config", "filter.crypt.process", "false") },
		"not configured":           func(f *fixture) { f.git("config", "--remove-section", "filter.crypt") },
		"not configured any more":  func(f *fixture) { f.git("config", "filter.crypt.clean", "") },
		"no attributes any more":   func(f *fixture) { f.remove(".gitattributes") },
		"other attributes":         func(f *fixture) { f.write(".gitattributes", "*.key text\n") },
		"attributes of the folder": func(f *fixture) { f.write(".gitattributes", "*.key filter=crypt\n/*.key -filter\nsub/*.key !filter\n") },
		"nested attributes":        func(f *fixture) { f.write("sub/.gitattributes", "*.key -filter\n"); f.write("sub/c.key", "new "+plain) },
		"info/attributes":          func(f *fixture) { f.write(".git/info/attributes", "*.key -filter\n") },
		"a macro":                  func(f *fixture) { f.write(".gitattributes", "[attr]open -filter\n*.key filter=crypt\n*.key open\n") },
		"another filter that runs": func(f *fixture) {
			f.git("config", "--global", "filter.cat.clean", "cat")
			f.write(".gitattributes", "*.key filter=cat\n")
		},
		"attributes not in the tree": func(f *fixture) { f.git("rm", "-q", "--cached", ".gitattributes"); f.remove(".gitattributes") },
		"one of a linked worktree": func(f *fixture) {
			f.git("config", "--remove-section", "filter.crypt")
			f.git("config", "extensions.worktreeConfig", "true")
			f.git("config", "--worktree", "filter.crypt.clean", "tr a-z n-za-m")
		},
		"one of an included file": func(f *fixture) {
			f.git("config", "--remove-section", "filter.crypt")
			f.write("../more", "[filter \"crypt\"]\n\tclean = tr a-z n-za-m\n")
			f.git("config", "include.path", filepath.Join(filepath.Dir(f.dir), "more"))
		},
		"one that the user's configuration includes from here": func(f *fixture) {
			f.git("config", "--remove-section", "filter.crypt")
			f.write("filters", "[filter \"crypt\"]\n\tclean = cat\n")
			f.git("config", "--global", "include.path", filepath.Join(f.dir, "filters"))
		},
		ownFails: func(f *fixture) {
			f.git("config", "--remove-section", "filter.crypt")
			f.git("config", "--global", "filter.crypt.clean", "false")
		},
		"files that look untouched": func(f *fixture) {
			now := time.Now().Add(time.Hour)
			require.NoError(f, os.Chtimes(filepath.Join(f.dir, "b.key"), now, now))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := secretive(t)
			prepare(f)
			for _, paths := range [][]string{{"."}, {"a.key"}, {"sub"}, {"a.key", "main.go"}, {"sub/c.key"}, {"new.key"}, nil} {
				f.write("new.key", plain)
				f.changed = []string{"a.key", "new.key", "main.go"}
				f.run("git_commit", arguments{"message": "x", "paths": paths})
				require.False(t, f.holds("swordfish"), "%v", paths)
			}
			f.run("git_commit", arguments{"message": "x", "paths": []string{".gitattributes"}})
			f.run("git_commit", arguments{"message": "x", "paths": []string{"sub/.gitattributes"}})
			f.run("git_commit", arguments{"message": "x", "paths": []string{"."}})
			f.write("d.key", plain)
			f.run("git_commit", arguments{"message": "x", "paths": []string{"d.key"}})
			if name != ownFails { // git then shows the same as to the user
				require.NotContains(t, string(f.run("git_diff", nil).Content), "swordfish")
			}
			require.False(t, f.holds("swordfish"))
			require.Equal(t, "gur cnffjbeq vf fjbeqsvfu", f.git("show", "HEAD:b.key"))
		})
	}
}

func TestFilesWithoutTheirFilterAreNamed(t *testing.T) {
	f := secretive(t)
	const why = "needs the filter crypt, which only this repository configures"
	text := f.refused("git_commit", arguments{"message": "x", "paths": []string{"a.key", "b.key", "main.go"}})
	require.Equal(t, "a.key, b.key without its filter is not what belongs into a commit\n\nNothing was committed:\n  a.key: "+why+"\n  b.key: "+why+"\n", text)
	require.Contains(t, f.git("status", "--short"), "?? main.go", "the index is as it was")

	result := f.done("git_commit", arguments{"message": "x", "paths": []string{"."}})
	require.Contains(t, result.Effect, ", 1 file, 1 left out")
	require.Contains(t, string(result.Content), "\nmain.go\n\nNot committed:\n  a.key: "+why+"\n")
	require.Equal(t, " M a.key", f.git("status", "--short"))

	result = f.done("git_status", nil)
	require.Equal(t, "## main\n\nLeft out, whether they have changed or not:\n  a.key: "+why+"\n", string(result.Content))
	require.Contains(t, string(f.done("git_diff", nil).Content), "[no changes]\n\nLeft out, whether they have changed or not:\n  a.key: ")
	require.NotContains(t, string(f.done("git_diff", arguments{"staged": true}).Content), "Left out")
	require.Contains(t, f.refused("git_commit", arguments{"message": "x", "paths": []string{"."}}), "nothing to commit: ")
}

// jp cannot tell whether staged content went through a filter that jp refuses to run.
func TestStagedFilesMayLackTheirFilter(t *testing.T) {
	for name, add := range map[string][]string{
		"converted": {"add", "a.key"},
		"plain":     {"-c", "filter.crypt.clean=cat", "add", "a.key"},
	} {
		t.Run(name, func(t *testing.T) {
			f := secretive(t)
			head := f.git("rev-parse", "HEAD")
			f.git(add...)
			require.Contains(t, f.refused("git_commit", arguments{"message": "x", "staged": true}), "Nothing was committed:\n  a.key: needs the filter crypt")
			require.Equal(t, head, f.git("rev-parse", "HEAD"))
		})
	}
}

func TestFilesThatAreGoneNeedNoFilter(t *testing.T) {
	f := secretive(t)
	f.remove("b.key")
	f.done("git_commit", arguments{"message": "x", "paths": []string{"b.key"}})
	require.NotContains(t, f.git("ls-files"), "b.key", "what is gone needs no filter")
}

func TestFiltersThatRun(t *testing.T) {
	for name, prepare := range map[string]func(f *fixture){
		"the user's own": func(f *fixture) {
			for _, key := range []string{"clean", "smudge"} {
				f.git("config", "--global", "filter.crypt."+key, "tr a-z n-za-m")
			}
			f.git("config", "--remove-section", "filter.crypt")
		},
		"the same in both": func(f *fixture) {
			for _, key := range []string{"clean", "smudge"} {
				f.git("config", "--global", "filter.crypt."+key, "tr a-z n-za-m")
			}
		},
		"approved": func(f *fixture) {
			f.mayRun = func(_ gitcmd.Repository, filter gitcmd.Filter) error {
				if filter.Name == "crypt" && filter.Clean == "tr a-z n-za-m" {
					return nil
				}
				return gitcmd.ErrForeignFilter
			}
		},
		"in the environment": func(f *fixture) {
			f.git("config", "--remove-section", "filter.crypt")
			f.Setenv("GIT_CONFIG_COUNT", "1")
			f.Setenv("GIT_CONFIG_KEY_0", "filter.crypt.clean")
			f.Setenv("GIT_CONFIG_VALUE_0", "tr a-z n-za-m")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := secretive(t)
			prepare(f)
			f.open()
			f.done("git_commit", arguments{"message": "x", "paths": []string{"."}})
			require.Equal(t, "arj gur cnffjbeq vf fjbeqsvfu", f.git("show", "HEAD:a.key"))
			require.False(t, f.holds("swordfish"))
			require.Equal(t, "## main\n", string(f.done("git_status", nil).Content))
		})
	}
}

func (f *fixture) remove(name string) {
	f.Helper()
	require.NoError(f, os.Remove(filepath.Join(f.dir, name)))
}

// Each file of a commit fits the commit's own attributes.
func TestFilesThatLostTheirEncoding(t *testing.T) {
	f := newFixture(t)
	const wide = "a\x00\n\x00"
	f.write(".gitattributes", "*.rc working-tree-encoding=UTF-16LE\n*.txt text\n")
	f.write("a.rc", wide)
	f.write("a.txt", "a\r\n")
	f.git("add", ".")
	f.git("commit", "-qm", "two")
	f.open()
	f.write(".gitattributes", "*.go text\n")
	f.write("a.rc", wide+wide)
	f.write("a.txt", "b\r\n")
	f.write("main.go", "package main\n")
	head := f.git("rev-parse", "HEAD")
	const why = " in the attributes of HEAD, and not here: commit the changed .gitattributes with it, or put that back\n"
	require.Equal(t, "a.rc, a.txt would not match the attributes of the commit\n\nNothing was committed:\n  a.rc: has working-tree-encoding=UTF-16LE"+why+"  a.txt: has text"+why,
		f.refused("git_commit", arguments{"message": "x", "paths": []string{"a.rc", "a.txt", "main.go"}}))
	require.Equal(t, head, f.git("rev-parse", "HEAD"))

	f.changed = []string{"a.rc", "main.go"}
	result := f.done("git_commit", arguments{"message": "x"})
	require.Contains(t, string(result.Content), "Not committed:\n  a.rc: has working-tree-encoding=UTF-16LE")
	require.Equal(t, "main.go", f.git("show", "--format=", "--name-only", "HEAD"))

	f.done("git_commit", arguments{"message": "x", "paths": []string{"a.rc", "a.txt", ".gitattributes"}})
	require.Equal(t, ".gitattributes\na.rc\na.txt", f.git("show", "--format=", "--name-only", "HEAD"))
	require.Empty(t, f.git("status", "--short"))
}
