package packing_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/packing"
)

// overwrite damages an object in a pack.
func (f *field) overwrite(pack, oid string) {
	f.t.Helper()
	for line := range strings.Lines(f.git("verify-pack", "-v", pack)) {
		fields := strings.Fields(line)
		if fields[0] != oid {
			continue
		}
		at, err := strconv.ParseInt(fields[4], 10, 64)
		require.NoError(f.t, err)
		require.NoError(f.t, os.Chmod(pack, 0o644))
		file, err := os.OpenFile(pack, os.O_WRONLY, 0)
		require.NoError(f.t, err)
		_, err = file.WriteAt([]byte{0xff, 0xff, 0xff}, at+2)
		require.NoError(f.t, err)
		require.NoError(f.t, file.Close())
		return
	}
	f.t.Fatalf("%s is not in %s", oid, pack)
}

// loosen writes an object loose, even if a pack has it.
func (f *field) loosen(kind string, data []byte) (path string) {
	f.t.Helper()
	oid := string(object(kind, string(data)).OID)
	path = filepath.Join(f.dir, ".git/objects", oid[:2], oid[2:])
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	fmt.Fprintf(z, "%s %d\x00%s", kind, len(data), data)
	require.NoError(f.t, z.Close())
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(f.t, os.WriteFile(path, out.Bytes(), 0o444))
	return path
}

func (f *field) packFiles() []string {
	f.t.Helper()
	found, err := filepath.Glob(filepath.Join(f.dir, ".git/objects/pack/*.pack"))
	require.NoError(f.t, err)
	return found
}

// The user's loose objects stay, although a pack of the user's has them, too: that copy may be damaged.
func TestTheOnlyGoodCopyStays(t *testing.T) {
	f := newField(t)
	f.git("repack", "-a", "-d", "-q")
	content := f.git("cat-file", "blob", "HEAD:README.md") + "\n"
	f.overwrite(f.packFiles()[0], f.git("rev-parse", "HEAD:README.md"))
	path := f.loosen("blob", []byte(content))
	f.grow("jp-c17528832001-aaaa", 3)
	_, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.FileExists(t, path)
}

// A pack of ours that cannot be read stays, and the others become one without it.
func TestADamagedPackIsNotMerged(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 3)
	_, err := f.Pack(t.Context())
	require.NoError(t, err)
	damaged := f.packFiles()[0]
	f.overwrite(damaged, f.git("rev-parse", "refs/jp/conversations/jp-c17528832001-aaaa"))
	f.grow("jp-c17528832002-bbbb", 3)
	_, err = f.Pack(t.Context())
	require.ErrorContains(t, err, "merge packs")
	for range 3 {
		f.grow("jp-c17528832002-bbbb", 3)
		_, err = f.Pack(t.Context())
		require.NoError(t, err)
	}
	require.FileExists(t, damaged)
	require.Equal(t, 2, f.packs())
	require.NoDirExists(t, filepath.Join(f.dir, ".git/objects/jp-packing"))
}

// If git keeps an index of many packs, their merging is git's. jp removes an index that names missing
// packs.
func TestAnIndexOfManyPacks(t *testing.T) {
	f := newField(t)
	file := filepath.Join(f.dir, ".git/objects/pack/multi-pack-index")
	for i := range 3 {
		f.grow("jp-c17528832001-aaaa", 3)
		r, err := f.Pack(t.Context())
		require.NoError(t, err)
		require.Zero(t, r.Merged)
		require.Equal(t, i+1, f.packs())
		f.git("multi-pack-index", "write")
		require.False(t, f.Misled())
		f.whole()
	}
	require.NoError(t, os.Rename(file, file+".kept"))
	_, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, f.packs())
	require.NoError(t, os.Rename(file+".kept", file))
	require.True(t, f.Misled())
	_, err = f.Pack(t.Context())
	require.NoError(t, err)
	require.NoFileExists(t, file)
	f.whole()
}

// The user's settings for packs that travel do not hold for ours.
func TestConfiguredSizeAndVersion(t *testing.T) {
	f := newField(t)
	f.git("config", "pack.packSizeLimit", "1m")
	f.git("config", "pack.indexVersion", "1")
	f.bulk = 700 << 10
	for range 3 {
		f.grow("jp-c17528832001-aaaa", 2)
		r, err := f.Pack(t.Context())
		require.NoError(t, err)
		require.Equal(t, 6, r.Packed)
	}
	require.LessOrEqual(t, f.packs(), 2)
	f.whole()
}

