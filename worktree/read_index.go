package worktree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

var (
	// errIndexUnsupported is an index that only git can read: one that is split, or sparse, or of a newer
	// version, or has an unknown extension.
	errIndexUnsupported = errors.New("only git can read this index")
	// errIndexMalformed is a file of another kind.
	errIndexMalformed = errors.New("malformed index")
)

// An indexTime is seconds and nanoseconds, of which git keeps the low 32 bits.
type indexTime struct{ Sec, Nsec uint32 }

// An indexEntry is a path of the index, with git's data about the file. Of longer numbers it has the low 32
// bits.
type indexEntry struct {
	// Path is relative to the working tree, with slashes. It is in the memory of the file or of the
	// reader's, and is read-only.
	Path         []byte
	Ctime, Mtime indexTime
	Inode        uint32
	Mode         uint32 // 0o100644, 0o100755, 0o120000 (a link), 0o160000 (a submodule)
	UID, GID     uint32
	Size         uint32
	Stage        uint8 // other than 0: a side of a conflict
	Skip         bool  // git was told to keep the file out of the working tree
	Open         bool  // git has no content of it, or does not trust its data
}

const (
	headerLen = 4 + 4 + 4
	oidAt     = 10 * 4   // in an entry
	modeDir   = 0o040000 // of an entry that stands for a folder, in a sparse index
)

// Flags of an entry, and of the second ones behind them.
const (
	flagExtended = 0x4000
	stageShift   = 12
	lengthMask   = 0xfff
	flagSkip     = 0x4000
	flagIntent   = 0x2000
)

// plainExtensions are the extensions that leave the list as it is.
var plainExtensions = []string{"TREE", "REUC", "UNTR", "FSMN", "EOIE", "IEOT"}

// The name of empty content, in SHA-1 and in SHA-256. If git could not tell whether a file had changed, it
// notes a size of 0 beside another name.
const (
	emptySHA1   = "\xe6\x9d\xe2\x9b\xb2\xd1\xd6\x43\x4b\x8b\x29\xae\x77\x5a\xd8\xc2\xe4\x8c\x53\x91"
	emptySHA256 = "\x47\x3a\x0f\x4c\x3b\xe8\xa9\x36\x81\xa2\x67\xe3\xb1\xe9\xa7\xdc\xda\x11\x85\x43\x6f\xe1\x41\xf7\x74\x91\x20\xa3\x03\x72\x18\x13"
)

