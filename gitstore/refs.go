package gitstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitstore/odb"
)

// refs finds the refs of conversations.
type refs struct {
	odb      *odb.Store
	ancestry *ancestry
}

// find returns the ref of a conversation, live or archived, and its head.
func (r *refs) find(id conversation.ID) (ref string, head odb.OID, err error) {
	w, err := r.locate(id)
	return w.Name, w.OID, err
}

// checkThere fails if the conversation is missing. It accepts "".
func (r *refs) checkThere(id conversation.ID) error {
	if id == "" {
		return nil
	}
	if _, err := conversation.ParseID(string(id)); err != nil {
		return err
	}
	if _, err := r.odb.ReadRef(refLive + string(id)); err == nil {
		return nil
	}
	_, _, err := r.find(id)
	return err
}

// checkFree fails if the id is in use anywhere.
func (r *refs) checkFree(id conversation.ID) error {
	if _, err := conversation.ParseID(string(id)); err != nil {
		return err
	}
	r.odb.ReadAhead(refLive+string(id), refArchive+string(id), refPayloads+string(id), refRemotes)
	for _, prefix := range []string{refLive, refArchive, refPayloads} {
		_, err := r.odb.ReadRef(prefix + string(id))
		var packed *odb.PackedRefsError
		switch {
		case errors.Is(err, odb.ErrRefNotFound):
		case errors.As(err, &packed), errors.Is(err, odb.ErrRefsUnreadable): // the error does not name a ref
			return fmt.Errorf("conversation %s: %w", id, storeError(err))
		case err == nil, errors.Is(err, odb.ErrRefBroken), errors.Is(err, odb.ErrRefSymbolic):
			return fmt.Errorf("conversation %s: %w", id, conversation.ErrExists)
		default:
			return fmt.Errorf("conversation %s: %w", id, storeError(err))
		}
	}
	remotes, err := r.odb.ListRefs(refRemotes)
	broken, err := unreadable(err)
	if err != nil {
		return storeError(err)
	}
	for _, b := range broken {
		remotes = append(remotes, odb.Ref{Name: b.Ref})
	}
	for _, r := range remotes {
		if strings.HasSuffix(r.Name, "/"+string(id)) {
			return fmt.Errorf("conversation %s of a remote: %w", id, conversation.ErrExists)
		}
	}
	return nil
}

// payloadHead is the newest commit of a conversation's payload, or "".
func (r *refs) payloadHead(id conversation.ID) (odb.OID, error) {
	head, err := r.odb.ReadRef(refPayloads + string(id))
	if errors.Is(err, odb.ErrRefNotFound) {
		return "", nil
	}
	return head, storeError(err)
}

// headOf is the ref of a conversation that names the object, "" if none does.
func (r *refs) headOf(oid odb.OID) string {
	for _, scope := range []string{refLive, refArchive} {
		refs, _ := r.odb.ListRefs(scope) // an unreadable ref names nothing
		if i := slices.IndexFunc(refs, func(r odb.Ref) bool { return r.OID == oid }); i >= 0 {
			return refs[i].Name
		}
	}
	return ""
}

// refLocation is the place of a conversation: one ref or two. A kill in the middle of a move into the
// archive or out of it, or a fetch that brings back the old ref, leaves two refs.
type refLocation struct {
	odb.Ref         // the conversation's ref
	other   odb.Ref // the second one, without a name if there is only one
	apart   bool    // the second one has events that the first lacks
	err     error   // why the second one is unreadable
}

// pickRef decides between two refs of a conversation: the ref whose head reaches the
// other has all events. If neither does, both have events of their own. The live ref
// precedes the archived one.
func pickRef(live, archived odb.Ref, reaches func(head, event odb.OID) bool) refLocation {
	switch {
	case reaches(live.OID, archived.OID):
		return refLocation{Ref: live, other: archived}
	case reaches(archived.OID, live.OID):
		return refLocation{Ref: archived, other: live}
	}
	return refLocation{Ref: live, other: archived, apart: true}
}

// locate finds a conversation, live or archived. It reads objects only if there are two refs.
func (r *refs) locate(id conversation.ID) (refLocation, error) {
	if _, err := conversation.ParseID(string(id)); err != nil {
		return refLocation{}, err
	}
	live, archived := odb.Ref{Name: refLive + string(id)}, odb.Ref{Name: refArchive + string(id)}
	r.odb.ReadAhead(live.Name, archived.Name)
	var err, second error
	live.OID, err = r.odb.ReadRef(live.Name)
	if err != nil && !errors.Is(err, odb.ErrRefNotFound) {
		return refLocation{Ref: live}, fmt.Errorf("conversation %s: %w", id, storeError(err))
	}
	archived.OID, second = r.odb.ReadRef(archived.Name)
	switch {
	case err == nil && second == nil:
		return pickRef(live, archived, r.ancestry.reaches), nil
	case err == nil && errors.Is(second, odb.ErrRefNotFound):
		return refLocation{Ref: live}, nil
	case err == nil: // the archived ref is unreadable
		return refLocation{Ref: live, err: second}, nil
	case second == nil:
		return refLocation{Ref: archived}, nil
	case errors.Is(second, odb.ErrRefNotFound): // it may be on its way back to the live ones
		if live.OID, second = r.odb.ReadRef(live.Name); second == nil {
			return refLocation{Ref: live}, nil
		}
		archived = live
	}
	return refLocation{Ref: archived}, fmt.Errorf("conversation %s: %w", id, storeError(second))
}

