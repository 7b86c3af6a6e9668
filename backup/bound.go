package backup

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/gitstore/odb"
	"jp/internal/safefile"
)

// between is how many bytes of packs are written between two checks of the bounds.
const between = 64 << 20

// bound drops the oldest records if the store exceeds its bytes or days. written is the size of the newest
// pack.
func (s *Store) bound(db *odb.Store, written int64) error {
	s.mu.Lock()
	due := s.made < 0 || s.made+written > between
	s.made = max(0, s.made) + written
	if due {
		s.made = 0
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	records, err := s.Records()
	if err != nil {
		return err
	}
	newest := map[string]int{} // turn by conversation
	total := int64(0)
	for _, r := range records {
		newest[r.Conversation] = max(newest[r.Conversation], r.Turn)
		total += r.Bytes
	}
	oldest := s.opts.Now().Add(-time.Duration(s.opts.Days) * 24 * time.Hour)
	keep := slices.DeleteFunc(slices.Clone(records), func(r Record) bool {
		drop := r.Turn < newest[r.Conversation] && (total > s.opts.Total || r.Time.Before(oldest))
		if drop {
			total -= r.Bytes
		}
		return drop
	})
	if len(keep) == len(records) {
		return nil
	}
	return s.replace(db, keep)
}

// Forget drops the records of a conversation.
func (s *Store) Forget(ctx context.Context, conversation string) error {
	db, err := s.open(false)
	if err != nil || db == nil {
		return err
	}
	return s.write(ctx, func(db *odb.Store) error {
		records, err := s.Records()
		if err != nil {
			return err
		}
		keep := slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Conversation == conversation })
		if len(keep) == len(records) {
			return nil
		}
		return s.replace(db, keep)
	})
}

// Assign repeats the records of a call for another one.
func (s *Store) Assign(ctx context.Context, from string, call int, to string, turn, seq int) error {
	db, err := s.open(false)
	if err != nil || db == nil {
		return err
	}
	return s.write(ctx, func(*odb.Store) error {
		records, err := s.Records()
		for _, r := range records {
			if err == nil && r.Conversation == from && r.Call == call {
				r.Conversation, r.Turn, r.Call, r.Bytes = to, turn, seq, 0
				err = s.add(r)
			}
		}
		return err
	})
}

// replace sets the records of the log, and removes unused packs. First it copies the objects that the records
// need from such a pack into a new one.
func (s *Store) replace(db *odb.Store, records []Record) error {
	packs, needed := map[string]bool{}, map[string]bool{}
	for _, r := range records {
		packs[r.Pack] = true
		if r.List == "" {
			continue
		}
		m, err := s.moment(db, r)
		if err != nil {
			continue // it is damaged, and stays so
		}
		for i := range m.Entries {
			needed[m.Entries[i].OID] = true
		}
	}
	delete(needed, "")
	folder := filepath.Join(s.opts.Dir, "objects", "pack")
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var unused []string
	for _, f := range files {
		if pack, is := isPack(f.Name()); is && packs[pack] {
			continue
		}
		unused = append(unused, filepath.Join(folder, f.Name())) // or the rest of a killed write
	}
	slices.Sort(unused) // .idx before .pack
	pack, err := odb.Packs{Store: db}.BeginStored()
	if err != nil {
		return err
	}
	defer pack.Discard()
	begun := pack.Size()
	for _, path := range unused {
		name, is := strings.CutSuffix(filepath.Base(path), ".idx")
		if !is {
			continue
		}
		err := odb.Packs{Store: db}.Read(name, func(oid odb.OID) bool { return needed[string(oid)] }, func(oid odb.OID, data []byte) error {
			delete(needed, string(oid))
			_, err := pack.Add("blob", data)
			return err
		})
		if err != nil {
			return err
		}
	}
	if pack.Size() > begun {
		name, err := pack.Complete()
		if err != nil {
			return err
		}
		unused = slices.DeleteFunc(unused, func(path string) bool { n, _ := isPack(filepath.Base(path)); return n == name })
	}
	var text []byte
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	if err := safefile.Replace(filepath.Join(s.opts.Dir, logName), text, safefile.Options{Volatile: s.opts.Volatile}); err != nil {
		return err
	}
	for _, path := range unused {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