// With any state, a Pack stumbles over it at most once.
func TestAnySortOfState(t *testing.T) {
	for name, change := range map[string]func(state, pack string) string{
		"twice": func(_, pack string) string {
			return fmt.Sprintf(`{"packs":[{"name":%[1]q,"objects":1},{"name":%[1]q,"objects":1}]}`, pack)
		},
		"negative": func(_, pack string) string { return fmt.Sprintf(`{"packs":[{"name":%q,"objects":-1}]}`, pack) },
		"huge": func(_, pack string) string {
			return fmt.Sprintf(`{"packs":[{"name":%q,"objects":9223372036854775807}]}`, pack)
		},
		"no such": func(state, pack string) string {
			return strings.ReplaceAll(state, pack, "pack-"+strings.Repeat("0", 40))
		},
		"a path": func(state, pack string) string { return strings.ReplaceAll(state, pack, "../../config") },
		"text":   func(string, string) string { return "gone" },
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t)
			f.grow("jp-c17528832001-aaaa", 5)
			_, err := f.Pack(t.Context())
			require.NoError(t, err)
			file := filepath.Join(f.dir, ".git/jp/packing.json")
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			pack := strings.TrimSuffix(filepath.Base(f.packFiles()[0]), ".pack")
			require.NoError(t, os.WriteFile(file, []byte(change(string(text), pack)), 0o666))
			for range 3 {
				f.grow("jp-c17528832001-aaaa", 5)
				_, err = f.Pack(t.Context())
				require.NoError(t, err)
			}
			require.LessOrEqual(t, f.packs(), 2)
			f.whole()
		})
	}
}

// An index without its pack, or a pack without its index, is not ours to merge.
func TestHalfAPackIsNotMerged(t *testing.T) {
	for _, suffix := range []string{".pack", ".idx"} {
		f := newField(t)
		f.grow("jp-c17528832001-aaaa", 5)
		_, err := f.Pack(t.Context())
		require.NoError(t, err)
		half := strings.TrimSuffix(f.packFiles()[0], ".pack") + suffix
		require.NoError(t, os.Rename(half, half+".kept"))
		f.grow("jp-c17528832002-bbbb", 5)
		for range 2 {
			_, err = f.Pack(t.Context())
			require.NoError(t, err)
		}
		require.NoError(t, os.Rename(half+".kept", half))
		f.whole()
	}
}

// A pack that was never indexed and cannot be does not stop the others.
func TestADamagedPackWithoutIndex(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 2)
	name := "pack-" + strings.Repeat("1", 40)
	pack := filepath.Join(f.dir, ".git/objects/pack", name+".pack")
	text := fmt.Sprintf(`{"packs":[{"name":%q,"objects":1,"loose":true}]}`, name)
	file := filepath.Join(f.dir, ".git/jp/packing.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(pack), 0o777))
	require.NoError(t, os.WriteFile(pack, []byte("PACK"), 0o444))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	r, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.Equal(t, 6, r.Packed)
	f.whole()
}

func FuzzMultiIndex(f *testing.F) {
	for n := range 3 {
		names := strings.Repeat("pack-0123456789012345678901234567890123456789.idx\x00", n)
		f.Add([]byte("MIDX\x01\x01\x01\x00\x00\x00\x00\x01PNAM\x00\x00\x00\x00\x00\x00\x00\x24\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + string(rune(0x24+len(names))) + names))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		names, err := packing.MultiNames(data)
		if err != nil {
			require.Empty(t, names)
		}
		for _, name := range names {
			require.Contains(t, string(data), name)
		}
	})
}

// isLoose reports whether a path is that of a loose object.
func isLoose(path string) bool { return len(filepath.Base(path)) == testFormat.Digits()-2 }

// The names of a new pack are on the disk before a loose file goes for it.
func TestAPackIsFlushedBeforeLooseFilesGo(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 3)
	var order []string
	f.Before(func(what, path string) error {
		inPacks := filepath.Dir(path) == filepath.Join(f.dir, ".git/objects/pack")
		if inPacks && what == "rename" || path == filepath.Join(f.dir, ".git/objects/pack") || isLoose(path) {
			order = append(order, what)
		}
		return nil
	})
	_, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"rename", "sync", "remove"}, slices.Compact(order))
}

