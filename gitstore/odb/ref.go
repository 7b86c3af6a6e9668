package odb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"jp/gitcmd"
)

// read looks at the loose and the packed refs twice before it says ErrRefNotFound, since
// git moves refs between them, or once if the packed refs are unchanged. A file without
// an object name, read twice too, is ErrRefBroken.
func (r fileRefs) read(name string) (OID, error) {
	s := r.store
	before := s.packed.seen()
	oid, err := r.lookup(name)
	changed := before == 0 || s.packed.seen() != before
	if errors.Is(err, ErrRefNotFound) && changed || errors.Is(err, ErrRefBroken) {
		oid, err = r.lookup(name)
	}
	var packed *PackedRefsError
	switch {
	case errors.As(err, &packed): // the damaged line is not this ref's
	case errors.Is(err, ErrRefBroken), errors.Is(err, ErrRefSymbolic):
		return "", &UnreadableRef{Ref: name, Err: err}
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return oid, nil
}

func (r fileRefs) lookup(name string) (OID, error) {
	oid, err := r.loose(name)
	if oid != "" || err != nil {
		return oid, err
	}
	packed, err := r.store.packedRefs()
	if err != nil {
		return "", err
	}
	if oid, err = packed.find(name); oid == "" && err == nil {
		err = ErrRefNotFound
	}
	return oid, err
}

// loose returns the loose value of a ref, empty if there is none. Only directories that are opened after
// the call began can tell: one that was open before may have been removed and made again since, and hold
// newer values than the packed refs.
func (r fileRefs) loose(name string) (OID, error) {
	s := r.store
	file, err := r.openLoose(name)
	if errors.Is(err, ErrRefConflict) {
		return "", nil
	}
	oid, file, err := readRefFile(file, err, s.opts.Format)
	if file != nil {
		file.Close()
	}
	return oid, err
}

// openLoose opens the file of a loose ref, in one step if possible.
func (r fileRefs) openLoose(name string) (File, error) {
	s := r.store
	if root, ok := s.root.(PathDir); ok {
		file, err := root.OpenPath(name)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	dirName, base := splitRef(name)
	dir, err := s.walkDir(dirName, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Open(base)
}

// readRefFile reads the file of a loose ref after an attempt to open it, and leaves it open for the caller.
// Both results are empty if there is none.
func readRefFile(file File, err error, format gitcmd.ObjectFormat) (OID, File, error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, nil
	case errors.Is(err, syscall.ELOOP):
		return "", nil, fmt.Errorf("%w: its file is a link", ErrRefSymbolic)
	case err != nil:
		return "", nil, classifyRead(err)
	}
	var buf [256]byte
	n, err := io.ReadAtLeast(file, buf[:], format.Digits()+1)
	switch {
	case errors.Is(err, syscall.EISDIR):
		file.Close()
		return "", nil, nil
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		file.Close()
		return "", nil, err
	}
	oid, err := parseRef(string(buf[:n]), format)
	return oid, file, err
}

func parseRef(content string, format gitcmd.ObjectFormat) (OID, error) {
	if strings.HasPrefix(content, "ref:") {
		return "", fmt.Errorf("%w: %q", ErrRefSymbolic, strings.TrimSpace(content))
	}
	oid := strings.TrimRight(content, " \t\r\n")
	if !isName(oid, format) || strings.Trim(oid, "0") == "" { // git's null object id names nothing
		return "", fmt.Errorf("%w: its file holds %q", ErrRefBroken, content)
	}
	return OID(oid), nil
}
