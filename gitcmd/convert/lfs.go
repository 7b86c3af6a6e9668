package convert

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"jp/gitcmd"
)

// PointerSize is more bytes than a pointer of git-lfs has.
const PointerSize = 1024

// IsPointer reports whether a text is a pointer to content in git-lfs.
func IsPointer(text []byte) bool {
	return len(text) <= PointerSize && bytes.HasPrefix(text, []byte("version https://git-lfs.github.com/spec/"))
}

// PointerOID is the hash of the content of a pointer, "" for other texts.
func PointerOID(text []byte) string {
	if !IsPointer(text) {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if oid, is := strings.CutPrefix(strings.TrimSpace(line), "oid sha256:"); is && len(oid) == 64 && strings.Trim(oid, "0123456789abcdef") == "" {
			return oid
		}
	}
	return ""
}

// Stored reports whether the content of a pointer is here. If the user keeps it in a folder of their own
// choice, Stored reports true.
func Stored(ctx context.Context, git *gitcmd.Git, pointer []byte) bool {
	oid := PointerOID(pointer)
	if oid == "" {
		return true
	}
	if out, err := git.RunWith(ctx, gitcmd.Command{Args: []string{"config", "--get", "lfs.storage"}, Content: true}); err == nil && strings.TrimSpace(string(out)) != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(git.Repository().CommonDir, "lfs", "objects", oid[:2], oid[2:4], oid))
	return err == nil
}

// Small reads those of some objects that are small enough for pointers, by id.
func Small(ctx context.Context, git *gitcmd.Git, oids []string) (map[string][]byte, error) {
	sizes, err := Sizes(ctx, git, oids)
	if err != nil {
		return nil, err
	}
	var small []string
	for oid, size := range sizes {
		if size <= PointerSize {
			small = append(small, oid)
		}
	}
	return batch(ctx, git, small)
}

// Sizes are those of some blobs, by id. It leaves out blobs that are missing here.
func Sizes(ctx context.Context, git *gitcmd.Git, oids []string) (map[string]int64, error) {
	if len(oids) == 0 {
		return nil, nil
	}
	out, err := git.RunWith(ctx, gitcmd.Command{
		Args: []string{"cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"}, Stdin: strings.NewReader(strings.Join(oids, "\n") + "\n"),
	})
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[1] != "blob" {
			continue
		}
		if size, err := strconv.ParseInt(fields[2], 10, 64); err == nil {
			sizes[fields[0]] = size
		}
	}
	return sizes, nil
}

// batch reads objects, by id. It leaves out objects that are missing here.
func batch(ctx context.Context, git *gitcmd.Git, oids []string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	if len(oids) == 0 {
		return texts, nil
	}
	out, err := git.RunWith(ctx, gitcmd.Command{Args: []string{"cat-file", "--batch"}, Stdin: strings.NewReader(strings.Join(oids, "\n") + "\n")})
	if err != nil {
		return nil, err
	}
	for rest := out; len(rest) > 0; {
		head, body, _ := bytes.Cut(rest, []byte("\n"))
		fields := strings.Fields(string(head))
		if len(fields) != 3 {
			rest = body // it is missing
			continue
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || size >= len(body) {
			return nil, io.ErrUnexpectedEOF
		}
		texts[fields[0]] = append([]byte{}, body[:size]...)
		rest = body[size+1:]
	}
	return texts, nil
}

// LeavesPointers reports whether the user's own git would leave a pointer of git-lfs in the place of a file
// with a filter, by the environment or by the filter.
func LeavesPointers(ctx context.Context, git *gitcmd.Git, filter string) bool {
	if git.SkipsSmudge() {
		return true
	}
	filters, err := git.Filters(ctx)
	if err != nil {
		return false
	}
	for _, f := range filters {
		if f.Name == filter {
			return strings.Contains(f.Smudge+" "+f.Process, "--skip")
		}
	}
	return false
}
