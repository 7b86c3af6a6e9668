package trees_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/gitstore/trees"
	"jp/internal/testing/gitenv"
)

// An implementation is one way to read trees, for one object format.
type implementation struct {
	name, format string
	open         func(t *testing.T, dir string) trees.Reader
}

var implementations = []implementation{
	{"go-git", "sha1", func(t *testing.T, dir string) trees.Reader {
		db, err := odb.Open(dir+"/.git", odb.Options{Git: gitcmd.New(dir, gitcmd.Options{})})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return trees.NewGoGit(objects{db})
	}},
	{"git", "sha1", openGit},
	{"git", "sha256", openGit},
}

func openGit(_ *testing.T, dir string) trees.Reader {
	return trees.NewGit(gitcmd.New(dir, gitcmd.Options{}))
}

// objects reads as a store does.
type objects struct{ db *odb.Store }

func (o objects) ReadObject(oid string) (kind string, data []byte, err error) {
	return o.db.ReadObject(odb.OID(oid))
}

// A scene is a repository under test, with a Reader for it.
type scene struct {
	trees.Reader
	t   *testing.T
	dir string
	hex int // digits of an object's name
}

// each runs a test with every implementation.
func each(t *testing.T, test func(t *testing.T, s *scene)) {
	t.Helper()
	for _, i := range implementations {
		t.Run(i.name+" "+i.format, func(t *testing.T) {
			gitenv.Isolate(t)
			s := &scene{t: t, dir: t.TempDir(), hex: 40}
			if i.format == "sha256" {
				s.hex = 64
			}
			gitenv.Git(t, s.dir, "init", "-q", "--object-format="+i.format)
			s.Reader = i.open(t, s.dir)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			test(t, s)
		})
	}
}

// feed runs git with an input.
func (s *scene) feed(input string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(s.t, err, stderr.String())
	return strings.TrimSpace(string(out))
}

func (s *scene) blob(content string) string {
	s.t.Helper()
	return s.feed(content, "hash-object", "-w", "--stdin")
}

// entry is "MODE OID" of a name.
type entry struct{ mode, oid, name string }

// raw writes a tree as it is, even if git would refuse it.
func (s *scene) raw(entries ...entry) string {
	s.t.Helper()
	var text strings.Builder
	for _, e := range entries {
		digest, err := hex.DecodeString(e.oid)
		require.NoError(s.t, err)
		fmt.Fprintf(&text, "%s %s\x00%s", e.mode, e.name, digest)
	}
	return s.bytes(text.String())
}

func (s *scene) bytes(tree string) string {
	s.t.Helper()
	return s.feed(tree, "hash-object", "-t", "tree", "--literally", "-w", "--stdin")
}

func (s *scene) absent(digit string) string { return strings.Repeat(digit, s.hex) }

func (s *scene) diff(before, after string) []string {
	s.t.Helper()
	changes, err := s.DiffTrees(s.t.Context(), before, after)
	require.NoError(s.t, err)
	lines := []string{}
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf("%s>%s %s %+q", c.Before.Mode, c.After.Mode, s.moved(c), c.Path))
	}
	return lines
}

// gitDiff is diff as git itself says it.
func (s *scene) gitDiff(before, after string) []string {
	s.t.Helper()
	lines := []string{}
	fields := strings.Split(s.feed("", "diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", "--ignore-submodules=none", before, after), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Split(strings.TrimPrefix(fields[i], ":"), " ")
		moved := "other"
		if words[2] == words[3] {
			moved = "same"
		}
		modes := strings.ReplaceAll(words[0]+">"+words[1], "000000", "")
		lines = append(lines, fmt.Sprintf("%s %s %+q", modes, moved, fields[i+1]))
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(pathOf(a), pathOf(b)) })
	return lines
}

// pathOf is the path at the end of a line, without quotes.
func pathOf(line string) string {
	path, err := strconv.Unquote(line[strings.IndexByte(line, '"'):])
	if err != nil {
		panic(err)
	}
	return path
}

// moved says of a change whether the content is another one.
func (s *scene) moved(c trees.Change) string {
	if c.Before.OID == c.After.OID {
		return "same"
	}
	return "other"
}