// parseIndex reads an index file of a repository whose object names have this many bytes, 20 or
// 32. Like git it skips the checksum of the file.
func parseIndex(data []byte, size int) ([]indexEntry, error) {
	if len(data) < headerLen+size || string(data[:4]) != "DIRC" {
		return nil, fmt.Errorf("%w: it does not begin like one", errIndexMalformed)
	}
	version := binary.BigEndian.Uint32(data[4:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("%w: it has version %d", errIndexUnsupported, version)
	}
	n := int(binary.BigEndian.Uint32(data[8:]))
	r := indexReader{data: data[:len(data)-size], at: headerLen, version: version, flagsAt: oidAt + size, emptyBlob: emptySHA1}
	if size == len(emptySHA256) {
		r.emptyBlob = emptySHA256
	}
	if n > len(r.data)/(r.flagsAt+2+1) {
		return nil, fmt.Errorf("%w: it has no room for %d entries", errIndexMalformed, n)
	}
	entries := make([]indexEntry, n)
	for i := range entries {
		if err := r.entry(&entries[i]); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return entries, r.extensions()
}

// A indexReader stands before the next entry of an index.
type indexReader struct {
	data      []byte
	at        int
	version   uint32
	flagsAt   int // in an entry
	emptyBlob string
	last      []byte // the path before, of which a compressed one has a part
	paths     []byte // room for paths that the file has only in part
}

func (r *indexReader) entry(e *indexEntry) error {
	start, fixedLen := r.at, r.flagsAt+2
	if len(r.data)-start < fixedLen {
		return fmt.Errorf("%w: it is cut off", errIndexMalformed)
	}
	fixed := r.data[start : start+fixedLen]
	word := func(i int) uint32 { return binary.BigEndian.Uint32(fixed[4*i:]) }
	e.Ctime, e.Mtime = indexTime{word(0), word(1)}, indexTime{word(2), word(3)}
	e.Inode, e.Mode, e.UID, e.GID, e.Size = word(5), word(6), word(7), word(8), word(9)
	if e.Mode == modeDir {
		return fmt.Errorf("%w: it is sparse", errIndexUnsupported)
	}
	flags := binary.BigEndian.Uint16(fixed[r.flagsAt:])
	e.Stage = uint8(flags >> stageShift & 3)
	e.Open = e.Size == 0 && string(fixed[oidAt:r.flagsAt]) != r.emptyBlob
	r.at += fixedLen
	if flags&flagExtended != 0 {
		if r.version < 3 || len(r.data)-r.at < 2 {
			return fmt.Errorf("%w: it has flags that its version has not", errIndexMalformed)
		}
		more := binary.BigEndian.Uint16(r.data[r.at:])
		e.Skip, e.Open = more&flagSkip != 0, e.Open || more&flagIntent != 0
		r.at += 2
	}
	var err error
	if r.version == 4 {
		e.Path, err = r.compressed()
	} else {
		e.Path, err = r.padded(start, int(flags&lengthMask))
	}
	r.last = e.Path
	return err
}

// padded reads a path that ends with as many zeros as fill its entry.
func (r *indexReader) padded(start, length int) ([]byte, error) {
	rest := r.data[r.at:]
	if length == lengthMask {
		length = bytes.IndexByte(rest, 0)
	}
	if length == 0 {
		return nil, fmt.Errorf("%w: its path stands elsewhere", errIndexUnsupported)
	}
	if length < 0 || length >= len(rest) || rest[length] != 0 || bytes.IndexByte(rest[:length], 0) >= 0 {
		return nil, fmt.Errorf("%w: its path does not end", errIndexMalformed)
	}
	const align = 8
	size := (r.at + length - start + align) / align * align
	if r.at = start + size; r.at > len(r.data) {
		return nil, fmt.Errorf("%w: it is cut off", errIndexMalformed)
	}
	return rest[:length:length], nil
}

// compressed reads a path of which the file has only the end, and before it the length of the part of the
// previous path to drop.
func (r *indexReader) compressed() ([]byte, error) {
	drop, ok := r.varint()
	end := bytes.IndexByte(r.data[r.at:], 0)
	if !ok || drop > len(r.last) || end < 0 {
		return nil, fmt.Errorf("%w: its path is not whole", errIndexMalformed)
	}
	if len(r.last)-drop+end == 0 {
		return nil, fmt.Errorf("%w: its path stands elsewhere", errIndexUnsupported)
	}
	if keep := len(r.last) - drop; cap(r.paths)-len(r.paths) < keep+end {
		r.paths = make([]byte, 0, max(64<<10, keep+end))
	}
	from := len(r.paths)
	r.paths = append(append(r.paths, r.last[:len(r.last)-drop]...), r.data[r.at:r.at+end]...)
	r.at += end + 1
	return r.paths[from:len(r.paths):len(r.paths)], nil
}

// varint reads a number as git's packs write offsets.
func (r *indexReader) varint() (n int, ok bool) {
	for first := true; r.at < len(r.data) && n < 1<<24; first = false {
		b := r.data[r.at]
		r.at++
		if !first {
			n++
		}
		n = n<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			return n, true
		}
	}
	return 0, false
}

// extensions checks whether an extension behind the entries changes their meaning.
func (r *indexReader) extensions() error {
	for rest := r.data[r.at:]; len(rest) > 0; {
		const head = 4 + 4
		if len(rest) < head || uint64(binary.BigEndian.Uint32(rest[4:])) > uint64(len(rest)-head) {
			return fmt.Errorf("%w: an extension is cut off", errIndexMalformed)
		}
		if !isPlainExtension(rest[:4]) {
			return fmt.Errorf("%w: it has the extension %q", errIndexUnsupported, rest[:4])
		}
		rest = rest[head+int(binary.BigEndian.Uint32(rest[4:])):]
	}
	return nil
}

func isPlainExtension(name []byte) bool {
	for _, p := range plainExtensions {
		if string(name) == p {
			return true
		}
	}
	return false
}
