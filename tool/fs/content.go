package fs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"jp/internal/charset"
)

// maxText is the size in bytes of the largest file that is held in memory.
const maxText = 16 << 20

// openFile opens exactly the regular file that was found at the place.
func (p *openedName) openFile() (*os.File, error) {
	switch {
	case p.info == nil:
		return nil, errNoSuchFile
	case p.info.IsDir():
		return nil, ErrDirectory
	case !p.info.Mode().IsRegular():
		return nil, ErrNotFile
	}
	// A pipe may have taken the file's place since. O_NONBLOCK keeps the open from waiting for it.
	f, err := p.dir.OpenFile(p.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, reason(err)
	}
	info, err := f.Stat()
	if err != nil || !os.SameFile(info, p.info) {
		return nil, errors.Join(ErrMoved, f.Close())
	}
	return f, nil
}

// content returns the bytes of the file at the place, at most maxText.
func (p *openedName) content() ([]byte, error) {
	f, err := p.openFile()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, reason(err)
	}
	if len(content) > maxText {
		return nil, fmt.Errorf("%w: more than %d MiB", ErrTooLarge, maxText>>20)
	}
	return content, nil
}

// decoded returns the text of the file at the place, and its encoding.
func (p *openedName) decoded() (string, charset.Encoding, error) {
	content, err := p.content()
	if err != nil {
		return "", charset.Encoding{}, err
	}
	return charset.Decode(content)
}

// changed reports whether another file has taken the place of the one found.
func (p *openedName) changed() bool {
	now, err := p.dir.Lstat(p.name)
	if p.info == nil || err != nil {
		return !(p.info == nil && errors.Is(err, fs.ErrNotExist))
	}
	return !os.SameFile(now, p.info) || now.Size() != p.info.Size() || !now.ModTime().Equal(p.info.ModTime())
}