// A Pack that was broken off before that flush leaves it to the next one.
func TestTheNextPackFlushesWhatWasNot(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 3)
	broken := errors.New("broken off")
	f.Before(func(what, _ string) error {
		if what == "sync" {
			return broken
		}
		return nil
	})
	_, err := f.Pack(t.Context())
	require.ErrorIs(t, err, broken)

	f.open("git")
	var order []string
	f.Before(func(what, path string) error {
		if what == "sync" || isLoose(path) {
			order = append(order, what)
		}
		return nil
	})
	_, err = f.Pack(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"sync", "remove"}, slices.Compact(order))
	f.whole()
}

// If that flush fails, all loose files stay.
func TestLooseFilesStayWhereThePackIsNotFlushed(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 3)
	before := f.Loose()
	f.Before(func(what, _ string) error {
		if what == "sync" {
			return syscall.EIO
		}
		return nil
	})
	_, err := f.Pack(t.Context())
	require.ErrorIs(t, err, syscall.EIO)
	require.Equal(t, before, f.Loose())
	f.whole()
}

// A pack that was damaged after it was made keeps all its objects' loose files.
func TestLooseFilesStayBesideADamagedPack(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 3)
	before := f.Loose()
	f.Before(func(what, path string) error {
		if what == "remove" && isLoose(path) {
			return packing.ErrBroken
		}
		return nil
	})
	_, err := f.Pack(t.Context())
	require.ErrorIs(t, err, packing.ErrBroken)
	damaged := f.packFiles()[0]
	f.overwrite(damaged, f.git("rev-parse", "refs/jp/conversations/jp-c17528832001-aaaa"))
	f.open("git")
	_, err = f.Pack(t.Context())
	require.NoError(t, err)
	require.Equal(t, before, f.Loose())
	for _, suffix := range []string{"idx", "pack", "rev"} {
		_ = os.Remove(strings.TrimSuffix(damaged, "pack") + suffix)
	}
	f.whole()
}

// Packs stay if the one that they would become lacks an object of theirs.
func TestPacksStayWhereTheirOneLacksSomething(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 3)
	_, err := f.Pack(t.Context())
	require.NoError(t, err)
	first := f.packFiles()[0]
	f.grow("jp-c17528832001-aaaa", 3)
	f.open(brokenGit(t, "--stdin-packs", `sed 1d | git "$@"; exit`))
	_, err = f.Pack(t.Context())
	require.ErrorIs(t, err, packing.ErrUnread)
	require.Contains(t, f.packFiles(), first)
	require.Equal(t, 2, f.packs())
	f.whole()
}

// If a file of a new pack is removed while it is listed, the loose files stay.
func TestLooseFilesStayWhereTheirPackIsRemoved(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17528832001-aaaa", 3)
	before := f.Loose()
	f.open(brokenGit(t, "show-index", `git "$@"; rm -f .git/objects/pack/pack-*; exit`))
	_, err := f.Pack(t.Context())
	require.ErrorIs(t, err, packing.ErrUnread)
	require.Zero(t, f.packs())
	require.Equal(t, before, f.Loose())
	f.whole()
}

// Packs are flushed even if the user's git flushes nothing.
func TestWhatPacksFlushesIt(t *testing.T) {
	f := newField(t)
	f.git("config", "core.fsync", "none")
	f.git("config", "core.fsyncMethod", "batch")
	seen := filepath.Join(t.TempDir(), "seen")
	f.open(brokenGit(t, "pack-objects", `o="$*"; for k in core.fsync core.fsyncMethod; do git ${o%%pack-objects*} config $k >>`+seen+`; done`))
	for range 2 { // loose objects become a pack, then two packs one
		f.grow("jp-c17528832001-aaaa", 3)
		_, err := f.Pack(t.Context())
		require.NoError(t, err)
	}
	text, err := os.ReadFile(seen)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("all\nfsync\n", 3), string(text))
}
