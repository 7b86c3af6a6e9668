package packing

import "errors"

// ErrBroken is what everything says from where a Pack is broken off.
var ErrBroken = errors.New("broken off")

// BreakAt breaks a Packer off before it changes files for the n-th time. What it
// returns counts them.
func (p *Packer) BreakAt(n int) (done *int) {
	b := &breaking{files: p.files, at: n}
	p.files = b
	return &b.done
}

type breaking struct {
	files
	at, done int
}

func (b *breaking) do(act func() error) error {
	if b.done++; b.at > 0 && b.done >= b.at {
		return ErrBroken
	}
	return act()
}

func (b *breaking) Rename(from, to string) error {
	return b.do(func() error { return b.files.Rename(from, to) })
}
func (b *breaking) Remove(name string) error {
	return b.do(func() error { return b.files.Remove(name) })
}
func (b *breaking) RemoveAll(name string) error {
	return b.do(func() error { return b.files.RemoveAll(name) })
}
func (b *breaking) Replace(name string, content []byte) error {
	return b.do(func() error { return b.files.Replace(name, content) })
}

// Growth is growth.
const Growth = growth

// TooMany is how many of the packs with these numbers of objects have to become one.
func TooMany(objects []int) int {
	var packs []made
	for _, n := range objects {
		packs = append(packs, made{Objects: n})
	}
	return len(tooMany(packs))
}

// MultiNames is multiNames.
func MultiNames(data []byte) ([]string, error) { return multiNames(data) }
