package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/gitstore/odb"
	"jp/gitstore/packing"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/record/journal"
)

// packing counts the loose objects, as far as there is time.
func (c *checkup) packing(ctx context.Context) []Finding {
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

// muchWaits is how many loose objects of conversations are more than packing should
// have let come.
const muchWaits = 2000

// Packing has the counts of loose and packed objects.
type Packing struct {
	Loose        int   // objects in the repository, of any origin
	Waiting      int   // those that the next packing takes
	WaitingBytes int64 // theirs
	Partly       bool  // the count of Waiting is incomplete: time was up
	Err          error // of counting
	Packs        int   // of jp's
	Packed       int   // objects in them
	PackedBytes  int64
	Since        time.Duration // since the last packing, 0 if there was none
	Due          bool
	Off          bool // packing is manual
	Misled       bool // git keeps an index of packs that are gone
}

// Findings judges the loose objects, and git's settings about the packs.
func (p Packing) Findings() []Finding {
	if !p.Misled {
		return p.loose()
	}
	const says = "git's multi-pack-index names packs that are gone: git takes objects for missing that are there"
	return append(p.loose(), found(Fail, "packs", says).advise("%s takes it away. Only then %s makes a new one", action.Pack, action.WriteIndex))
}

func (p Packing) loose() []Finding {
	objects := found(OK, "objects", "%d loose, %s; %s of jp's with %s (%s)", p.Loose, p.ours(),
		conversation.Count(p.Packs, "pack"), conversation.Count(p.Packed, "object"), safetext.Bytes(p.PackedBytes))
	if p.Err != nil {
		objects.Level = Note
	}
	last := "packing never ran here"
	if p.Since > 0 {
		last = "packing ran last " + conversation.Ago(p.Since) + " ago"
	}
	switch {
	case p.Due && p.Waiting == 0 && !p.Partly && p.Err == nil:
		return []Finding{objects, found(OK, "packing", "%s; nothing that is loose is a conversation's", last)}
	case p.Due && p.Off:
		return []Finding{objects, found(Note, "packing", "%s; it is due, and store.packing is off", last).advise("%s", action.Pack)}
	case p.Due:
		return []Finding{objects, found(Note, "packing", "%s; it is due, and starts by itself after the next turn", last).advise("%s does it now", action.Pack)}
	}
	if p.Waiting >= muchWaits {
		return []Finding{objects, found(Note, "packing", "%s, and much has come since", last).advise("%s", action.Pack)}
	}
	return []Finding{objects, found(OK, "packing", "%s; it is not due", last)}
}

// ours is a text about how many loose objects are conversations'.
func (p Packing) ours() string {
	of := fmt.Sprintf("%d (%s) of conversations", p.Waiting, safetext.Bytes(p.WaitingBytes))
	switch {
	case p.Err != nil:
		return fmt.Sprintf("of conversations not counted: %v", p.Err)
	case p.Partly && p.Waiting == 0:
		return "those of conversations not counted yet (" + action.DoctorLong.String() + " counts to the end)"
	case p.Partly:
		return "at least " + of + " (" + action.DoctorLong.String() + " counts to the end)"
	}
	return of
}

// disk finds out how durable events are.
func (c *checkup) disk(context.Context) []Finding {
	if c.db == nil {
		return nil
	}
	d := diskOf(c.repo.At.CommonDir)
	d.Ordered, d.Off = c.db.Path() == odb.PathOrdered, c.repo.Config.Store.Durability == "off"
	return d.Findings()
}

// A Disk is the file system for events.
type Disk struct {
	FileSystem string // its name, "" if unknown
	Network    bool
	Memory     bool
	Ordered    bool // one flush commits all renames, in their order
	Off        bool // store.durability is off
}

// Findings judges how durable events are.
func (d Disk) Findings() []Finding {
	name := d.FileSystem
	if name == "" {
		name = "a file system that jp does not know"
	}
	switch {
	case d.Off:
		return []Finding{found(Warn, "durability", "on %s, and store.durability is off: events survive the end of jp, not a power cut", name).
			advise("%s", action.SetDurability)}
	case d.Memory:
		return []Finding{found(Warn, "durability", "on %s: everything is gone when the machine restarts", name).advise("keep the repository on a disk")}
	case d.Network:
		return []Finding{found(Warn, "durability", "on %s, over a network: flushes and locks are unreliable", name).advise("keep the repository on a local disk")}
	case d.Ordered:
		return []Finding{found(OK, "durability", "on %s, the ordered path: its journal keeps renames in order, so that one flush makes an event durable", name)}
	}
	return []Finding{found(OK, "durability", "on %s, the stepwise path: nothing shows a journal that keeps renames in order, so each file and folder is flushed by itself; safe, and slower", name)}
}

func (c *checkup) cache(context.Context) []Finding {
	if c.repo.Store == nil {
		return nil
	}
	size := c.repo.Store.CacheSize()
	cache := Cache{Dir: filepath.Join(c.repo.At.CommonDir, "jp", "cache"), Files: size.Files, Bytes: size.Bytes, Limit: size.Limit}
	return slices.Concat(cache.Findings(), backups(c.repo), recordings(c.repo))
}

// recordings counts what jp could not note while it recorded other agents.
func recordings(r *repo.Repo) []Finding {
	id := r.Standings().KnownWorkspaceID()
	if id == "" {
		return nil
	}
	sessions, err := journal.In(r.Paths.StateDir, id).All(r.Env.Now().AddDate(0, 0, -30))
	if err != nil {
		return []Finding{found(Warn, "recordings", "their journals cannot be read: %v", err)}
	}
	faults, last := 0, ""
	for _, s := range sessions {
		for _, m := range s.Moments {
			if m.Fault != "" {
				faults, last = faults+1, m.Fault
			}
		}
	}
	switch {
	case len(sessions) == 0:
		return nil
	case faults > 0:
		return []Finding{found(Warn, "recordings", "at %s of the last 30 days jp could not note the files: %s", conversation.Count(faults, "moment"), last)}
	}
	return []Finding{found(OK, "recordings", "%s in the last 30 days", conversation.Count(len(sessions), "session"))}
}

// backups measures the copies of files outside of all trees.
func backups(r *repo.Repo) []Finding {
	store := r.Standings().Backups()
	if store == nil || !r.Config.Backup.Enable {
		return []Finding{found(OK, "backups", "none are made")}
	}
	records, err := store.Records()
	if err != nil {
		return []Finding{found(Warn, "backups", "their log cannot be read: %v", err)}
	}
	return []Finding{found(OK, "backups", "%s in %s, %s of at most %s", conversation.Count(len(records), "record"), store.Dir(), safetext.Bytes(store.Size()), safetext.Bytes(r.Config.Backup.Total))}
}

// A Cache is the data beside the repository that makes searching fast.
type Cache struct {
	Dir   string
	Files int
	Bytes int64
	Limit int64 // 0: unknown
}

// Findings judges the sidecars.
func (c Cache) Findings() []Finding {
	if c.Files == 0 {
		return []Finding{found(OK, "cache", "no sidecars; the first search makes them")}
	}
	return []Finding{found(OK, "cache", "%s of sidecars, %s of at most %s; %s may be deleted", conversation.Count(c.Files, "file"), safetext.Bytes(c.Bytes), safetext.Bytes(c.Limit), c.Dir)}
}
