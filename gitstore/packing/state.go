package packing

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"jp/gitstore/odb"
	"jp/internal/safefile"
)

// A state has the notes of a Pack for the next one. Losing it costs only an early Pack, and later merges.
type state struct {
	At    time.Time `json:"at"`
	Began time.Time `json:"began,omitzero"` // of an unfinished Pack
	Left  int       `json:"left"`           // loose objects that conversations did not need
	// LeftBytes is how much they take.
	LeftBytes int64        `json:"left_bytes,omitempty"`
	Packs     []packRecord `json:"packs,omitempty"`
}

// packRecord is a pack of this package's making. It is noted before it gets its place, and before the Pack
// removes a file for it: so jp knows its own files after a kill.
type packRecord struct {
	Name    string `json:"name"` // without a suffix
	Objects int    `json:"objects"`
	bytes   int64
	// Loose says that its objects may still be loose, too.
	Loose bool `json:"loose,omitempty"`
	// Gone says that another pack has its objects, and that it is being removed.
	Gone bool `json:"gone,omitempty"`
	// Damaged says that git could not read it: Pack does not merge it.
	Damaged bool `json:"damaged,omitempty"`
}

// Last is when the last Pack ended, the zero time if none is known.
func (p *Packer) Last() time.Time { return p.readState().At }

func (p *Packer) readState() (s state) {
	text, err := safefile.ReadRegular(p.state)
	if err != nil || json.Unmarshal(text, &s) != nil || s.Left < 0 || s.LeftBytes < 0 {
		return state{}
	}
	return s
}

func (p *Packer) writeState(s state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(p.state); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory: remove it", p.state)
	}
	return p.files.Replace(p.state, append(text, '\n'))
}

// present are those packs that are still there: a gc of the user's may have taken them into its own. It
// leaves out names that git would not give.
func (p *Packer) present(packs []packRecord) (there []packRecord) {
	for _, pack := range packs {
		if !packName(pack.Name) || contains(there, pack) || !p.placed(pack) {
			continue
		}
		if n, err := indexed(p.file(pack, ".idx")); err == nil {
			pack.Objects = n
		}
		if info, err := os.Lstat(p.file(pack, ".pack")); err == nil {
			pack.bytes = info.Size()
		}
		there = append(there, pack)
	}
	return there
}

// placed reports whether git sees a pack.
func (p *Packer) placed(pack packRecord) bool {
	for _, suffix := range []string{".idx", ".pack"} {
		if info, err := os.Lstat(p.file(pack, suffix)); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// indexed is how many objects an index names: the last number of its table of first
// bytes, which begins behind eight bytes of magic but in the oldest version.
func indexed(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head [8 + 4*256]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return 0, err
	}
	table := head[:4*256]
	if bytes.HasPrefix(head[:], []byte("\xfftOc")) {
		table = head[8:]
	}
	return int(binary.BigEndian.Uint32(table[4*255:])), nil
}

// packName reports whether a name is "pack-" and the digits of a sum.
func packName(name string) bool {
	hex, ok := strings.CutPrefix(name, "pack-")
	_, err := odb.ParseOID(hex)
	return ok && err == nil
}