func TestDiffTrees(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one, two, commit, other := s.blob("one\n"), s.blob("two\n"), s.absent("1"), s.absent("2")
		empty := s.feed("", "mktree")
		folder := s.raw(entry{"100644", one, "x"}, entry{"100644", two, "y"})
		folder2 := s.raw(entry{"100644", two, "x"}, entry{"100644", two, "y"})
		holder := s.raw(entry{"40000", folder, "deep"}, entry{"100644", one, "z"})
		for _, c := range []struct {
			name          string
			before, after []entry
			want          []string
		}{
			{"nothing", []entry{{"100644", one, "a"}}, []entry{{"100644", one, "a"}}, nil},
			{"added, changed, deleted", []entry{{"100644", one, "b"}, {"100644", one, "c"}}, []entry{{"100644", two, "a"}, {"100644", two, "b"}},
				[]string{`>100644 other "a"`, `100644>100644 other "b"`, `100644> other "c"`}},
			{"renamed", []entry{{"100644", one, "old"}}, []entry{{"100644", one, "new"}}, []string{`>100644 other "new"`, `100644> other "old"`}},
			{"folder renamed", []entry{{"40000", folder, "old"}}, []entry{{"40000", folder, "new"}},
				[]string{`>100644 other "new/x"`, `>100644 other "new/y"`, `100644> other "old/x"`, `100644> other "old/y"`}},
			{"executable", []entry{{"100644", one, "a"}}, []entry{{"100755", one, "a"}}, []string{`100644>100755 same "a"`}},
			{"old modes of files", []entry{{"100664", one, "a"}, {"100600", one, "b"}}, []entry{{"100644", one, "a"}, {"100775", one, "b"}}, []string{`100644>100755 same "b"`}},
			{"mode with a leading zero", []entry{{"40000", folder, "a"}}, []entry{{"040000", folder2, "a"}}, []string{`100644>100644 other "a/x"`}},
			{"file to link", []entry{{"100644", one, "a"}}, []entry{{"120000", one, "a"}}, []string{`100644>120000 same "a"`}},
			{"link to another place", []entry{{"120000", one, "a"}}, []entry{{"120000", two, "a"}}, []string{`120000>120000 other "a"`}},
			{"file to folder", []entry{{"100644", one, "a"}}, []entry{{"40000", folder, "a"}},
				[]string{`100644> other "a"`, `>100644 other "a/x"`, `>100644 other "a/y"`}},
			{"folder to file", []entry{{"40000", folder, "a"}}, []entry{{"100644", one, "a"}},
				[]string{`>100644 other "a"`, `100644> other "a/x"`, `100644> other "a/y"`}},
			{"folder to link", []entry{{"40000", folder, "a"}}, []entry{{"120000", one, "a"}},
				[]string{`>120000 other "a"`, `100644> other "a/x"`, `100644> other "a/y"`}},
			{"submodule moved, its commit is elsewhere", []entry{{"160000", commit, "sub"}}, []entry{{"160000", other, "sub"}}, []string{`160000>160000 other "sub"`}},
			{"submodule to folder", []entry{{"160000", commit, "sub"}}, []entry{{"40000", folder, "sub"}},
				[]string{`160000> other "sub"`, `>100644 other "sub/x"`, `>100644 other "sub/y"`}},
			{"file to submodule", []entry{{"100644", one, "sub"}}, []entry{{"160000", commit, "sub"}}, []string{`100644>160000 other "sub"`}},
			{"empty folder appears", nil, []entry{{"40000", empty, "a"}}, nil},
			{"empty folder to file", []entry{{"40000", empty, "a"}}, []entry{{"100644", one, "a"}}, []string{`>100644 other "a"`}},
			{"file to empty folder", []entry{{"100644", one, "a"}}, []entry{{"40000", empty, "a"}}, []string{`100644> other "a"`}},
			{"empty folder gets files", []entry{{"40000", empty, "a"}}, []entry{{"40000", folder, "a"}}, []string{`>100644 other "a/x"`, `>100644 other "a/y"`}},
			{"folder loses all files", []entry{{"40000", folder, "a"}}, []entry{{"40000", empty, "a"}}, []string{`100644> other "a/x"`, `100644> other "a/y"`}},
			{"names around a slash", []entry{{"100644", one, "a-b"}, {"40000", folder, "a"}, {"100644", one, "a0"}}, []entry{{"100644", two, "a-b"}, {"40000", folder2, "a"}, {"100644", two, "a0"}},
				[]string{`100644>100644 other "a-b"`, `100644>100644 other "a/x"`, `100644>100644 other "a0"`}},
			{"file and folder change places", []entry{{"100644", one, "a"}, {"40000", folder, "a.b"}}, []entry{{"40000", folder, "a"}, {"100644", one, "a.b"}},
				[]string{`100644> other "a"`, `>100644 other "a.b"`, `100644> other "a.b/x"`, `100644> other "a.b/y"`, `>100644 other "a/x"`, `>100644 other "a/y"`}},
			{"odd names", []entry{{"100644", one, "\n"}, {"40000", folder, "new\nline"}, {"40000", folder, "\xff\xfe"}}, []entry{{"100644", two, "\n"}, {"40000", folder2, "new\nline"}, {"40000", folder2, "\xff\xfe"}},
				[]string{`100644>100644 other "\n"`, `100644>100644 other "new\nline/x"`, `100644>100644 other "\xff\xfe/x"`}},
			{"names that no checkout takes", []entry{{"40000", folder, ".."}, {"40000", folder, ".git"}}, []entry{{"40000", folder2, ".."}, {"40000", folder2, ".git"}},
				[]string{`100644>100644 other "../x"`, `100644>100644 other ".git/x"`}},
			{"two ways to write a letter", []entry{{"100644", one, "e\u0301"}}, []entry{{"100644", one, "\u00e9"}}, []string{`100644> other "e\u0301"`, `>100644 other "\u00e9"`}},
			{"names that differ in case", []entry{{"100644", one, "A"}, {"100644", one, "a"}}, []entry{{"100644", two, "A"}, {"100644", one, "a"}}, []string{`100644>100644 other "A"`}},
			{"names like git's answers", []entry{{"100644", one, "."}, {"100644", one, ".\n:"}}, []entry{{"100644", two, "."}, {"100644", two, ".\n:"}},
				[]string{`100644>100644 other "."`, `100644>100644 other ".\n:"`}},
			{"deep", []entry{{"40000", holder, "h"}}, nil, []string{`100644> other "h/deep/x"`, `100644> other "h/deep/y"`, `100644> other "h/z"`}},
			{"blobs that are not here", []entry{{"100644", s.absent("3"), "a"}}, []entry{{"100644", s.absent("4"), "a"}}, []string{`100644>100644 other "a"`}},
			{"folder that is not here, on both sides", []entry{{"100644", one, "a"}, {"40000", s.absent("3"), "b"}}, []entry{{"100644", two, "a"}, {"40000", s.absent("3"), "b"}}, []string{`100644>100644 other "a"`}},
		} {
			t.Run(c.name, func(t *testing.T) {
				at := *s
				at.t = t
				if c.want == nil {
					c.want = []string{}
				}
				before, after := s.raw(c.before...), s.raw(c.after...)
				require.Equal(t, c.want, at.diff(before, after))
				require.Equal(t, c.want, at.gitDiff(before, after), "what git itself says")
				for i, line := range c.want { // and the way back
					modes, rest, _ := strings.Cut(line, " ")
					was, is, _ := strings.Cut(modes, ">")
					c.want[i] = is + ">" + was + " " + rest
				}
				require.Equal(t, c.want, at.diff(after, before))
			})
		}
	})
}

