package gitstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"jp/conversation"
	"jp/gitstore/odb"
)

// SeenRefs compares the refs of conversations with those that this user's jp last saw.
type SeenRefs struct{ store *Store }

// SeenRefs are those of the store.
func (s *Store) SeenRefs() SeenRefs { return SeenRefs{s} }

// A RefList has the refs of conversations at one time. Of those that keep payload it has the names.
type RefList struct {
	values map[string]odb.OID
	stamps map[string]odb.RefStamp
}

// kept stands for the value of a ref that keeps payload.
const kept = "?"

// Read lists them. It reads only the refs that look other than in an earlier list, and leaves out
// unreadable ones.
func (r SeenRefs) Read(earlier *RefList) RefList {
	if earlier == nil {
		earlier = &RefList{}
	}
	now := RefList{make(map[string]odb.OID, len(earlier.values)), make(map[string]odb.RefStamp, len(earlier.values))}
	same := func(ref string, file odb.RefStamp) bool {
		value, there := earlier.values[ref]
		if !there || earlier.stamps[ref] != file {
			return false
		}
		now.values[ref], now.stamps[ref] = value, file
		return true
	}
	for _, scope := range [][2]string{{refLive, refPayloads}, {refArchive, refRoot + "none/"}, {refRemotes, refRoot + "none/"}} {
		known := &odb.KnownRefs{Same: same}
		refs, beside, _ := r.store.odb.ListBeside(scope[0], scope[1], known)
		for _, ref := range refs {
			now.values[ref.Name], now.stamps[ref.Name] = ref.OID, known.Stamps[ref.Name]
		}
		for _, name := range beside {
			now.values[name] = kept
		}
	}
	return now
}

// Everything lists jp's own refs of all kinds as "NAME HASH", without those that cannot be read.
func (r SeenRefs) Everything() ([]string, error) {
	refs, err := r.store.odb.ListRefs(refRoot)
	if _, unreadable := errors.AsType[*odb.UnreadableRef](err); err != nil && !unreadable {
		return nil, err
	}
	lines := []string{}
	for _, ref := range refs {
		lines = append(lines, ref.Name+" "+string(ref.OID))
	}
	return lines, nil
}

// Value is the value of a ref, "" for a missing one.
func (l *RefList) Value(ref string) string { return string(l.values[ref]) }

// Differing are the refs of an earlier list that are gone or name another object now, in order.
func (l *RefList) Differing(earlier *RefList) (refs []string) {
	for ref, value := range earlier.values {
		if l.values[ref] != value {
			refs = append(refs, ref)
		}
	}
	slices.Sort(refs)
	return refs
}

// Taken reports whether something other than jp deleted or set back a ref of a conversation. was and now
// are its earlier and its present value, "" for none. newest is the value that the ref should have, "" for a
// ref that keeps payload: the next turn restores it.
func (r SeenRefs) Taken(ref, was, now string) (newest conversation.Head, taken bool) {
	id, own := owner(ref)
	switch {
	case was == now, now != "" && r.store.ancestry.reaches(odb.OID(now), odb.OID(was)), now == "" && own && r.store.heads.deletedByJP(id):
		return "", false
	case was == kept:
		return "", true
	case !own:
		return conversation.Head(was), true
	}
	if _, head, err := r.store.refs.find(id); now == "" && err == nil && r.store.ancestry.reaches(head, odb.OID(was)) {
		return "", false // it is in the archive now, or out of it
	}
	if seen, there, err := r.store.SeenHead(id); err == nil && there && r.store.ancestry.reaches(odb.OID(seen), odb.OID(was)) {
		return seen, true
	}
	return conversation.Head(was), true
}

// Gone returns the head of a missing conversation that was seen last, and whether its event is in the
// repository. The head is "" if jp deleted it, or never saw one.
func (r SeenRefs) Gone(id conversation.ID) (head conversation.Head, there bool, err error) {
	if _, _, err := r.store.refs.find(id); !errors.Is(err, conversation.ErrNotFound) {
		return "", false, err
	}
	if r.store.heads.deletedByJP(id) {
		return "", false, nil
	}
	return r.store.SeenHead(id)
}

// A Missing conversation was seen here, and something other than jp deleted its ref.
type Missing struct {
	ID    conversation.ID
	Head  conversation.Head // that was seen last
	There bool              // its commit is in the repository
}

// Missing lists the conversations that something other than jp deleted, by id.
func (r SeenRefs) Missing() (all []Missing, err error) {
	repo, err := r.store.repository(false)
	if err != nil || r.store.heads.dir == "" || repo == "" {
		return nil, err
	}
	there := map[string]bool{}
	for _, scope := range []string{refLive, refArchive} {
		names, err := r.store.odb.RefNames(scope)
		if err != nil {
			return nil, storeError(err)
		}
		for _, name := range names {
			there[name[len(scope):]] = true
		}
	}
	notes, err := os.ReadDir(filepath.Join(r.store.heads.dir, repo))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, note := range notes {
		id, invalid := conversation.ParseID(note.Name())
		if invalid != nil || there[note.Name()] {
			continue
		}
		head, here, err := r.Gone(id)
		if err != nil {
			return nil, err
		}
		if head != "" {
			all = append(all, Missing{id, head, here})
		}
	}
	return all, err
}
