package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
)

// maxText is the largest file whose line ends jp looks at, in bytes.
const maxText = 16 << 20

// keepLineEnds gives staged files the line ends that they had, if git stores none: with core.autocrlf, or
// text=auto, git's checkout would choose them anew. The record of an undo knows the size of the file
// before, and the user's index the size of the file in the working tree when git last read its content. The
// size tells LF from CRLF. Without it git's choice stands. Of a file that had both, only the record of an
// undo knows the places.
func (r *restoring) keepLineEnds(ctx context.Context, puts []WriteOp) error {
	oids, ends := map[string]string{}, map[string]string{}
	var paths []string
	for _, p := range puts {
		if p.fromGit() && p.To.Mode != modeLink {
			paths = append(paths, p.Path)
			oids[p.Path] = p.To.OID
		}
	}
	if len(paths) == 0 {
		return nil
	}
	sizes, err := r.w.indexedSizes(ctx, oids, paths)
	if err != nil {
		return err
	}
	for _, p := range puts {
		if p.Size > 0 {
			sizes[p.Path], ends[p.Path] = p.Size, p.Ends
		}
	}
	for p, size := range sizes {
		if err := r.fitLineEnds(p, size, ends[p]); err != nil {
			return err
		}
	}
	return nil
}

// fitLineEnds writes a staged file with its other line ends, if it then has the size.
func (r *restoring) fitLineEnds(p string, size int64, ends string) error {
	name := filepath.Join(r.staged, "files", filepath.FromSlash(p))
	staged, err := readText(name)
	if mixed := withLineEnds(staged, ends); err == nil && mixed != nil && int64(len(mixed)) == size {
		return os.WriteFile(name, mixed, 0o600)
	}
	if err != nil || int64(len(staged)) == size {
		return nil // both choices are the same, or the file is reported missing at its turn
	}
	newlines := []string{"\n"}
	if bytes.IndexByte(staged, 0) >= 0 { // of a working-tree-encoding, or git would have kept its bytes
		newlines = wideNewlines
	}
	var fit []byte
	for _, newline := range newlines {
		other := otherLineEnds(staged, newline)
		if int64(len(other)) != size {
			continue
		}
		if fit != nil {
			return nil // two encodings fit
		}
		fit = other
	}
	if fit == nil {
		return nil
	}
	return os.WriteFile(name, fit, 0o600) // it is there: its mode stays
}

// mostRuns bounds the line ends that are kept of a file with both.
const mostRuns = 1000

// LineEnds are the line ends of a file that has both LF and CRLF: how many lines have LF, how many after these have CRLF,
// and so on. It is "" for other files, and for those that change too often.
func LineEnds(name string) string {
	text, err := readText(name)
	if err != nil || bytes.IndexByte(text, 0) >= 0 || bytes.Count(text, []byte("\n")) == bytes.Count(text, []byte("\r\n")) {
		return ""
	}
	runs := []int{0}
	for line := range bytes.Lines(text) {
		crlf := bytes.HasSuffix(line, []byte("\r\n"))
		switch {
		case !bytes.HasSuffix(line, []byte("\n")):
			continue
		case crlf != (len(runs)%2 == 0):
			runs = append(runs, 0)
		}
		runs[len(runs)-1]++
	}
	if len(runs) == 1 || len(runs) > mostRuns {
		return ""
	}
	return strings.Trim(fmt.Sprint(runs), "[]")
}

// withLineEnds is a text with the line ends that [LineEnds] found, nil if they are another text's.
func withLineEnds(text []byte, ends string) []byte {
	runs := strings.Fields(ends)
	var out []byte
	for i, left := -1, 0; len(text) > 0; left-- {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		for ; ended && left == 0; i++ {
			var err error
			if i+1 == len(runs) {
				return nil
			}
			if left, err = strconv.Atoi(runs[i+1]); err != nil || left < 0 {
				return nil
			}
		}
		text, out = rest, append(out, bytes.TrimSuffix(line, []byte("\r"))...)
		switch {
		case !ended:
			out = append(out, line[len(bytes.TrimSuffix(line, []byte("\r"))):]...)
		case i%2 == 0:
			out = append(out, '\n')
		default:
			out = append(out, "\r\n"...)
		}
	}
	return out
}

// wideNewlines are LF in UTF-16 and UTF-32, each with the low byte first and last.
var wideNewlines = []string{"\n\x00", "\x00\n", "\n\x00\x00\x00", "\x00\x00\x00\n"}

// otherLineEnds is a text with LF in place of CRLF, or else with CRLF in place of LF.
// newline is one LF in the encoding of the text.
func otherLineEnds(text []byte, newline string) []byte {
	unit := len(newline)
	ret := strings.ReplaceAll(newline, "\n", "\r")
	lf, crlf := make([]byte, 0, len(text)), make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		end := min(i+unit, len(text))
		c := string(text[i:end])
		switch next := string(text[end:min(end+unit, len(text))]); {
		case c == ret && next == newline:
			lf = append(lf, newline...)
			crlf = append(crlf, ret+newline...)
			end += unit
		case c == newline:
			lf = append(lf, newline...)
			crlf = append(crlf, ret+newline...)
		default:
			lf, crlf = append(lf, c...), append(crlf, c...)
		}
		i = end
	}
	if len(lf) < len(text) {
		return lf
	}
	return crlf
}

// mostNamed is the number of paths for which jp asks git by name.
const mostNamed = 200

// indexedSizes are the sizes that files had when the user's index got the content that
// is asked for, by path; those are left out of which it has other content.
func (w *Worktree) indexedSizes(ctx context.Context, oids map[string]string, paths []string) (map[string]int64, error) {
	if len(paths) > mostNamed {
		paths = nil // all of them, since a command line has a limit
	}
	out, err := w.git.Run(ctx, append([]string{"ls-files", "-z", "--stage", "--debug", "--"}, paths...)...)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) {
		return map[string]int64{}, nil
	}
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	entry := "" // "mode oid stage\tpath", whose facts come behind its NUL
	for _, part := range strings.Split(string(out), "\x00") {
		facts, next := "", part
		if i := strings.LastIndexByte(part, '\n'); i >= 0 {
			facts, next = part[:i+1], part[i+1:]
		}
		head, path, _ := strings.Cut(entry, "\t")
		_, size, _ := strings.Cut(facts, "\n  size: ")
		size, _, _ = strings.Cut(size, "\t")
		if fields := strings.Fields(head); len(fields) == 3 && oids[path] == fields[1] && fields[2] == "0" {
			if n, err := strconv.ParseInt(size, 10, 64); err == nil {
				sizes[path] = n
			}
		}
		entry = next
	}
	return sizes, nil
}

// readText reads a regular file of bounded size.
func readText(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
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
