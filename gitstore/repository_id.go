package gitstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jp/internal/safefile"
)

// RepositoryIDFile is the file of jp's folder that names the repository.
const RepositoryIDFile = "workspace-id"

// An IDRegistry names repositories, and tells a copy of one from its original.
//
// The name is a random word in jp's folder of the git directory. A copy of the directory copies the name, and
// any program that may write there can change it. So the user's own state has the place of the repository of
// each name: a copy gets a name of its own, a repository that was moved keeps its name, and a name that was
// changed is put back.
//
// Without a folder the registry is empty, and the files alone count.
type IDRegistry struct{ Dir string }

// A placeRecord is the place of a repository. One is stored under the name of the repository, and one under its
// place.
type placeRecord struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	Inode uint64 `json:"inode"`
}

// An identity is everything known about the repository at a place.
type identity struct {
	here placeRecord // with its present name, "" if it needs a new one
	file string      // the name in its file, or ""
	told bool        // the registry says so already
}

// Known is the repository's name, "" if it has none yet. It never writes.
func (r IDRegistry) Known(in safefile.StateDir) (string, error) {
	s, err := r.look(in)
	return s.here.ID, err
}

// ID is the repository's name; it makes one if needed.
func (r IDRegistry) ID(in safefile.StateDir) (string, error) {
	if err := in.Check(); err != nil {
		return "", err
	}
	s, err := r.look(in)
	if err != nil || s.settled() {
		return s.here.ID, err
	}
	unlock := r.lock()
	defer unlock()
	if s, err = r.look(in); err != nil || s.settled() { // another process was faster
		return s.here.ID, err
	}
	if s.here.ID == "" {
		s.here.ID = strings.ToLower(rand.Text())[:8]
	}
	if s.file != s.here.ID {
		if s.here.ID, err = writeID(in, s.file, s.here.ID); err != nil {
			return "", err
		}
	}
	r.keep(s.here)
	return s.here.ID, nil
}

// Place is the last known place of the repository of a name, or "".
func (r IDRegistry) Place(id string) string {
	if !isID(id) {
		return ""
	}
	rec, _ := r.read(id)
	return rec.Path
}

func (s identity) settled() bool { return s.here.ID != "" && s.file == s.here.ID && s.told }

// look finds the name of the repository at a place.
func (r IDRegistry) look(in safefile.StateDir) (s identity, err error) {
	if s.file, err = ReadID(in.GitDir); err != nil {
		return s, err
	}
	s.here.Path = in.GitDir
	if real, err := filepath.EvalSymlinks(in.GitDir); err == nil {
		s.here.Path = real
	}
	info, err := os.Stat(s.here.Path)
	if err != nil {
		return s, err
	}
	s.here.Inode = inodeOf(info)
	if before, ok := r.read(placeName(s.here.Path)); ok && before.Path == s.here.Path && before.Inode == s.here.Inode {
		s.here.ID, s.told = before.ID, true // instead of the name in its file
		return s, nil
	}
	if s.file == "" || r.copied(s.file, s.here.Path, info) {
		return s, nil
	}
	s.here.ID = s.file
	return s, nil
}

// copied reports whether a name belongs to another repository, which is still in its place.
func (r IDRegistry) copied(id, here string, info fs.FileInfo) bool {
	original, ok := r.read(id)
	if !ok || original.Path == here {
		return false
	}
	there, err := os.Stat(original.Path)
	if err != nil || os.SameFile(there, info) {
		return false
	}
	name, err := ReadID(original.Path)
	return err == nil && name == id
}

// keep writes both records. If they cannot be written, the file is all there is.
func (r IDRegistry) keep(rec placeRecord) {
	text, err := json.Marshal(rec)
	if err != nil || r.Dir == "" {
		return
	}
	for _, name := range []string{rec.ID, placeName(rec.Path)} {
		_ = safefile.Replace(filepath.Join(r.Dir, name), append(text, '\n'), safefile.Options{})
	}
}

func (r IDRegistry) read(name string) (rec placeRecord, ok bool) {
	if r.Dir == "" || name == "" {
		return rec, false
	}
	text, err := safefile.ReadRegular(filepath.Join(r.Dir, name))
	return rec, err == nil && json.Unmarshal(text, &rec) == nil && isID(rec.ID)
}

func placeName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return "at-" + hex.EncodeToString(sum[:12])
}

// lock keeps two processes from naming one repository differently. Without it they do so
// only in a copy that both meet first.
func (r IDRegistry) lock() (unlock func()) {
	if r.Dir == "" || os.MkdirAll(r.Dir, 0o700) != nil {
		return func() {}
	}
	unlock, err := safefile.LockFile(context.Background(), filepath.Join(r.Dir, "lock"))
	if err != nil {
		return func() {}
	}
	return unlock
}

// ReadID is the name that the file in a git directory has, or "". An empty file was cut off by a crash of the
// disk.
func ReadID(gitDir string) (string, error) {
	path := filepath.Join(gitDir, safefile.StateDirName, RepositoryIDFile)
	text, err := safefile.ReadRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case errors.Is(err, safefile.ErrNotRegular):
		err = fmt.Errorf("%s is not a regular file, or is larger than 1 MiB: remove it, and jp makes a new one", path)
	}
	if id := strings.TrimSpace(string(text)); isID(id) {
		return id, err
	}
	return "", err
}

// isID reports whether a word can be a repository's name: it becomes a file's, too.
func isID(id string) bool {
	return len(id) >= 4 && len(id) <= 32 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// writeID gives the file a name, in place of the one that it had. Of processes that name a
// repository at once the first one wins.
func writeID(in safefile.StateDir, before, id string) (string, error) {
	path := filepath.Join(in.GitDir, safefile.StateDirName, RepositoryIDFile)
	o := safefile.Options{Mode: 0o666, FolderMode: 0o777, Share: in.Share}
	var err error
	if before == "" {
		err = safefile.CreateNew(path, []byte(id+"\n"), o)
	} else {
		err = fs.ErrExist
	}
	if errors.Is(err, fs.ErrExist) {
		if now, err := ReadID(in.GitDir); err != nil || now != "" && now != before {
			return now, err
		}
		err = safefile.Replace(path, []byte(id+"\n"), o)
	}
	return id, err
}
