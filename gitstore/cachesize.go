package gitstore

import "os"

// CacheSize is how much the sidecars of a repository take. They can be deleted.
type CacheSize struct {
	Files int
	Bytes int64
	Limit int64 // of Bytes: beyond it those go that were written longest ago
}

// CacheSize looks at the sidecars' files. Where there are none it is 0 of Limit.
func (s *Store) CacheSize() CacheSize {
	size := CacheSize{Limit: s.maxCache}
	entries, _ := os.ReadDir(s.cacheDir()) // no folder, no sidecars
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && ours(e.Name()) {
			size.Files++
			size.Bytes += info.Size()
		}
	}
	return size
}
