package backup

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jp/internal/safetext"
)

// An Entry is one path at a moment.
type Entry struct {
	Path         string
	Mode         uint32 // as lstat gives it, with the kind; 0: the path was missing
	Size         int64
	Mtime, Ctime int64 // nanoseconds
	Dev, Ino     uint64
	Links        uint64
	OID          string // of the content, or of the target of a link; "" if unknown
	Why          string // why the copy is missing; "" if there is one or the path needs none
}

// Why a file has no copy.
const (
	WhyLarge    = "too large"
	WhyLimit    = "over the limit"
	WhyExcluded = "excluded"
	WhyMoving   = "changed while jp read it"
	WhyUnread   = "unreadable"
	WhyFolder   = "folder"                          // one that git ignores, or another repository, outside of jp's look
	WhySpecial  = "jp copies files and links alone" // a pipe, a socket or a device
	whyTracked  = "in a tree"                       // only the mode is kept here
)

func (e *Entry) kind() uint32 { return e.Mode & unix.S_IFMT }

// IsFolder reports whether it is a folder without files.
func (e *Entry) IsFolder() bool { return e.kind() == unix.S_IFDIR }

// IsLink reports whether it is a symbolic link.
func (e *Entry) IsLink() bool { return e.kind() == unix.S_IFLNK }

// IsFile reports whether it is a regular file.
func (e *Entry) IsFile() bool { return e.kind() == unix.S_IFREG }

// IsSpecial reports whether it is a pipe, a socket or a device.
func (e *Entry) IsSpecial() bool {
	return e.There() && !e.IsFolder() && !e.IsLink() && !e.IsFile()
}

// Extent is the size of a file, or the kind of another entry.
func (e *Entry) Extent() string {
	switch e.kind() {
	case unix.S_IFIFO:
		return "a pipe"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFCHR, unix.S_IFBLK:
		return "a device"
	}
	return safetext.Bytes(e.Size)
}

// There reports whether the path existed.
func (e *Entry) There() bool { return e.Mode != 0 }

// OnlyMode reports whether the content is in a tree, and only the mode is kept here.
func (e *Entry) OnlyMode() bool { return e.Why == whyTracked }

// Kept reports whether there is a copy of the content, or none is needed.
func (e *Entry) Kept() bool { return e.OID != "" || e.Why == "" && e.IsFolder() }

func entryOf(path string, st *unix.Stat_t) Entry {
	return Entry{
		Path: path, Mode: uint32(st.Mode), Size: st.Size, Mtime: unix.TimespecToNsec(st.Mtim), Ctime: unix.TimespecToNsec(st.Ctim),
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Links: uint64(st.Nlink),
	}
}

// sameFile reports whether a file is untouched between two looks, as far as lstat tells.
func (e *Entry) sameFile(o *Entry) bool {
	return e.Mode == o.Mode && e.Size == o.Size && e.Mtime == o.Mtime && e.Ctime == o.Ctime && e.Dev == o.Dev && e.Ino == o.Ino
}

// Same reports whether the path is the same for its user: kind, mode and content. An unread file is the same
// only if it is untouched.
func (e *Entry) Same(o *Entry) bool {
	switch {
	case e.Mode != o.Mode:
		return false
	case e.OnlyMode() && o.OnlyMode() || e.IsSpecial():
		return true
	case e.OID != "" || o.OID != "":
		return e.OID == o.OID
	}
	return e.IsFolder() && e.Why != WhyFolder || e.Size == o.Size && e.Mtime == o.Mtime && e.Ino == o.Ino
}

// grain is more than the lag of a file system's clock behind that of the machine: a file that changed so
// shortly before its reading may change again unseen.
const grain = int64(20 * time.Millisecond)

const listHead = "jp backup 1\n"

// encode writes entries, each as words and its path, with a NUL at the end.
func encode(entries []Entry) []byte {
	out := make([]byte, 0, len(listHead)+96*len(entries))
	out = append(out, listHead...)
	for i := range entries {
		e := &entries[i]
		out = strconv.AppendUint(out, uint64(e.Mode), 8)
		for _, n := range []int64{e.Size, e.Mtime, e.Ctime, int64(e.Dev), int64(e.Ino), int64(e.Links)} {
			out = strconv.AppendInt(append(out, ' '), n, 10)
		}
		oid, why := e.OID, strings.ReplaceAll(e.Why, " ", "_")
		if oid == "" {
			oid = "-"
		}
		if why == "" {
			why = "-"
		}
		out = append(append(append(append(append(append(append(out, ' '), oid...), ' '), why...), ' '), e.Path...), 0)
	}
	return out
}

var errList = errors.New("a list of a backup is damaged")

func decode(data []byte) ([]Entry, error) {
	rest, is := bytes.CutPrefix(data, []byte(listHead))
	if !is {
		return nil, errList
	}
	entries := make([]Entry, 0, len(rest)/96)
	for len(rest) > 0 {
		line, after, whole := bytes.Cut(rest, []byte{0})
		words := strings.SplitN(string(line), " ", 10)
		if !whole || len(words) != 10 {
			return nil, errList
		}
		mode, err := strconv.ParseUint(words[0], 8, 32)
		var n [6]int64
		for i := range n {
			var wrong error
			n[i], wrong = strconv.ParseInt(words[i+1], 10, 64)
			err = errors.Join(err, wrong)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errList, err)
		}
		e := Entry{Path: words[9], Mode: uint32(mode), Size: n[0], Mtime: n[1], Ctime: n[2], Dev: uint64(n[3]), Ino: uint64(n[4]), Links: uint64(n[5])}
		if words[7] != "-" {
			e.OID = words[7]
		}
		if words[8] != "-" {
			e.Why = strings.ReplaceAll(words[8], "_", " ")
		}
		entries, rest = append(entries, e), after
	}
	return entries, nil
}

// A cursor finds entries by paths in ascending order.
type cursor struct {
	entries []Entry // sorted by path
	at      int
}

func (c *cursor) find(path string) *Entry {
	for c.at < len(c.entries) && c.entries[c.at].Path < path {
		c.at++
	}
	if c.at < len(c.entries) && c.entries[c.at].Path == path {
		return &c.entries[c.at]
	}
	return nil
}
