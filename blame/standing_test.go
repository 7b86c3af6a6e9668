package blame

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitstore/trees"
)

// A forest has trees by name, each with the content of its files by path.
type forest struct {
	trees.Reader
	trees map[string]map[string]string
}

func (f forest) DiffTrees(_ context.Context, before, after string) (changes []trees.Change, err error) {
	version := func(tree, path string) trees.Version {
		if text, is := f.trees[tree][path]; is {
			return trees.Version{Mode: "100644", OID: text}
		}
		return trees.Version{}
	}
	for _, path := range []string{"a", "b", "c"} {
		if was, is := version(before, path), version(after, path); was != is {
			changes = append(changes, trees.Change{Path: path, Before: was, After: is})
		}
	}
	return changes, nil
}

func (f forest) Blob(_ context.Context, oid string) ([]byte, error) { return []byte(oid), nil }

// Files over the bound stay uncounted when they come and when they go.
func TestStandingOverItsBound(t *testing.T) {
	const shared, other = "a line with several words that stands in two files\n", "another line that only the second file has in it\n"
	whole := mostStanding
	t.Cleanup(func() { mostStanding = whole })
	for name, row := range map[string]struct {
		bound int
		steps []map[string]string
		want  []int32 // how often the two lines stand there
		bytes int
	}{
		"below the bound":            {1 << 20, []map[string]string{{"a": shared, "b": shared + other}}, []int32{2, 1}, 2*len(shared) + len(other)},
		"and it goes":                {1 << 20, []map[string]string{{"a": shared, "b": shared + other}, {"a": shared}}, []int32{1, 0}, len(shared)},
		"over the bound":             {1, []map[string]string{{"a": shared, "b": shared + other}}, []int32{1, 0}, len(shared)},
		"what was not counted goes":  {1, []map[string]string{{"a": shared, "b": shared + other}, {"a": shared}}, []int32{1, 0}, len(shared)},
		"it changes":                 {1, []map[string]string{{"a": shared, "b": shared + other}, {"a": shared, "b": other}}, []int32{1, 0}, len(shared)},
		"what was counted goes":      {1, []map[string]string{{"a": shared, "b": shared + other}, {"b": shared + other}}, []int32{0, 0}, 0},
		"the same content elsewhere": {1, []map[string]string{{"a": shared, "b": shared}, {"b": shared}}, []int32{0, 0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			mostStanding = row.bound
			f, s := forest{trees: map[string]map[string]string{gitcmd.SHA1.EmptyTree(): {}}}, standing{}
			for i, files := range row.steps {
				tree := string(rune('A' + i))
				f.trees[tree] = files
				s.move(t.Context(), f, tree)
			}
			require.Equal(t, row.want, []int32{s.texts[lineOf(shared).key], s.texts[lineOf(other).key]})
			require.Equal(t, row.bytes, s.bytes)
		})
	}
}
