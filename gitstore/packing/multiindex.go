package packing

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An index of many packs, or a chain of such, in the packs' folder.
const (
	multiIndex  = "multi-pack-index"
	multiFolder = "multi-pack-index.d"
	multiChain  = "multi-pack-index-chain"
)

// errMultiIndex says that the file is no index of many packs that jp can read.
var errMultiIndex = errors.New("not an index of many packs")

// hasMultiIndex reports whether git keeps an index of many packs here.
func (p *Packer) hasMultiIndex() bool {
	for _, name := range []string{multiIndex, filepath.Join(multiFolder, multiChain)} {
		if _, err := os.Lstat(filepath.Join(p.packDir(), name)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// Misled reports whether git keeps an index that names missing packs: git then misses objects that other
// packs have.
func (p *Packer) Misled() bool {
	files, _ := filepath.Glob(filepath.Join(p.packDir(), multiFolder, "*.midx"))
	for _, file := range append(files, filepath.Join(p.packDir(), multiIndex)) {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		names, err := multiNames(data)
		if err != nil {
			continue // git names the fault
		}
		for _, name := range names {
			if pack, _ := strings.CutSuffix(name, ".idx"); packName(pack) && !p.placed(packRecord{Name: pack}) {
				return true
			}
		}
	}
	return false
}

// mendMultiIndex removes an index that misleads git, as git itself does when it removes packs. All its
// entries are in the packs, too.
func (p *Packer) mendMultiIndex() error {
	if !p.Misled() {
		return nil
	}
	var errs []error
	for _, name := range []string{multiIndex, filepath.Join(multiFolder, multiChain)} {
		if err := p.files.Remove(filepath.Join(p.packDir(), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// multiNames are the names of the packs' indexes: the chunk PNAM, each ended by a
// zero. Behind a head of twelve bytes stands a table of the chunks, of twelve bytes
// each, the seventh of the head being their number.
func multiNames(data []byte) (names []string, err error) {
	const head, entry = 12, 12
	if len(data) < head || !bytes.HasPrefix(data, []byte("MIDX")) {
		return nil, errMultiIndex
	}
	chunks := int(data[6])
	if len(data) < head+(chunks+1)*entry {
		return nil, errMultiIndex
	}
	at := func(i int) uint64 { return binary.BigEndian.Uint64(data[head+i*entry+4:]) }
	for i := range chunks {
		if string(data[head+i*entry:][:4]) != "PNAM" {
			continue
		}
		from, to := at(i), at(i+1)
		if from > to || to > uint64(len(data)) {
			return nil, errMultiIndex
		}
		for name := range strings.SplitSeq(string(data[from:to]), "\x00") {
			if name != "" { // the end is filled up
				names = append(names, name)
			}
		}
	}
	return names, nil
}
