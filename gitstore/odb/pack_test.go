package odb_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
)

// variedRepo has objects of all kinds, many of them alike.
func variedRepo(t *testing.T) string {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat, Durability: odb.Off})
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)}))
	}
	var objects []odb.Object
	parent := odb.OID("")
	for i := range 150 {
		lines[i*13%len(lines)] = fmt.Sprintf("line %d of a file that changes to %x", i, i*i*7919)
		b := blob(strings.Join(lines, "\n"))
		tree := object("tree", append([]byte("100644 f\x00"), rawOID(t, b.OID)...))
		c := object("commit", []byte(strings.Replace(string(commit(parent, fmt.Sprint("commit ", i)).Data), string(emptyTree.OID), string(tree.OID), 1)))
		objects, parent = append(objects, b, tree, c), c.OID
	}
	objects = append(objects, blob(""), emptyTree, blob(strings.Repeat("0123456789abcdef", 40_000)))
	require.NoError(t, s.Write(bg, odb.Batch{Objects: objects, Updates: []odb.RefUpdate{{Ref: "refs/heads/main", New: parent}}}))
	git(t, repo, "tag", "-a", "-m", "a tag", "v1")
	for i, o := range objects[len(objects)-3:] {
		git(t, repo, "update-ref", fmt.Sprintf("refs/tags/x%d", i), string(o.OID))
	}
	return repo
}

// everything gives all objects as git reads them.
func everything(t *testing.T, repo string) []odb.Object {
	t.Helper()
	var objects []odb.Object
	for line := range strings.Lines(git(t, repo, "cat-file", "--batch-all-objects", "--batch-check")) {
		var o odb.Object
		var size int
		_, err := fmt.Sscanf(line, "%s %s %d", &o.OID, &o.Kind, &size)
		require.NoError(t, err)
		objects = append(objects, o)
	}
	var names strings.Builder
	for _, o := range objects {
		fmt.Fprintln(&names, o.OID)
	}
	out, err := tryGit(repo, names.String()+"HEAD\n", "cat-file", "--batch") // whose end is trimmed
	require.NoError(t, err)
	rest := []byte(out)
	for i := range objects {
		head, after, _ := bytes.Cut(rest, []byte{'\n'})
		var size int
		_, err := fmt.Sscanf(string(head), string(objects[i].OID)+" "+objects[i].Kind+" %d", &size)
		require.NoError(t, err)
		objects[i].Data, rest = after[:size], after[size+1:]
	}
	return objects
}

func TestPacksAsGitReadsThem(t *testing.T) {
	for name, tt := range map[string]struct {
		config []string
		index  string
	}{
		"plain":          {},
		"bases by name":  {config: []string{"-c", "repack.useDeltaBaseOffset=false"}},
		"stored":         {config: []string{"-c", "pack.compression=0"}},
		"smallest":       {config: []string{"-c", "pack.compression=9"}},
		"large offsets":  {index: "--index-version=2,0x40"},
		"with a reverse": {config: []string{"-c", "pack.writeReverseIndex=true"}},
	} {
		t.Run(name, func(t *testing.T) {
			repo := variedRepo(t)
			git(t, repo, append(tt.config, "repack", "-adfq", "--depth=200", "--window=30")...)
			git(t, repo, "prune-packed")
			packs, err := filepath.Glob(filepath.Join(repo, ".git/objects/pack/*.pack"))
			require.NoError(t, err)
			require.Len(t, packs, 1)
			if tt.index != "" {
				index := strings.TrimSuffix(packs[0], ".pack") + ".idx"
				require.NoError(t, os.Remove(index))
				git(t, repo, "index-pack", tt.index, packs[0])
			}
			require.Regexp(t, `chain length = (2[0-9]|[3-9][0-9]|1[0-9][0-9]):`, git(t, repo, "verify-pack", "-sv", packs[0]), "there are no deep chains")
			objects := everything(t, repo)
			require.Greater(t, len(objects), 450)
			requireReads(t, open(t, repo, odb.Options{Format: testFormat}), objects)
		})
	}
}

