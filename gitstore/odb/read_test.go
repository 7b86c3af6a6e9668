package odb_test

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/gitstore/odb"
)

// requireReads checks that a store gives all objects, byte for byte.
func requireReads(t *testing.T, s *odb.Store, objects []odb.Object) {
	t.Helper()
	for _, o := range objects {
		kind, data, err := s.ReadObject(o.OID)
		require.NoError(t, err)
		require.Equal(t, o.Kind, kind)
		require.True(t, bytes.Equal(o.Data, data), o.OID)
		has, err := s.Has(o.OID)
		require.NoError(t, err)
		require.True(t, has)
	}
}

func TestReadsPackedAndLooseMixed(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat}) // without git: the packs are read here
	packed := create(t, s, ref, 40)
	git(t, repo, "repack", "-adq")
	git(t, repo, "prune-packed")
	git(t, repo, "pack-refs", "--all")
	loose := chain(tip(packed), 3, "loose")
	require.NoError(t, s.Write(bg, appendBatch(ref, tip(packed), loose)))
	requireReads(t, s, append(packed, loose...))
	got, err := s.ReadRef(ref)
	require.NoError(t, err)
	require.Equal(t, tip(loose), got)
}

func TestReadsPacksThatAppearLater(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	objects := create(t, s, ref, 5)
	missing := chain("", 1, "nowhere")
	for range 2 {
		_, _, err := s.ReadObject(tip(missing)) // indexes all objects
		require.ErrorIs(t, err, odb.ErrObjectMissing)
		objects = append(objects, chain(tip(objects), 1, "later")...)
		require.NoError(t, s.Write(bg, appendBatch(ref, objects[len(objects)-2].OID, objects[len(objects)-1:])))
		git(t, repo, "repack", "-adq")
		requireReads(t, s, objects)
	}
}

func TestReadsThroughAlternates(t *testing.T) {
	lender := newRepo(t)
	objects := create(t, open(t, lender, odb.Options{Format: testFormat}), ref, 5)
	repo := newRepo(t)
	alternates := filepath.Join(repo, ".git/objects/info/alternates")
	require.NoError(t, os.WriteFile(alternates, []byte(lender+"/.git/objects\n"), 0o644))
	requireReads(t, open(t, repo, odb.Options{Format: testFormat}), objects)
	git(t, lender, "repack", "-adq")
	git(t, lender, "prune-packed")
	requireReads(t, open(t, repo, odb.Options{Format: testFormat}), objects)
}

// Packs of `git maintenance` have names of their own.
func TestReadsPacksOfMaintenance(t *testing.T) {
	repo := newRepo(t)
	objects := create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 5)
	git(t, repo, "maintenance", "run", "--task=loose-objects")
	git(t, repo, "prune-packed")
	packs, err := filepath.Glob(filepath.Join(repo, ".git/objects/pack/loose-*.pack"))
	require.NoError(t, err)
	require.NotEmpty(t, packs)
	requireReads(t, open(t, repo, odb.Options{Format: testFormat}), objects)
}

func TestReadsWhatOnlyGitFinds(t *testing.T) {
	repo := newRepo(t)
	objects := create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 5)
	git(t, repo, "-c", "pack.indexVersion=1", "repack", "-adq")
	git(t, repo, "prune-packed")

	_, _, err := open(t, repo, odb.Options{Format: testFormat}).ReadObject(tip(objects))
	require.ErrorIs(t, err, odb.ErrObjectMissing, "old indexes are now read: the fall-back is not tested")
	s := open(t, repo, withGit(repo))
	requireReads(t, s, objects)
	_, _, err = s.ReadObject(tip(chain("", 1, "nowhere")))
	require.ErrorIs(t, err, odb.ErrObjectMissing)
	requireReads(t, s, objects)
}

func TestLinkedWorktreeSharesTheStore(t *testing.T) {
	repo := newRepo(t)
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, repo, "worktree", "add", "-q", linked)
	objects := create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 2)
	common := git(t, linked, "rev-parse", "--path-format=absolute", "--git-common-dir")
	s, err := odb.Open(common, withGit(linked))
	require.NoError(t, err)
	defer s.Close()
	requireReads(t, s, objects)
	require.Equal(t, string(tip(objects)), git(t, linked, "rev-parse", ref))
}

func TestPartialCloneNeverFetches(t *testing.T) {
	origin := newRepo(t)
	git(t, origin, "config", "uploadpack.allowFilter", "true")
	git(t, origin, "config", "uploadpack.allowAnySHA1InWant", "true")
	s := open(t, origin, odb.Options{Format: testFormat})
	secret := blob("left out of the clone\n")
	tree := object("tree", append([]byte("100644 f\x00"), rawOID(t, secret.OID)...))
	c := object("commit", []byte(strings.Replace(string(commit("", "x").Data), string(emptyTree.OID), string(tree.OID), 1)))
	require.NoError(t, s.Write(bg, odb.Batch{
		Objects: []odb.Object{secret, tree, c},
		Updates: []odb.RefUpdate{{Ref: "refs/heads/main", New: c.OID}},
	}))
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, origin, "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+origin, clone)

	partial := open(t, clone, withGit(clone))
	for range 2 {
		_, _, err := partial.ReadObject(secret.OID)
		require.ErrorIs(t, err, odb.ErrObjectMissing)
		has, err := partial.Has(secret.OID)
		require.NoError(t, err)
		require.False(t, has)
	}
	requireReads(t, partial, []odb.Object{tree, c})
	// git itself would have fetched it.
	require.Equal(t, "left out of the clone", git(t, clone, "cat-file", "blob", string(secret.OID)))
}

func rawOID(t *testing.T, oid odb.OID) []byte {
	t.Helper()
	raw, err := hex.DecodeString(string(oid))
	require.NoError(t, err)
	return raw
}

