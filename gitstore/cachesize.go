package gitstore

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"jp/internal/safefile"
)

// maxCache is how many bytes all sidecars together may take: more than a million
// events need.
const maxCache = 4 << 30

// CacheSize is how much the sidecars of a repository take. They can be deleted.
type CacheSize struct {
	Files int
	Bytes int64
	Limit int64 // of Bytes: beyond it some go
}

// CacheSize looks at the sidecars' files. Where there are none it is 0 of Limit.
func (s *Store) CacheSize() CacheSize {
	size := CacheSize{Limit: s.maxCache}
	for _, f := range s.cacheFiles() {
		size.Files++
		size.Bytes += f.Size()
	}
	return size
}

// cacheFiles are those of all sidecars, none where there is no folder.
func (s *Store) cacheFiles() (files []fs.FileInfo) {
	entries, _ := os.ReadDir(s.cacheDir())
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && ours(e.Name()) {
			files = append(files, info)
		}
	}
	return files
}

// boundShare is after which part of what all may take all are looked at.
const boundShare = 64

// firstBound is how many bytes a process counts as written before it has written
// any: many that write little look as often as one that writes much.
func firstBound() int64 { return rand.Int64N(maxCache / boundShare) }

// bound looks at all sidecars once much was written.
func (c *cached) bound() {
	if !c.store.still.Load() && c.store.grown.Load() >= c.store.maxCache/boundShare {
		c.store.grown.Store(0)
		c.store.boundCache(filepath.Base(c.path))
	}
}

// boundCache removes sidecars until the others, with the one just written, fit. Which
// ones go is left to chance: were it those that were written longest ago, a search of
// a little more than fits would remove each just before it comes to it.
func (s *Store) boundCache(written string) {
	files := map[string][]fs.FileInfo{}
	var names []string
	total := int64(0)
	for _, f := range s.cacheFiles() {
		name := sidecarOf(f.Name())
		if files[name] == nil {
			names = append(names, name)
		}
		files[name] = append(files[name], f)
		total += f.Size()
	}
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		if total <= s.maxCache {
			return
		}
		if name == written {
			continue
		}
		for _, f := range files[name] {
			if os.Remove(filepath.Join(s.cacheDir(), f.Name())) == nil {
				total -= f.Size()
			}
		}
	}
}

// ours reports whether a file is of a sidecar, or what a crash left of one.
func ours(name string) bool { return safefile.IsTemporary(name) || sidecarOf(name) != name }

// sidecarOf is what the files of one sidecar have in common; all of a name that is none's.
func sidecarOf(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, logSuffix), wordsSuffix)
}
