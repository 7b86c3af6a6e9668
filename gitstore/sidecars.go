package gitstore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/safefile"
)

// sidecars are the sidecars of all conversations of a repository, in one folder.
type sidecars struct {
	dir     string // "<git dir>/jp/cache"
	ids     idLen
	git     *gitcmd.Git
	commits *commitReader
	tips    *tips
	log     *slog.Logger

	limit        int64                    // bytes of all together
	readOnly     atomic.Bool              // jp writes no sidecar
	unswept      atomic.Bool              // one was dropped, and segments may be left of it
	bytesWritten atomic.Int64             // since all sidecars were counted
	findings     atomic.Pointer[findings] // of the search that began last
}

const (
	logSuffix   = ".commits"
	wordsSuffix = ".words"
	indexSuffix = ".index"
)

var suffixes = []string{logSuffix, wordsSuffix, indexSuffix}

// usable reports whether the sidecars' folder is one, or can become one. A link in its place leads to a
// foreign folder.
func (s *sidecars) usable() bool {
	for _, dir := range []string{filepath.Dir(s.dir), s.dir} {
		info, err := os.Lstat(dir)
		if err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// seal makes the codes of words, nil without a key.
func (s *sidecars) seal() sealFunc {
	if !s.commits.mac.can() {
		return nil
	}
	return func(parts ...[]byte) [sha256.Size]byte {
		return s.commits.mac.sum(append([][]byte{[]byte("jp-words\x00")}, parts...)...)
	}
}

// path is the path of a conversation's sidecar, without the suffix.
func (s *sidecars) path(of conversation.Info) string {
	name := string(of.ID)
	if of.Remote != "" {
		name = url.PathEscape(of.Remote) + "@" + name
	}
	return filepath.Join(s.dir, name)
}

// drop removes a conversation's sidecar with its texts. Segments stay that other conversations share. close
// removes segments that the sidecar does not name.
func (s *sidecars) drop(id conversation.ID) error {
	path := s.path(conversation.Info{ID: id})
	words, _, ok := readWordIndex(path+wordsSuffix, nil, s.ids, s.seal())
	for _, suffix := range suffixes {
		if err := remove(path + suffix); err != nil {
			return err
		}
	}
	if ok && words.Before == noEvent {
		s.unswept.Store(true)
		return nil
	}
	s.unswept.Store(false)
	return s.sweep()
}

// close ends the work that drop has left.
func (s *sidecars) close() {
	if s.unswept.Load() {
		_ = s.sweep() // the next sweep does the rest
	}
}

// sweep removes the segments to which no conversation's newest segment leads, and files that a
// kill has left unfinished.
func (s *sidecars) sweep() error {
	if !s.usable() {
		return nil
	}
	segments := map[string][]string{} // paths of files, by their own without the suffix
	var newest []string
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		of := sidecarOf(path)
		switch {
		case safefile.IsTemporary(e.Name()):
			if err := remove(path); err != nil {
				return err
			}
		case s.isSegment(filepath.Base(of)):
			segments[of] = append(segments[of], path)
		case path == of+wordsSuffix:
			newest = append(newest, of)
		}
	}
	var buffer []byte
	for _, path := range newest {
		for len(segments) > 0 {
			var words *wordIndex
			var ok bool
			if words, buffer, ok = readWordIndex(path+wordsSuffix, buffer, s.ids, s.seal()); !ok || words.Before == noEvent {
				break
			}
			path = filepath.Join(s.dir, string(oidOf(words.Before, s.ids)))
			if segments[path] == nil {
				break // it is missing, or another one has led to it
			}
			delete(segments, path)
		}
	}
	for _, files := range segments {
		for _, path := range files {
			if err := remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// isSegment reports whether a sidecar's name is that of a segment that forks may share.
func (s *sidecars) isSegment(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 2*int(s.ids)
}

// remove removes a file that may be gone.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
		return err
	}
	return nil
}

// files are those of all sidecars, none without the folder.
func (s *sidecars) files() (files []fs.FileInfo) {
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && ours(e.Name()) {
			files = append(files, info)
		}
	}
	return files
}

// maxCache is how many bytes all sidecars together may take: more than a million
// events need.
const maxCache = 4 << 30

// boundShare: a process looks at all sidecars whenever it has written such a part of the limit.
const boundShare = 64

// firstBound is how many bytes a process counts as written before it has written
// any: many that write little look as often as one that writes much.
func firstBound() int64 { return rand.Int64N(maxCache / boundShare) }

// evict removes sidecars until the others, with the one just written, fit. Which
// ones go is left to chance: were it those that were written longest ago, a search of
// a little more than fits would remove each just before it comes to it.
func (s *sidecars) evict(written string) {
	files := map[string][]fs.FileInfo{}
	var names []string
	total := int64(0)
	for _, f := range s.files() {
		name := sidecarOf(f.Name())
		if files[name] == nil {
			names = append(names, name)
		}
		files[name] = append(files[name], f)
		total += f.Size()
	}
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		if total <= s.limit {
			return
		}
		if name == written {
			continue
		}
		for _, f := range files[name] {
			if os.Remove(filepath.Join(s.dir, f.Name())) == nil {
				total -= f.Size()
			}
		}
	}
}

// ours reports whether a file is of a sidecar, or a crash left it of one.
func ours(name string) bool { return safefile.IsTemporary(name) || sidecarOf(name) != name }

// sidecarOf is the common part of the names of one sidecar's files. For any other file it is the whole
// name.
func sidecarOf(name string) string {
	for _, suffix := range suffixes {
		if of, ok := strings.CutSuffix(name, suffix); ok {
			return of
		}
	}
	return name
}

func (s *sidecars) finder(of conversation.Info, in *findings) *finder {
	f := &finder{all: s, findings: in, newestPath: s.path(of), title: of.Summary.Title}
	if kept, ok := freeBuffers.Get().(*buffers); ok {
		f.buffers = *kept
	}
	return f
}

// CacheSize is how much the sidecars of a repository take. They can be deleted.
type CacheSize struct {
	Files int
	Bytes int64
	Limit int64 // of Bytes: beyond it some go
}
