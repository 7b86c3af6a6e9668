package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// indexFormat is the format of the repositories of these tests.
var indexFormat = gitcmd.ObjectFormat(gitenv.ObjectFormat())

// indexOf is the index of a repository, read.
func indexOf(t testing.TB, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	require.NoError(t, err)
	return data
}

// asGitSays are the entries in the words of git ls-files --debug.
func asGitSays(entries []indexEntry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%o %d\t%s\n", e.Mode, e.Stage, e.Path)
		fmt.Fprintf(&b, "  ctime: %d:%d\n  mtime: %d:%d\n", e.Ctime.Sec, e.Ctime.Nsec, e.Mtime.Sec, e.Mtime.Nsec)
		fmt.Fprintf(&b, "  ino: %d\n  uid: %d\tgid: %d\n  size: %d\n", e.Inode, e.UID, e.GID, e.Size)
	}
	return b.String()
}

// gitSays is the same of git.
func gitSays(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(gitenv.Git(t, dir, "-c", "core.quotePath=false", "ls-files", "--stage", "--debug") + "\n") {
		switch fields := strings.Fields(line); {
		case len(fields) == 0:
		case strings.HasPrefix(line, "  dev:"):
			fmt.Fprintf(&b, "  ino: %s\n", fields[3])
		case strings.HasPrefix(line, "  size:"):
			fmt.Fprintf(&b, "  size: %s\n", fields[1])
		case strings.HasPrefix(line, "  "):
			b.WriteString(line)
		default:
			fmt.Fprintf(&b, "%s %s", fields[0], fields[2]+line[strings.IndexByte(line, '\t'):])
		}
	}
	return b.String()
}

// indexFiles makes a repository with some of every kind.
func indexFiles(t testing.TB) string {
	t.Helper()
	dir := gitenv.Repo(t)
	long := strings.Repeat(strings.Repeat("long", 50)+"/", 19) + "name" // of more bytes than the flags can say
	for _, name := range []string{"a", "b c", "d/a", "d/ab", "d/e/f", "e", "\u00e9", "dd", strings.Repeat("x", 61)} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o644))
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "e"), 0o755))
	require.NoError(t, os.Symlink("a", filepath.Join(dir, "link")))
	gitenv.Git(t, dir, "add", "-A")
	gitenv.Git(t, dir, "update-index", "--add", "--cacheinfo", "100644,"+gitenv.Git(t, dir, "hash-object", "-w", "a")+","+strings.Repeat(long+"/", 2)+"z")
	return dir
}

func TestIndexIsWhatGitReads(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		for name, do := range map[string]func(git func(args ...string) string){
			"plain":       func(func(...string) string) {},
			"to be added": func(git func(...string) string) { git("rm", "-q", "--cached", "a"); git("add", "-N", "a") },
			"assumed":     func(git func(...string) string) { git("update-index", "--assume-unchanged", "d/a") },
			"skipped":     func(git func(...string) string) { git("update-index", "--skip-worktree", "d/a") },
			"a commit":    func(git func(...string) string) { git("commit", "-qm", "x") },
			"a conflict": func(git func(...string) string) {
				sides := []string{"read-tree", "-i", "-m"}
				for _, content := range []string{"b c", "e", "dd"} {
					git("update-index", "--cacheinfo", "100644,"+git("hash-object", "-w", content)+",a")
					sides = append(sides, git("write-tree"))
				}
				git("read-tree", "--empty")
				git(sides...)
			},
			"empty": func(git func(...string) string) { git("read-tree", "--empty") },
			"caches": func(git func(...string) string) {
				git("update-index", "--force-untracked-cache")
				git("commit", "-qm", "x")
				git("status")
			},
			"in parts": func(git func(...string) string) {
				git("config", "index.threads", "4")
				git("-c", "index.recordEndOfIndexEntries=true", "-c", "index.recordOffsetTable=true", "update-index", "--force-write-index")
			},
			"no checksum": func(git func(...string) string) {
				git("-c", "index.skipHash=true", "update-index", "--force-write-index")
			},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				dir := indexFiles(t)
				git := func(args ...string) string { t.Helper(); return gitenv.Git(t, dir, args...) }
				git("update-index", "--index-version", version)
				do(git)
				entries, err := parseIndex(indexOf(t, dir), indexFormat.Size())
				require.NoError(t, err)
				require.Equal(t, strings.TrimSpace(gitSays(t, dir)), strings.TrimSpace(asGitSays(entries)))
				for _, e := range entries {
					require.Equal(t, name == "skipped" && string(e.Path) == "d/a", e.Skip, "%s", e.Path)
					made := len(e.Path) > 4096 || name == "a conflict" // of names alone, without data
					require.Equal(t, made || name == "to be added" && string(e.Path) == "a", e.Open, "%s", e.Path)
				}
			})
		}
	}
}

func TestIndexRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string) []byte
		want error
	}{
		"split": {func(t *testing.T, dir string) []byte {
			gitenv.Git(t, dir, "update-index", "--split-index")
			return indexOf(t, dir)
		}, errIndexUnsupported},
		"sparse": {func(t *testing.T, dir string) []byte {
			gitenv.Git(t, dir, "commit", "-qm", "x")
			gitenv.Git(t, dir, "sparse-checkout", "set", "--cone", "--sparse-index", "none")
			return indexOf(t, dir)
		}, errIndexUnsupported},
		"newer": {func(t *testing.T, dir string) []byte {
			data := indexOf(t, dir)
			data[7] = 5
			return data
		}, errIndexUnsupported},
		"an unknown extension": {func(t *testing.T, dir string) []byte {
			data := indexOf(t, dir)
			end, sum := len(data)-indexFormat.Size(), make([]byte, indexFormat.Size())
			return append(append(data[:end:end], "NEWS\x00\x00\x00\x00"...), sum...)
		}, errIndexUnsupported},
		"too many entries": {func(t *testing.T, dir string) []byte {
			data := indexOf(t, dir)
			data[8] = 0xff
			return data
		}, errIndexMalformed},
		"another file": {func(*testing.T, string) []byte { return make([]byte, 100) }, errIndexMalformed},
		"nothing":      {func(*testing.T, string) []byte { return nil }, errIndexMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseIndex(c.do(t, indexFiles(t)), indexFormat.Size())
			require.ErrorIs(t, err, c.want)
		})
	}
}

// An indexOf that is cut off anywhere is refused.
func TestIndexRefusesAPart(t *testing.T) {
	for _, version := range []string{"2", "4"} {
		dir := indexFiles(t)
		gitenv.Git(t, dir, "update-index", "--index-version", version)
		data := indexOf(t, dir)
		whole, err := parseIndex(data, indexFormat.Size())
		require.NoError(t, err)
		require.Len(t, whole, 12)
		for n := range len(data) - 20 {
			entries, err := parseIndex(append(data[:n:n], make([]byte, indexFormat.Size())...), indexFormat.Size())
			if err == nil { // cut behind the entries, at the beginning of an extension
				require.Equal(t, whole, entries, "%d of %d bytes", n, len(data))
				continue
			}
			require.ErrorIs(t, err, errIndexMalformed, "%d of %d bytes", n, len(data))
		}
	}
}

func FuzzIndex(f *testing.F) {
	dir := indexFiles(f)
	for _, version := range []string{"2", "3", "4"} {
		gitenv.Git(f, dir, "update-index", "--index-version", version)
		f.Add(indexOf(f, dir))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseIndex(data, indexFormat.Size())
		if err != nil {
			return
		}
		require.LessOrEqual(t, 62*len(entries), len(data))
		for _, e := range entries {
			require.NotEmpty(t, e.Path)
			require.NotContains(t, string(e.Path), "\x00")
		}
	})
}
