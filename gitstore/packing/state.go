package packing

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"jp/gitstore/odb"
	"jp/internal/wholefile"
)

// A state is what a Pack leaves for the next one. Losing it costs nothing but a
// Pack that was not due, and merges that come later.
type state struct {
	At    time.Time `json:"at"`
	Began time.Time `json:"began,omitzero"` // of a Pack that has not ended
	Left  int       `json:"left"`           // loose objects that no conversation needed
	Packs []made    `json:"packs,omitempty"`
}

// made is a pack of this package's making.
type made struct {
	Name    string `json:"name"` // without a suffix
	Objects int    `json:"objects"`
}

// Last is when the last Pack ended, the zero time if none is known.
func (p *Packer) Last() time.Time { return p.readState().At }

func (p *Packer) readState() (s state) {
	text, err := os.ReadFile(p.state)
	if err != nil || json.Unmarshal(text, &s) != nil || s.Left < 0 {
		return state{}
	}
	return s
}

func (p *Packer) writeState(s state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return wholefile.Replace(p.state, append(text, '\n'), wholefile.Options{Mode: 0o666, Volatile: true})
}

// present are those packs that are still there: a gc of the user's may have
// taken them into its own. A name that git would not give is not one of ours.
func (p *Packer) present(packs []made) (there []made) {
	for _, pack := range packs {
		if !packName(pack.Name) {
			continue
		}
		if info, err := os.Lstat(p.file(pack, ".idx")); err == nil && info.Mode().IsRegular() {
			there = append(there, pack)
		}
	}
	return there
}

// packName reports whether a name is "pack-" and 40 hexadecimal digits.
func packName(name string) bool {
	hex, ok := strings.CutPrefix(name, "pack-")
	_, err := odb.ParseOID(hex)
	return ok && err == nil
}
