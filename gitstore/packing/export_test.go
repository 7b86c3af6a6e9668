package packing

import "errors"

// ErrBroken is the error of all file operations after a Pack is broken off.
var ErrBroken = errors.New("broken off")

// BreakAt breaks a Packer off before it changes files for the n-th time. Its result counts the changes.
func (p *Packer) BreakAt(n int) (done *int) {
	done = new(int)
	p.Before(func(string, string) error {
		if *done++; n > 0 && *done >= n {
			return ErrBroken
		}
		return nil
	})
	return done
}

// Before asks before each change of a file, with the name of the operation: if the answer is an error, the
// change fails with it.
func (p *Packer) Before(ask func(what, name string) error) { p.files = asking{p.files, ask} }

type asking struct {
	files
	ask func(what, name string) error
}

func (a asking) Rename(from, to string) error {
	if err := a.ask("rename", to); err != nil {
		return err
	}
	return a.files.Rename(from, to)
}

func (a asking) Remove(name string) error {
	if err := a.ask("remove", name); err != nil {
		return err
	}
	return a.files.Remove(name)
}

func (a asking) RemoveAll(name string) error {
	if err := a.ask("remove all", name); err != nil {
		return err
	}
	return a.files.RemoveAll(name)
}

func (a asking) Replace(name string, content []byte) error {
	if err := a.ask("replace", name); err != nil {
		return err
	}
	return a.files.Replace(name, content)
}

func (a asking) Sync(folder string) error {
	if err := a.ask("sync", folder); err != nil {
		return err
	}
	return a.files.Sync(folder)
}

// Growth is growth, and MostMerged is mostMerged.
const (
	Growth     = growth
	MostMerged = mostMerged
)

// TooMany is how many of the packs with these numbers of objects have to become one.
func TooMany(objects []int) int {
	var packs []packRecord
	for _, n := range objects {
		packs = append(packs, packRecord{Objects: n})
	}
	return len(tooMany(packs))
}

// MultiNames is multiNames.
func MultiNames(data []byte) ([]string, error) { return multiNames(data) }
