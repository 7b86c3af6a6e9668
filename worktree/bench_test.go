package worktree_test

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

// sizes are numbers of files.
var sizes = []int{1_000, 12_000}

// benchRepo is a repository of n small files, hundred in a folder.
func benchRepo(b *testing.B, n int) *repo {
	b.Helper()
	files := make(map[string]string, n)
	for i := range n {
		files[fmt.Sprintf("pkg%03d/sub%d/file%05d.go", i/500, i/100%5, i)] = fmt.Sprintf("package p // %d\n", i)
	}
	r := newRepo(b, files)
	r.git("repack", "-adq")
	r.git("update-index", "--refresh")
	return r
}

func eachSize(b *testing.B, run func(b *testing.B, r *repo)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			r := benchRepo(b, n)
			b.ResetTimer()
			run(b, r)
		})
	}
}

// BenchmarkGitStatus is the rival of all others.
func BenchmarkGitStatus(b *testing.B) {
	eachSize(b, func(b *testing.B, r *repo) {
		for b.Loop() {
			cmd := exec.Command("git", "--no-optional-locks", "status", "--porcelain=v2")
			cmd.Dir = r.dir
			require.NoError(b, cmd.Run())
		}
	})
}

func BenchmarkSnapshotNothingChangedBeforeTool(b *testing.B) {
	eachSize(b, func(b *testing.B, r *repo) {
		parent := r.head()
		for b.Loop() {
			take(b, r, parent, worktree.SnapshotOptions{})
		}
	})
}

func BenchmarkSnapshotNothingChangedAfterTool(b *testing.B) {
	eachSize(b, func(b *testing.B, r *repo) {
		parent := r.head()
		for b.Loop() {
			take(b, r, parent, worktree.SnapshotOptions{Since: r.mark(), Untracked: true})
		}
	})
}

func BenchmarkSnapshotOneChanged(b *testing.B) {
	eachSize(b, func(b *testing.B, r *repo) {
		parent, i := r.head(), 0
		for b.Loop() {
			i++
			mark := r.mark()
			r.write("pkg000/sub0/file00000.go", fmt.Sprintf("package p // changed %d\n", i))
			parent = take(b, r, parent, worktree.SnapshotOptions{Since: mark, Untracked: true})
		}
	})
}

func BenchmarkSnapshotOneNamed(b *testing.B) {
	eachSize(b, func(b *testing.B, r *repo) {
		const path = "pkg000/sub0/file00000.go"
		parent, i := r.head(), 0
		objects := memory{from: reader{r.dir}, kept: map[string]worktree.Object{}}
		for b.Loop() {
			i++
			r.write(path, fmt.Sprintf("package p // changed %d\n", i))
			s, ok, err := r.w.SnapshotPaths(b.Context(), parent, []string{path}, objects)
			require.NoError(b, err)
			require.True(b, ok)
			for _, o := range s.Objects {
				objects.kept[o.OID] = o
			}
			parent = s.Tree
		}
	})
}

func take(b *testing.B, r *repo, parent string, opts worktree.SnapshotOptions) string {
	s, err := r.w.Snapshot(b.Context(), parent, opts)
	require.NoError(b, err)
	return s.Tree
}

// memory keeps new objects as a store with a cache would.
type memory struct {
	from reader
	kept map[string]worktree.Object
}

func (m memory) ReadObject(oid string) (string, []byte, error) {
	if o, ok := m.kept[oid]; ok {
		return o.Kind, o.Data, nil
	}
	kind, data, err := m.from.ReadObject(oid)
	if err == nil {
		m.kept[oid] = worktree.Object{Kind: kind, OID: oid, Data: data}
	}
	return kind, data, err
}
