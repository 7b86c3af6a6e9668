package odb

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const packedHead = "# pack-refs with: peeled fully-peeled sorted \n"

// everyRef reads all lines one after another.
func everyRef(data []byte) (refs []Ref, ok bool) {
	for line := range bytes.Lines(data) {
		if line[0] == '#' || line[0] == '^' {
			continue
		}
		r, err := packedRef(line, testFormat)
		if err != nil {
			return nil, false
		}
		refs = append(refs, r)
	}
	return refs, true
}

func beginning(refs []Ref, prefix string) (some []Ref) {
	for _, r := range refs {
		if strings.HasPrefix(r.Name, prefix) {
			some = append(some, r)
		}
	}
	return some
}

// numberedName is an object name that ends with a number.
func numberedName(n int) string { return fmt.Sprintf("%0*x", testFormat.Digits(), n) }

// TestPackedRefsAreFound looks for each ref, for names beside it and for folders, in
// files of every size, sorted or not.
func TestPackedRefsAreFound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`refs/(jp|tags)/[a-c]{1,3}(/[a-c]{1,2})?`), 0, 20, rapid.ID[string]).Draw(r, "names")
		sorted := rapid.Bool().Draw(r, "sorted")
		if sorted {
			slices.Sort(names)
		}
		var file strings.Builder
		if sorted {
			file.WriteString(packedHead)
		}
		for i, name := range names {
			fmt.Fprintf(&file, "%s %s\n", numberedName(i+1), name)
			if rapid.Bool().Draw(r, "tag") {
				fmt.Fprintf(&file, "^%s\n", numberedName(i))
			}
		}
		p, err := parsePackedRefs([]byte(file.String()), testFormat)
		require.NoError(r, err)
		all, _ := everyRef([]byte(file.String()))
		slices.SortFunc(all, byName)
		for i, name := range names {
			oid, err := p.find(name)
			require.NoError(r, err)
			require.Equal(r, OID(numberedName(i+1)), oid, name)
			for _, other := range []string{name + "x", name[:len(name)-1], "refs/a", "refs/z"} {
				if oid, err = p.find(other); !slices.Contains(names, other) {
					require.NoError(r, err)
					require.Empty(r, oid, other)
				}
			}
			for _, prefix := range []string{name, name + "/", name[:len(name)-1], "refs/jp/", "refs/", "refs/z"} {
				found, err := p.below(prefix)
				require.NoError(r, err)
				require.Equal(r, beginning(all, prefix), found, prefix)
			}
		}
	})
}

// FuzzPackedRefs holds that for any file the search finds the values in its lines, or reports a broken
// line.
func FuzzPackedRefs(f *testing.F) {
	one, two := strings.Repeat("1", testFormat.Digits())+" refs/jp/a\n", strings.Repeat("2", testFormat.Digits())+" refs/tags/b\n^"+strings.Repeat("3", testFormat.Digits())+"\n"
	for _, file := range []string{"", packedHead, packedHead + one, packedHead + one + two, two + one, packedHead + two + one, packedHead + "^", one[:20]} {
		f.Add([]byte(file), "refs/jp/a")
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		p, err := parsePackedRefs(data, testFormat)
		if err != nil {
			return
		}
		oid, findErr := p.find(name)
		found, belowErr := p.below(name)
		all, ok := everyRef(p.lines)
		if !ok || !slices.IsSortedFunc(all, byName) || strings.HasPrefix(string(p.lines), "^") || bytes.Contains(p.lines, []byte("#")) {
			return // git's own search says something of such a file, too, or ends
		}
		require.NoError(t, findErr)
		require.NoError(t, belowErr)
		require.Equal(t, beginning(all, name), found)
		i := slices.IndexFunc(all, func(r Ref) bool { return r.Name == name })
		require.Equal(t, i >= 0, oid != "")
		if i >= 0 {
			require.Equal(t, all[i].OID, oid)
		}
	})
}
