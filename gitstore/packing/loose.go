package packing

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"jp/gitcmd"
)

// Hashes spread objects evenly over this many folders; sampled of them tell
// about how many there are in all.
const (
	fanoutDirs = 256
	sampled    = 16
)

// longest is after which time a Pack that has begun counts as broken off.
const longest = 10 * time.Minute

// Due reports whether about Enough loose objects have come since the last Pack, and no Pack is running. It
// samples some folders. Only Pack can tell jp's objects from the user's, so Due may say yes once for the
// user's, and once after a gc removed many that the last Pack left.
func (p *Packer) Due() bool {
	s := p.readState()
	if age := time.Since(s.Began); age >= 0 && age < longest {
		return false
	}
	found := 0
	for i := range sampled {
		found += p.looseIn(i * fanoutDirs / sampled)
	}
	found *= fanoutDirs / sampled
	some := s.Left/8 + Enough // the error of a sample, and Enough
	return found >= s.Left+some || found < s.Left-some
}

// The size of loose objects, in bytes, that makes a Pack worthwhile although they are few, and how much of
// that a command writes before jp counts all. Versions of a large file become one and the differences to
// it.
const (
	enoughBytes = 64 << 20
	someBytes   = 1 << 20
)

// Heavy reports whether the size of the loose objects differs by many bytes from the rest that the last
// Pack left, and no Pack is running. It counts all objects only if those written since a time are large.
func (p *Packer) Heavy(since time.Time) bool {
	s := p.readState()
	if age := time.Since(s.Began); age >= 0 && age < longest {
		return false
	}
	if p.looseBytes(since.Add(-time.Second)) < someBytes { // a file's time may be a little behind
		return false
	}
	found := p.looseBytes(time.Time{})
	return found >= s.LeftBytes+enoughBytes || found < s.LeftBytes-enoughBytes
}

// looseBytes is how much the loose objects take that were written since a time.
func (p *Packer) looseBytes(since time.Time) (n int64) {
	for i := range fanoutDirs {
		dir := filepath.Join(p.dir, "objects", fmt.Sprintf("%02x", i))
		if info, err := os.Lstat(dir); err != nil || info.ModTime().Before(since) {
			continue
		}
		files, _ := os.ReadDir(dir)
		for _, file := range files {
			if info, err := file.Info(); err == nil && info.Mode().IsRegular() && !info.ModTime().Before(since) {
				n += info.Size()
			}
		}
	}
	return n
}

// Loose counts the loose objects of the repository, jp's and others.
func (p *Packer) Loose() (n int) {
	for i := range fanoutDirs {
		n += p.looseIn(i)
	}
	return n
}

func (p *Packer) looseIn(fanOut int) (n int) {
	begin := fmt.Sprintf("%02x", fanOut)
	dir, err := os.Open(filepath.Join(p.dir, "objects", begin))
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if gitcmd.IsObjectName(begin + name) { // else it is under way
			n++
		}
	}
	return n
}