// A repository may hide changes of a submodule by a setting in .gitmodules.
func TestARepositoryDoesNotHideSubmodules(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		gitenv.Git(t, s.dir, "config", "-f", ".gitmodules", "submodule.sub.path", "sub")
		gitenv.Git(t, s.dir, "config", "-f", ".gitmodules", "submodule.sub.ignore", "all")
		gitenv.Git(t, s.dir, "config", "submodule.sub.ignore", "all")
		before, after := s.raw(entry{"160000", s.absent("1"), "sub"}), s.raw(entry{"160000", s.absent("2"), "sub"})
		require.Equal(t, []string{`160000>160000 other "sub"`}, s.diff(before, after))
	})
}

func TestTree(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one := s.blob("one\n")
		folder := s.raw(entry{"100644", one, "x"})
		tree := s.raw(entry{"100644", one, "a\nb"}, entry{"100755", one, "c"}, entry{"120000", one, "l"}, entry{"160000", s.absent("1"), "s"}, entry{"40000", folder, "t"}, entry{"100644", one, "\xff"})
		entries, err := s.Tree(t.Context(), tree)
		require.NoError(t, err)
		v := func(mode, oid string) trees.Version { return trees.Version{Mode: mode, OID: oid} }
		require.Equal(t, []trees.Entry{
			{Name: "a\nb", Version: v("100644", one)}, {Name: "c", Version: v("100755", one)}, {Name: "l", Version: v("120000", one)},
			{Name: "s", Version: v("160000", s.absent("1"))}, {Name: "t", Version: v("040000", folder)}, {Name: "\xff", Version: v("100644", one)},
		}, entries)

		empty, err := s.Tree(t.Context(), s.feed("", "mktree"))
		require.NoError(t, err)
		require.Empty(t, empty)

		found, err := trees.Files(t.Context(), s, tree, []string{"c", "s", "t", "t/x", "t/none", "c/x", "none", "s/x", ""})
		require.NoError(t, err)
		require.Equal(t, map[string]trees.Version{"c": v("100755", one), "s": v("160000", s.absent("1")), "t/x": v("100644", one)}, found)
		at, err := trees.Find(t.Context(), s, tree, "t")
		require.NoError(t, err)
		require.Equal(t, v("040000", folder), at)
	})
}

