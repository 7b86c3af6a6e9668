package doctor

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/gitstore/packing"
)

// lookAtStore reads the newest event of every conversation.
func (c *checkup) lookAtStore(ctx context.Context) []Finding {
	if c.storeErr != nil {
		return Store{Err: c.storeErr}.Findings()
	}
	store, tips := Store{Hidden: c.repo.Store.CheckRefs()}, Tips{}
	for scope, count := range map[conversation.Scope]*int{
		conversation.ScopeLive: &store.Live, conversation.ScopeArchived: &store.Archived, conversation.ScopeRemotes: &store.Remote,
	} {
		infos, err := c.repo.Store.List(ctx, scope)
		if err != nil {
			return Store{Err: err, Hidden: store.Hidden}.Findings()
		}
		*count = len(infos)
		tips.Read += len(infos)
		for _, info := range infos {
			if info.Err != nil {
				tips.Bad = append(tips.Bad, Tip{
					Name: info.Name(), Err: info.Err, Newer: errors.Is(info.Err, conversation.ErrNewer),
					Partial: errors.Is(info.Err, gitstore.ErrShallow), Fetched: info.Remote != "",
				})
			}
		}
	}
	slices.SortFunc(tips.Bad, func(a, b Tip) int { return strings.Compare(a.Name, b.Name) })
	seconds, err := c.repo.Store.Seconds()
	if err != nil {
		return Store{Err: err}.Findings()
	}
	var twins Seconds
	for _, s := range seconds {
		twins = append(twins, second(s))
	}
	store.LooseRefs, store.PackedRefs = countRefs(c.repo.CommonDir)
	return slices.Concat(store.Findings(), tips.Findings(), twins.Findings())
}

func second(s gitstore.Second) Second {
	d := Second{ID: s.ID, Live: s.Ref == gitstore.RefOf(s.ID)}
	if s.Err != nil {
		d.Apart = s.Head
	}
	return d
}

// countRefs counts the refs of jp's, by where they are.
func countRefs(common string) (loose, packed int) {
	own := map[string]bool{}
	_ = filepath.WalkDir(filepath.Join(common, "refs", "jp"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".lock") {
			own[strings.TrimPrefix(path, common+"/")] = true
		}
		return nil // what cannot be read is told of the conversations
	})
	f, err := os.Open(filepath.Join(common, "packed-refs"))
	if err != nil {
		return len(own), 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if _, name, _ := strings.Cut(lines.Text(), " "); strings.HasPrefix(name, "refs/jp/") && !own[name] {
			packed++
		}
	}
	return len(own), packed
}

// lookAtPacking counts what is loose, as far as there is time.
func (c *checkup) lookAtPacking(ctx context.Context) []Finding {
	if c.db == nil {
		return nil
	}
	packer := packing.New(c.db, c.repo.Git)
	p := Packing{Loose: packer.Loose(), Due: packer.Due(), Off: c.repo.Config.Store.Packing == "off", Misled: packer.Misled()}
	if last := packer.Last(); !last.IsZero() {
		p.Since = max(time.Since(last), time.Second)
	}
	packs, packed := packer.Packs()
	p.Packs, p.Packed, p.PackedBytes = packs, packed.Objects, packed.Bytes
	limited, done := c.patience(ctx)
	defer done()
	waiting, err := packer.Waiting(limited)
	p.Waiting, p.WaitingBytes = waiting.Objects, waiting.Bytes
	if limited.Err() != nil {
		p.Partly = true
	} else {
		p.Err = err
	}
	return p.Findings()
}

// lookAtDisk finds out how durable events are.
func (c *checkup) lookAtDisk(context.Context) []Finding {
	if c.db == nil {
		return nil
	}
	d := diskOf(c.repo.CommonDir)
	d.Ordered, d.Off = c.db.Path() == odb.PathOrdered, c.repo.Config.Store.Durability == "off"
	return d.Findings()
}

func (c *checkup) lookAtCache(context.Context) []Finding {
	if c.repo.Store == nil {
		return nil
	}
	size := c.repo.Store.CacheSize()
	return Cache{Dir: filepath.Join(c.repo.CommonDir, "jp", "cache"), Files: size.Files, Bytes: size.Bytes, Limit: size.Limit}.Findings()
}
