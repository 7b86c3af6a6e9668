package packing

import (
	"fmt"
	"os"
	"path/filepath"
)

// Hashes spread objects evenly over this many folders; sampled of them tell
// about how many there are in all.
const (
	fanOuts = 256
	sampled = 16
)

// objectFile is the length of a loose object's name in its folder; what is under
// way has another.
const objectFile = 38

// Due reports whether about Enough loose objects have come since the last Pack.
// It looks at some folders only. Objects that the user's own work left loose
// are told from ours only by Pack, so it may say yes for them, once.
func (p *Packer) Due() bool {
	found := 0
	for i := range sampled {
		found += p.looseIn(i * fanOuts / sampled)
	}
	left := p.readState().Left
	return found*fanOuts/sampled >= left+left/8+Enough
}

// Loose counts the loose objects of the repository, whoever made them.
func (p *Packer) Loose() (n int) {
	for i := range fanOuts {
		n += p.looseIn(i)
	}
	return n
}

func (p *Packer) looseIn(fanOut int) (n int) {
	dir, err := os.Open(filepath.Join(p.dir, "objects", fmt.Sprintf("%02x", fanOut)))
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if len(name) == objectFile {
			n++
		}
	}
	return n
}