func TestEmptyTreeNeedsNoObject(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		empty := s.feed("", "hash-object", "-t", "tree", "--stdin")
		entries, err := s.Tree(t.Context(), empty)
		require.NoError(t, err)
		require.Empty(t, entries)
		tree := s.raw(entry{"100644", s.blob("one\n"), "a"})
		require.Equal(t, []string{`>100644 other "a"`}, s.diff(empty, tree))
		require.Equal(t, []string{`100644> other "a"`}, s.diff(tree, empty))
	})
}

func TestBlob(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for _, content := range []string{"", "one\n", "no end", "\x00\xff\n.\n", strings.Repeat("long line\n", 100_000)} {
			data, err := s.Blob(t.Context(), s.blob(content))
			require.NoError(t, err)
			require.Equal(t, content, string(data))
		}
	})
}

func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one, gone := s.blob("one\n"), s.absent("7")
		tree := s.raw(entry{"100644", one, "a"})
		digest := strings.Repeat("\x01", s.hex/2)
		tree2 := func(oid string) string { return s.raw(entry{"40000", oid, "d"}) }
		diff := func(a, b string) func() error {
			return func() error { _, err := s.DiffTrees(t.Context(), a, b); return err }
		}
		read := func(oid string) func() error {
			return func() error { _, err := s.Tree(t.Context(), oid); return err }
		}
		blob := func(oid string) func() error {
			return func() error { _, err := s.Blob(t.Context(), oid); return err }
		}
		commit := s.feed("", "commit-tree", tree, "-m", "c")
		for _, c := range []struct {
			name string
			do   func() error
			want error
		}{
			{"missing tree", read(gone), trees.ErrMissing},
			{"missing blob", blob(gone), trees.ErrMissing},
			{"missing before", diff(gone, tree), trees.ErrMissing},
			{"missing after", diff(tree, gone), trees.ErrMissing},
			{"missing folder", diff(tree, tree2(gone)), trees.ErrMissing},
			{"missing folder on one side of two", diff(tree2(tree), tree2(gone)), trees.ErrMissing},
			{"blob as tree", read(one), trees.ErrMalformed},
			{"commit as tree", read(commit), trees.ErrMalformed},
			{"tree as blob", blob(tree), trees.ErrMalformed},
			{"blob as a tree to compare", diff(tree, one), trees.ErrMalformed},
			{"commit as a tree to compare", diff(commit, tree), trees.ErrMalformed},
			{"blob as folder", diff(tree, tree2(one)), trees.ErrMalformed},
			{"no object name", read("HEAD"), trees.ErrMalformed},
			{"no object name to compare", diff(tree, "HEAD"), trees.ErrMalformed},
			{"option as a name", diff(tree, "--output=/tmp/x"), trees.ErrMalformed},
			{"two lines as a name", diff(tree, tree+"\n"+tree), trees.ErrMalformed},
			{"two lines as a blob", blob(one + "\n" + one), trees.ErrMalformed},
			{"empty name", read(s.bytes("100644 \x00" + digest)), trees.ErrMalformed},
			{"cut in the digest", read(s.bytes("100644 a\x00" + digest[:7])), trees.ErrMalformed},
			{"cut in the name", read(s.bytes("100644 a")), trees.ErrMalformed},
			{"no octal mode", read(s.bytes("mode a\x00" + digest)), trees.ErrMalformed},
			{"cut, to compare", diff(tree, s.bytes("100644 a\x00"+digest[:7])), trees.ErrMalformed},
		} {
			t.Run(c.name, func(t *testing.T) { require.ErrorIs(t, c.do(), c.want) })
			t.Run(c.name+", and then goes on", func(t *testing.T) {
				data, err := s.Blob(t.Context(), one)
				require.NoError(t, err)
				require.Equal(t, "one\n", string(data))
				changes, err := s.DiffTrees(t.Context(), tree, tree2(tree))
				require.NoError(t, err)
				require.Len(t, changes, 2)
			})
		}
	})
}