func TestReadsPacksOfLendersThatAppearLater(t *testing.T) {
	lender, repo := newRepo(t), newRepo(t)
	alternates := filepath.Join(repo, ".git/objects/info/alternates")
	require.NoError(t, os.WriteFile(alternates, []byte(lender+"/.git/objects\n"), 0o644))
	s := open(t, repo, odb.Options{Format: testFormat})
	writer := open(t, lender, odb.Options{Format: testFormat})
	objects := create(t, writer, ref, 3)
	requireReads(t, s, objects)
	for range 2 {
		git(t, lender, "repack", "-adq")
		git(t, lender, "prune-packed")
		requireReads(t, s, objects)
		objects = append(objects, chain(tip(objects), 1, "later")...)
		require.NoError(t, writer.Write(bg, appendBatch(ref, objects[len(objects)-2].OID, objects[len(objects)-1:])))
	}
}

// Readers see everything while git repacks.
func TestReadsBesideRepack(t *testing.T) {
	repo := variedRepo(t)
	objects := everything(t, repo)
	s := open(t, repo, odb.Options{Format: testFormat})
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for first := range 3 {
		readers.Go(func() {
			for i := first; ; i += 7 {
				select {
				case <-stop:
					return
				default:
				}
				o := objects[i%len(objects)]
				kind, data, err := s.ReadObject(o.OID)
				if err != nil || kind != o.Kind || !bytes.Equal(o.Data, data) {
					t.Errorf("%s: %v", o.OID, err)
					return
				}
			}
		})
	}
	for i := range 6 {
		git(t, repo, "repack", "-adfq", fmt.Sprintf("--depth=%d", 10+i))
		git(t, repo, "prune-packed")
	}
	close(stop)
	readers.Wait()
	requireReads(t, s, objects)
}

func TestDamagedPack(t *testing.T) {
	repo := newRepo(t)
	objects := create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 5)
	git(t, repo, "repack", "-adq")
	git(t, repo, "prune-packed")
	packs, err := filepath.Glob(filepath.Join(repo, ".git/objects/pack/*.pack"))
	require.NoError(t, err)
	content, err := os.ReadFile(packs[0])
	require.NoError(t, err)
	clear(content[12 : len(content)-testFormat.Size()])
	require.NoError(t, os.Chmod(packs[0], 0o644))
	require.NoError(t, os.WriteFile(packs[0], content, 0o644))
	for _, opts := range []odb.Options{{}, withGit(repo)} {
		s := open(t, repo, opts)
		_, _, err = s.ReadObject(tip(objects))
		require.ErrorIs(t, err, odb.ErrObjectCorrupt)
		has, err := s.Has(tip(objects))
		require.NoError(t, err)
		require.True(t, has)
	}
	// Rewritten objects are found.
	s := open(t, repo, odb.Options{Format: testFormat})
	plant(t, repo, tip(objects), deflated(fmt.Sprintf("commit %d\x00%s", len(objects[len(objects)-1].Data), objects[len(objects)-1].Data)))
	requireReads(t, s, objects[len(objects)-1:])
}

// An index that claims billions of objects costs nothing, for any reader.
func TestIndexThatClaimsTooMuch(t *testing.T) {
	repo := newRepo(t)
	objects := create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 5)
	git(t, repo, "repack", "-aq")
	indexes, err := filepath.Glob(filepath.Join(repo, ".git/objects/pack/*.idx"))
	require.NoError(t, err)
	content, err := os.ReadFile(indexes[0])
	require.NoError(t, err)
	for i := range 4 {
		content[8+4*255+i] = 0xff
	}
	require.NoError(t, os.Chmod(indexes[0], 0o644))
	require.NoError(t, os.WriteFile(indexes[0], content, 0o644))
	for _, opts := range []odb.Options{{}, withGit(repo)} {
		s := open(t, repo, opts)
		requireReads(t, s, objects) // loose
		missing := tip(chain("", 1, "nowhere"))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err = s.ReadObject(missing)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, odb.ErrObjectMissing)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	}
}
