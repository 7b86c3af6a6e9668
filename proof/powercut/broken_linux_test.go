package powercut_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// broken are faults that an inspection must see, each made in a sound repository.
var broken = []struct {
	name, sign string
	do         func(i inspection) (path string, text []byte) // nil removes
}{
	{"a file of the user", "the user's files: a.go", func(inspection) (string, []byte) { return "a.go", []byte("package b\n") }},
	{"the index", "the user's files: .git/index", func(inspection) (string, []byte) { return ".git/index", nil }},
	{"HEAD", "the user's files: .git/HEAD", func(inspection) (string, []byte) { return ".git/HEAD", []byte("ref: refs/heads/topic\n") }},
	{"a packed ref", "the user's files: .git/packed-refs", func(inspection) (string, []byte) { return ".git/packed-refs", nil }},
	{"a new file", "new.txt is new", func(inspection) (string, []byte) { return "new.txt", []byte("x") }},
	{"a lost step", "neither those of step", func(i inspection) (string, []byte) {
		return ".git/" + i.moved(), []byte(i.oracle.refs[i.oracle.steps-1][i.moved()] + "\n")
	}},
	{"a torn ref", "ref is broken", func(i inspection) (string, []byte) { return ".git/" + i.moved(), make([]byte, 41) }},
	{"a lost conversation", "neither those of step", func(i inspection) (string, []byte) { return ".git/" + i.moved(), nil }},
	{"a lost event", "git fsck", func(i inspection) (string, []byte) { return i.objectOf(i.moved()), nil }},
	{"an empty event", "git fsck", func(i inspection) (string, []byte) { return i.objectOf(i.moved()), []byte{} }},
	{"a lost object of the user", "git fsck", func(i inspection) (string, []byte) { return i.objectOf("refs/heads/topic"), nil }},
}

// moved is the conversation that the script's last step has moved.
func (i inspection) moved() string {
	was, is := i.oracle.refs[i.oracle.steps-1], i.oracle.refs[i.oracle.steps]
	for _, ref := range slices.Sorted(maps.Keys(is)) {
		if strings.HasPrefix(ref, "refs/jp/conversations/") && was[ref] != "" && was[ref] != is[ref] {
			return ref
		}
	}
	i.Fatal("the last step has moved no conversation")
	return ""
}

// objectOf is the file of the commit that a ref names.
func (i inspection) objectOf(ref string) string {
	out, err := i.git("rev-parse", ref)
	require.NoError(i, err, "%s", out)
	return filepath.Join(".git/objects", string(out[:2]), string(bytes.TrimSpace(out[2:])))
}

func TestInspectionSees(t *testing.T) {
	o := newOracle(t, 12)
	whole := inspection{t, o, copyOf(t, o.end)}
	require.Empty(t, whole.problems(o.steps), "nothing is wrong")
	require.NotEmpty(t, inspection{t, o, copyOf(t, o.end)}.problems(o.steps-2), "two steps more than were acknowledged")
	for _, b := range broken {
		t.Run(b.name, func(t *testing.T) {
			i := inspection{t, o, copyOf(t, o.end)}
			path, text := b.do(i)
			path = filepath.Join(i.repo, path)
			require.NoError(t, os.RemoveAll(path))
			if text != nil {
				require.NoError(t, os.WriteFile(path, text, 0o600))
			}
			require.Contains(t, fmt.Sprint(i.problems(o.steps)), b.sign)
		})
	}
}

// A step may be cut off between two of its refs.
func TestInspectionOfAStepInTheMiddle(t *testing.T) {
	o := newOracle(t, 150)
	moves := 0
	for n, s := range script(scriptSeed, o.steps) {
		if !strings.HasSuffix(s.kind, "archive") {
			continue
		}
		moves++
		const both = 2 // both refs are there
		i := inspection{t, o, copyOf(t, o.end)}
		i.setRefs(o.allowed(n)[both])
		require.Empty(t, i.problems(n), "%s in step %d", s.kind, n+1)
	}
	require.NotZero(t, moves)
}

// setRefs makes jp's refs those of a moment.
func (i inspection) setRefs(refs map[string]string) {
	require.NoError(i, os.RemoveAll(filepath.Join(i.repo, ".git/refs/jp")))
	for name, oid := range refs {
		path := filepath.Join(i.repo, ".git", name)
		require.NoError(i, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(i, os.WriteFile(path, []byte(oid+"\n"), 0o644))
	}
}