// A partial clone names objects that it does not have, and no Reader fetches them.
func TestPartialClone(t *testing.T) {
	for _, i := range implementations[:2] {
		for _, filter := range []string{"blob:none", "tree:0"} {
			t.Run(i.name+" "+filter, func(t *testing.T) {
				gitenv.Isolate(t)
				t.Setenv("GIT_DEFAULT_HASH", "sha1") // go-git reads only that
				whole := &scene{t: t, dir: gitenv.Repo(t), hex: 40}
				for _, content := range []string{"one\n", "two\n"} {
					tree := whole.raw(entry{"100644", whole.blob(content), "a"})
					commit := whole.feed("", "commit-tree", tree, "-m", "c")
					gitenv.Git(t, whole.dir, "tag", strings.TrimSpace(content), commit)
				}
				gitenv.Git(t, whole.dir, "config", "uploadpack.allowFilter", "true")
				s := &scene{t: t, dir: t.TempDir(), hex: 40}
				gitenv.Git(t, s.dir, "clone", "-q", "--no-checkout", "--filter="+filter, "file://"+whole.dir, ".")
				gitenv.Git(t, s.dir, "fetch", "-q", "--tags")
				s.Reader = i.open(t, s.dir)
				t.Cleanup(func() { require.NoError(t, s.Close()) })
				tree := func(tag string) string { return gitenv.Git(t, whole.dir, "rev-parse", tag+"^{tree}") }
				one, two := strings.TrimSpace(tree("one")), strings.TrimSpace(tree("two"))
				if filter == "tree:0" {
					_, err := s.DiffTrees(t.Context(), one, two)
					require.ErrorIs(t, err, trees.ErrMissing)
					_, err = s.Tree(t.Context(), one)
					require.ErrorIs(t, err, trees.ErrMissing)
					return
				}
				changes, err := s.DiffTrees(t.Context(), one, two)
				require.NoError(t, err)
				require.Len(t, changes, 1)
				_, err = s.Blob(t.Context(), changes[0].Before.OID)
				require.ErrorIs(t, err, trees.ErrMissing)
			})
		}
	}
}

// Hostile trees get an answer or an error, soon and within bounds.
func TestHostileTrees(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one := s.blob("one\n")
		plain := s.raw(entry{"100644", one, "a"})
		bomb := plain
		for range 12 { // each has ten times the folder below: 10^12 files
			var same []entry
			for i := range 10 {
				same = append(same, entry{"40000", bomb, fmt.Sprint("d", i)})
			}
			bomb = s.raw(same...)
		}
		twice := s.raw(entry{"100644", one, "a"}, entry{"100755", one, "a"}, entry{"40000", plain, "a"}, entry{"40000", plain, "a"})
		unsorted := s.raw(entry{"100644", one, "z"}, entry{"100644", one, "b"}, entry{"40000", plain, "m"}, entry{"100644", one, "a"})
		for name, tree := range map[string]string{"names twice": twice, "unsorted": unsorted, "slash in a name": s.raw(entry{"100644", one, "a/b"}, entry{"40000", plain, "/"})} {
			t.Run(name, func(t *testing.T) {
				for _, pair := range [][2]string{{plain, tree}, {tree, plain}} {
					changes, err := s.DiffTrees(t.Context(), pair[0], pair[1])
					require.True(t, err != nil || len(changes) <= 20, "%v", changes)
				}
			})
		}
		t.Run("a folder named a trillion times", func(t *testing.T) {
			trees.SetBound(s.Reader, 100_000)
			_, err := s.DiffTrees(t.Context(), plain, bomb)
			require.ErrorIs(t, err, trees.ErrTooLarge)
		})
	})
}