// plant puts bytes in the place of a loose object.
func plant(t *testing.T, repo string, oid odb.OID, content []byte) {
	t.Helper()
	file := filepath.Join(repo, ".git/objects", string(oid[:2]), string(oid[2:]))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, content, 0o644))
}

func deflated(text string) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

func TestDamagedLooseObjects(t *testing.T) {
	good := blob("hello\n")
	tests := []struct {
		name    string
		content []byte
		want    error
	}{
		{"empty", nil, odb.ErrObjectCorrupt},
		{"zeros", make([]byte, 30), odb.ErrObjectCorrupt},
		{"not zlib", []byte("blob 6\x00hello\n"), odb.ErrObjectCorrupt},
		{"other content", deflated("blob 6\x00world\n"), odb.ErrObjectCorrupt},
		{"shorter", deflated("blob 6\x00hel"), odb.ErrObjectCorrupt},
		{"longer", deflated("blob 6\x00hello\nand more"), odb.ErrObjectCorrupt},
		{"cut off", deflated("blob 6\x00hello\n")[:8], odb.ErrObjectCorrupt},
		{"no size", deflated("blob x\x00hello\n"), odb.ErrObjectCorrupt},
		{"negative size", deflated("blob -6\x00hello\n"), odb.ErrObjectCorrupt},
		{"empty size", deflated("blob \x00hello\n"), odb.ErrObjectCorrupt},
		{"unknown kind", deflated("event 6\x00hello\n"), odb.ErrObjectCorrupt},
		{"claims too much", deflated("blob 999999999999\x00hello\n"), odb.ErrObjectTooLarge},
		{"bomb", deflated("blob 6\x00" + strings.Repeat("0", 1<<20)), odb.ErrObjectCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			repo := newRepo(t)
			plant(t, repo, good.OID, tt.content)
			s := open(t, repo, odb.Options{Format: testFormat})
			_, _, err := s.ReadObject(good.OID)
			require.ErrorIs(t, err, tt.want)
			// Writing the object does not reuse the damaged one.
			require.NoError(t, s.Write(bg, odb.Batch{Objects: []odb.Object{good}}))
			requireReads(t, s, []odb.Object{good})
		})
	}
}

func TestDamagedLooseObjectWithAWholePackedOne(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, withGit(repo))
	objects := create(t, s, ref, 3)
	git(t, repo, "repack", "-adq")
	git(t, repo, "prune-packed")
	for i, content := range [][]byte{nil, make([]byte, 30), deflated("blob 6\x00" + strings.Repeat("0", 1<<20))} {
		plant(t, repo, objects[i].OID, content)
	}
	requireReads(t, s, objects)
	other := blob("hello\n")
	plant(t, repo, other.OID, nil)
	_, _, err := s.ReadObject(other.OID)
	require.ErrorIs(t, err, odb.ErrObjectCorrupt)
}

func TestObjectAboveTheLimit(t *testing.T) {
	repo := newRepo(t)
	opts := withGit(repo)
	opts.MaxObject = 1 << 10
	s := open(t, repo, opts)
	big := blob(strings.Repeat("x", 2<<10))
	require.NoError(t, s.Write(bg, odb.Batch{Objects: []odb.Object{big}}))
	_, _, err := s.ReadObject(big.OID)
	require.ErrorIs(t, err, odb.ErrObjectTooLarge)
	git(t, repo, "update-ref", "refs/tags/big", string(big.OID))
	git(t, repo, "repack", "-adq")
	git(t, repo, "prune-packed")
	_, _, err = s.ReadObject(big.OID)
	require.ErrorIs(t, err, odb.ErrObjectTooLarge)
}

func TestExistingObjectKeepsItsFile(t *testing.T) {
	eachPath(t, func(t *testing.T, path odb.Path) {
		repo := newRepo(t)
		oid, err := tryGit(repo, "hello\n", "hash-object", "-w", "--stdin")
		require.NoError(t, err)
		file := filepath.Join(repo, ".git/objects", oid[:2], oid[2:])
		before, err := os.Stat(file)
		require.NoError(t, err)
		s := open(t, repo, odb.Options{Format: testFormat, Path: path})
		require.Equal(t, odb.OID(oid), blob("hello\n").OID)
		require.NoError(t, s.Write(bg, odb.Batch{Objects: []odb.Object{blob("hello\n")}}))
		after, err := os.Stat(file)
		require.NoError(t, err)
		require.True(t, os.SameFile(before, after))
	})
}

// Any content comes back, from us and from git, on either side of the size at
// which objects begin to be deflated.
func TestContentRoundTrip(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat, Durability: odb.Off})
	rapid.Check(t, func(rt *rapid.T) {
		part := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(rt, "part")
		data := bytes.Repeat(part, rapid.IntRange(0, 40).Draw(rt, "times"))
		o := object("blob", data)
		require.NoError(rt, s.Write(bg, odb.Batch{Objects: []odb.Object{o}}))
		kind, got, err := s.ReadObject(o.OID)
		require.NoError(rt, err)
		require.Equal(rt, "blob", kind)
		require.True(rt, bytes.Equal(data, got))
	})
	requireSound(t, repo)
}

func TestParseOID(t *testing.T) {
	good := strings.Repeat("0a", 20)
	oid, err := odb.ParseOID(good)
	require.NoError(t, err)
	require.Equal(t, odb.OID(good), oid)
	for _, bad := range []string{"", good[1:], good + "0", strings.ToUpper(good), "g" + good[1:], good[:39] + "\n"} {
		_, err := odb.ParseOID(bad)
		require.ErrorIs(t, err, odb.ErrOID, bad)
	}
}