// apartError is a [DuplicateIDError], nil if there is one ref or one head reaches the other.
func (w refLocation) apartError(id conversation.ID) error {
	if !w.apart {
		return nil
	}
	return &DuplicateIDError{ID: id, Live: conversation.Head(w.OID), Archived: conversation.Head(w.other.OID)}
}

// A KnownList is the result of an earlier list of a scope.
type KnownList struct {
	Same      func(ref string, file odb.RefStamp) bool // whether the ref had a file that looked like this
	Unchanged []string                                 // the refs of which this is so; the list leaves them out
	Files     map[string]odb.RefStamp                  // the stamps of the other refs' files
}

// heads lists the conversations of a scope as [Store.Heads] does, beside known ones.
func (r *refs) heads(scope conversation.Scope, known *KnownList) ([]conversation.Info, error) {
	refs, elsewhere, err := r.list(scope, known)
	broken, err := unreadable(err)
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", storeError(err))
	}
	infos := make([]conversation.Info, 0, len(refs)+len(broken))
	for _, r := range refs {
		if names(r.Name, scope) && !elsewhere(r) {
			info := named(r.Name)
			info.Head = conversation.Head(r.OID)
			infos = append(infos, info)
		}
	}
	for _, b := range broken {
		if names(b.Ref, scope) {
			info := named(b.Ref)
			info.Err = storeError(b)
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// list lists the refs of a scope, without those that have not changed. The function reports which of them
// are not the place of their conversation: the other scope has it, too, with the newer head.
func (r *refs) list(scope conversation.Scope, known *KnownList) (refs []odb.Ref, elsewhere func(odb.Ref) bool, err error) {
	own := refRoot + string(scope) + "/"
	other := map[conversation.Scope]string{conversation.ScopeLive: refArchive, conversation.ScopeArchived: refLive}[scope]
	if other == "" {
		refs, err = r.odb.ListRefs(own)
		return refs, func(odb.Ref) bool { return false }, err
	}
	before := known.before()
	refs, there, err := r.odb.ListBeside(own, other, before)
	if before != nil {
		known.Files = before.Stamps
		second, failed := r.takeSecond(known, other, there)
		refs, err = append(refs, second...), errors.Join(err, failed)
	}
	return refs, func(ref odb.Ref) bool {
		id := named(ref.Name).ID
		if !has(there, other, id) {
			return false
		}
		w, err := r.locate(id)
		return err == nil && w.Name != ref.Name && w.other.Name == ref.Name
	}, err
}

// before is the list in the form for the refs, nil for nil.
func (k *KnownList) before() *odb.KnownRefs {
	if k == nil {
		return nil
	}
	k.Unchanged = nil
	return &odb.KnownRefs{Same: func(ref string, file odb.RefStamp) bool {
		same := k.Same(ref, file)
		if same {
			k.Unchanged = append(k.Unchanged, ref)
		}
		return same
	}}
}

// takeSecond takes out of the unchanged refs those of conversations that have a second ref in the
// other scope, and reads them: which of the two counts depends on the other one, too.
func (r *refs) takeSecond(known *KnownList, other string, there []string) (refs []odb.Ref, err error) {
	if len(there) == 0 {
		return nil, nil
	}
	known.Unchanged = slices.DeleteFunc(known.Unchanged, func(ref string) bool {
		if !has(there, other, named(ref).ID) {
			return false
		}
		switch oid, failed := r.odb.ReadRef(ref); {
		case failed == nil:
			refs = append(refs, odb.Ref{Name: ref, OID: oid})
		case !errors.Is(failed, odb.ErrRefNotFound):
			err = errors.Join(err, failed)
		}
		return true
	})
	return refs, err
}

// has reports whether a sorted list has the name of an id behind a prefix.
func has(sorted []string, prefix string, id conversation.ID) bool {
	_, found := slices.BinarySearchFunc(sorted, string(id), func(name, id string) int {
		return strings.Compare(strings.TrimPrefix(name, prefix), id)
	})
	return found
}

// unreadable separates the unreadable refs in an error of ListRefs from the rest of it. ListRefs lists the
// other refs in spite of them.
func unreadable(err error) (broken []*odb.UnreadableRef, rest error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			some, other := unreadable(err)
			broken, rest = append(broken, some...), errors.Join(rest, other)
		}
		return broken, rest
	}
	var ref *odb.UnreadableRef
	if errors.As(err, &ref) {
		return []*odb.UnreadableRef{ref}, nil
	}
	return nil, err
}