// The bound counts the names of all paths below folders that differ.
func TestBound(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one := s.blob("one\n")
		folder := s.raw(entry{"100644", one, "x"}, entry{"100644", one, "y"})
		before, after := s.raw(entry{"100644", one, "a"}), s.raw(entry{"100644", one, "a"}, entry{"40000", folder, "d"})
		const names = 1 + 2 + 2*2 // a; a and d; d/x and d/y
		trees.SetBound(s.Reader, names)
		require.Len(t, s.diff(before, after), 2)
		trees.SetBound(s.Reader, names-1)
		_, err := s.DiffTrees(t.Context(), before, after)
		require.ErrorIs(t, err, trees.ErrTooLarge)
	})
}

func TestTooDeep(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one := s.blob("one\n")
		shallow := s.raw(entry{"100644", one, "a"})
		var list strings.Builder
		// fast-import writes all of them at once.
		fmt.Fprintf(&list, "commit refs/heads/deep\ncommitter a <a@b> 0 +0000\ndata 0\nM 100644 %s %s\n", one, strings.Repeat("d/", 3000)+"f")
		s.feed(list.String(), "-c", "core.maxTreeDepth=10000", "fast-import", "--quiet")
		deep := s.feed("", "rev-parse", "deep^{tree}")
		start := time.Now()
		_, err := s.DiffTrees(t.Context(), shallow, deep)
		require.ErrorIs(t, err, trees.ErrTooLarge)
		require.Less(t, time.Since(start), time.Minute)
	})
}

func TestHugeTree(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		const files = 20_000
		var list strings.Builder
		oid := s.blob("one\n")
		for i := range files {
			fmt.Fprintf(&list, "100644 blob %s\tfile-%06d\x00", oid, i)
		}
		huge := s.feed(list.String(), "mktree", "-z")
		fmt.Fprintf(&list, "100644 blob %s\tlast\x00", oid)
		more := s.feed(list.String(), "mktree", "-z")
		require.Equal(t, []string{`>100644 other "last"`}, s.diff(huge, more))
		all, err := s.DiffTrees(t.Context(), s.feed("", "mktree"), huge)
		require.NoError(t, err)
		require.Len(t, all, files)
	})
}

func TestTrail(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one := s.blob("one\n")
		a, b := s.raw(entry{"100644", one, "a"}), s.raw(entry{"100644", one, "b"})
		steps, err := trees.DiffChain(t.Context(), s, []string{a, a, b, a})
		require.NoError(t, err)
		require.Len(t, steps, 3)
		require.Empty(t, steps[0])
		require.Len(t, steps[1], 2)
		require.Len(t, steps[2], 2)
		for _, short := range [][]string{nil, {a}} {
			steps, err := trees.DiffChain(t.Context(), s, short)
			require.NoError(t, err)
			require.Empty(t, steps)
		}
	})
}

func TestContextEnds(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one := s.blob("one\n")
		a, b := s.raw(entry{"100644", one, "a"}), s.raw(entry{"100644", one, "b"})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.DiffTrees(ctx, a, b)
		require.ErrorIs(t, err, context.Canceled)
		_, err = s.Blob(ctx, one)
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, s.diff(a, b), 2)
		require.NoError(t, s.Close())
		require.Len(t, s.diff(a, b), 2, "a closed Reader starts anew")
	})
}

func TestManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one := s.blob("one\n")
		a, b := s.raw(entry{"100644", one, "a"}), s.raw(entry{"100644", one, "b"})
		done := make(chan error)
		for range 8 {
			go func() {
				for range 20 {
					if changes, err := s.DiffTrees(t.Context(), a, b); err != nil || len(changes) != 2 {
						done <- fmt.Errorf("%v %w", changes, err)
						return
					}
					if data, err := s.Blob(t.Context(), one); err != nil || string(data) != "one\n" {
						done <- fmt.Errorf("%q %w", data, err)
						return
					}
				}
				done <- nil
			}()
		}
		for range 8 {
			require.NoError(t, <-done)
		}
	})
}
