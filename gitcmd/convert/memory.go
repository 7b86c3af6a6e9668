package convert

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"sync"

	"jp/gitcmd"
	"jp/internal/safefile"
)

// A memory has the digests of the files with a filter that jp refuses to run, as far as this process has seen
// them. A copied file may be gone or changed when jp stores the copy.
type memory struct {
	mu    sync.Mutex
	file  string            // keeps it for later processes; may be ""
	key   []byte            // of the digests
	seen  map[seenFile]bool // files that were read
	kept  map[string]kept   // by digest
	sizes map[int64]bool    // of the contents
}

// A kept is whose content a digest is of.
type kept struct {
	Path   string `json:"path"`
	Filter string `json:"filter"`
	Size   int64  `json:"size"`
}

// A seenFile is one state of a file.
type seenFile struct {
	path string
	stat fileStat
	nsec int64
}

// memories are those of working trees, by their roots. All Checkers of the process share them.
var memories sync.Map

func memoryOf(topLevel string) *memory {
	m, _ := memories.LoadOrStore(topLevel, &memory{seen: map[seenFile]bool{}, sizes: map[int64]bool{}, kept: map[string]kept{}})
	return m.(*memory)
}

// Remember reads the files that need a refused filter, so that a copy of one is known by its content even if
// the file changes or goes. It is for the moment before a tool runs. headOf gives a commit, "" for none. It
// is called only if there is a refused filter.
func (c *Checker) Remember(ctx context.Context, headOf func() (string, error)) error {
	if c.repo.TopLevel == "" {
		return nil
	}
	if untrusted, err := c.git.UntrustedFilters(ctx); err != nil || len(untrusted) == 0 {
		return err
	}
	head, err := headOf()
	if err != nil {
		return err
	}
	index, err := c.index(ctx)
	if err != nil {
		return err
	}
	blobs := map[string]string{}
	if head != "" {
		if blobs, err = c.tree(ctx, head); err != nil {
			return err
		}
	}
	sources, err := c.sources(ctx, index, blobs, head)
	if err == nil {
		memoryOf(c.repo.TopLevel).read(sources)
	}
	return err
}

// maxKept is how many contents are kept for later processes: the newest.
const maxKept = 4096

// Keep stores the memory of a working tree in a file for later processes. The file is the user's alone. key
// makes the digests useless to others. If the file cannot be read or written, the memory is empty, without an
// error.
func Keep(topLevel, file string, key []byte) {
	m := memoryOf(topLevel)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == file {
		return
	}
	m.file, m.key = file, key
	m.seen, m.kept, m.sizes = map[seenFile]bool{}, map[string]kept{}, map[int64]bool{}
	text, err := safefile.ReadRegular(file)
	if err != nil || json.Unmarshal(text, &m.kept) != nil {
		return
	}
	for _, k := range m.kept {
		m.sizes[k.Size] = true
	}
}

// read reads the sources that are still unknown.
func (m *memory) read(sources map[string]*source) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fresh := false
	for _, s := range sources {
		info, err := os.Lstat(s.there)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue
		}
		file := seenFile{s.there, statOf(info), info.ModTime().UnixNano()}
		if m.seen[file] {
			continue
		}
		if id, ok := m.digest(s.there); ok {
			_, known := m.kept[id]
			fresh = fresh || !known
			m.seen[file], m.sizes[info.Size()], m.kept[id] = true, true, kept{s.gap.Path, s.gap.Filter, info.Size()}
		}
	}
	if !fresh || m.file == "" || len(m.kept) > maxKept {
		return
	}
	if text, err := json.Marshal(m.kept); err == nil {
		_ = safefile.Replace(m.file, text, safefile.Options{Mode: 0o600, FolderMode: 0o700, Volatile: true})
	}
}

// of is the file whose content another one has.
func (m *memory) of(file string, size int64) (Gap, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.sizes[size] {
		return Gap{}, false
	}
	id, ok := m.digest(file)
	k, known := m.kept[id]
	if !ok || !known {
		return Gap{}, false
	}
	return m.gap(k), true
}

func (m *memory) gap(k kept) Gap {
	return Gap{Path: k.Path, Filter: k.Filter, reason: gitcmd.ErrForeignFilter}
}

func (m *memory) digest(file string) (id string, ok bool) {
	f, err := os.Open(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	h := hmac.New(sha256.New, m.key)
	if _, err := io.Copy(h, f); err != nil {
		return "", false
	}
	return hex.EncodeToString(h.Sum(nil)), true
}
