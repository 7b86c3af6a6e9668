package repo

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"jp/internal/safefile"
)

// namedOnce is the random name in a file of jp's folder. It makes the file on demand, atomically. An empty
// file was cut off by a crash of the disk and is made again.
func namedOnce(in safefile.StateDir, name string) (string, error) {
	if err := in.Check(); err != nil {
		return "", err
	}
	path := filepath.Join(in.GitDir, safefile.StateDirName, name)
	if id, err := readWord(path); id != "" || err != nil {
		return id, err
	}
	id := []byte(strings.ToLower(rand.Text())[:8] + "\n")
	o := safefile.Options{Mode: 0o666, FolderMode: 0o777, Share: in.Share}
	err := safefile.CreateNew(path, id, o)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		if id, err := readWord(path); id != "" || err != nil {
			return id, err
		}
		err = safefile.Replace(path, id, o)
	}
	if err != nil {
		return "", err
	}
	return readWord(path)
}

// readWord is the one word in a file, "" if the file is missing.
func readWord(path string) (string, error) {
	text, err := safefile.ReadRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case errors.Is(err, safefile.ErrNotRegular):
		err = fmt.Errorf("%s is not a regular file, or is larger than 1 MiB: remove it, and jp makes a new one", path)
	}
	return strings.TrimSpace(string(text)), err
}
