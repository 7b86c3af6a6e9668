package worktree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
)

// maxText is the largest file whose line ends are looked at, in bytes.
const maxText = 16 << 20

// keepLineEnds gives staged files CRLF line ends where all of the file in their
// place are so, and where that is the same content to git: with
// core.autocrlf=input, or text=auto, what git stores does not say that they were
// CRLF, and its checkout would make all of them LF. Not the other way round: LF
// where git checks out CRLF is what a tool leaves that wrote the whole file.
func (r *restoring) keepLineEnds(ctx context.Context, puts []Put) error {
	for _, p := range puts {
		if !regular(p.Is) || !regular(p.To) {
			continue
		}
		if err := r.keepCRLF(ctx, p.Path, p.To.OID); err != nil {
			return err
		}
	}
	return nil
}

func regular(v Version) bool { return v.Mode == modeFile || v.Mode == modeExec }

// keepCRLF looks at one file. What cannot be read is left as it was staged.
func (r *restoring) keepCRLF(ctx context.Context, p, oid string) error {
	now, err := readText(func(flags int) (*os.File, error) { return r.root.OpenFile(filepath.FromSlash(p), flags, 0) })
	if err != nil || !allCRLF(now) {
		return nil
	}
	name := filepath.Join(r.staged, "files", filepath.FromSlash(p))
	staged, err := readText(func(flags int) (*os.File, error) { return os.OpenFile(name, flags, 0) })
	if err != nil || len(staged) == 0 || bytes.ContainsAny(staged, "\r\x00") {
		return nil
	}
	kept := bytes.ReplaceAll(staged, []byte("\n"), []byte("\r\n"))
	out, err := r.w.git.RunWith(ctx, gitcmd.Command{
		Args: []string{"hash-object", "--stdin", "--path=" + p}, Stdin: bytes.NewReader(kept), Content: true,
	})
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) || err == nil && strings.TrimSpace(string(out)) != oid {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(name, kept, 0o600) // it is there: its mode stays
}

// readText reads a regular file that is not too large.
func readText(open func(flags int) (*os.File, error)) ([]byte, error) {
	f, err := open(os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxText {
		return nil, fs.ErrInvalid
	}
	return io.ReadAll(io.LimitReader(f, maxText))
}

// allCRLF says whether text has line ends, and each of them is CRLF.
func allCRLF(text []byte) bool {
	ends := bytes.Count(text, []byte("\n"))
	return ends > 0 && ends == bytes.Count(text, []byte("\r\n")) && ends == bytes.Count(text, []byte("\r"))
}
