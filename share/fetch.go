package share

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
	"jp/gitcmd"
	"jp/gitstore"
)

// A Fetched is the result of a fetch.
type Fetched struct {
	Remote  string            `json:"remote"`
	Changed []conversation.ID `json:"changed"`  // with new events, of anybody, readable as REMOTE/ID
	SetBack []conversation.ID `json:"set_back"` // at the remote: its events of now are kept aside, as REMOTE/aside/ID
	Taken   []Taken           `json:"taken"`    // the user's own, which go on here
	Left    []Left            `json:"left"`     // the user's own, which do not
	Waiting int               `json:"waiting"`  // the user's own, if the user says that this is their repository
	Unknown int               `json:"unknown"`  // manifests by keys that do not count here
	refs    map[string]string
}

// A Taken is a conversation that goes on here with the events of another machine.
type Taken struct {
	ID   conversation.ID `json:"id"`
	New  bool            `json:"new"`
	Fork conversation.ID `json:"fork,omitempty"` // that has the events of here since the two parted
}

// A Left is one of the user's conversations that is as before, and the reason.
type Left struct {
	ID  conversation.ID `json:"id"`
	Why string          `json:"why"`
}

// A FetchRequest has the choices of a fetch.
type FetchRequest struct {
	Forks bool // fork a conversation that has events of its own here and there
	// Agree asks the user whether manifests of an unknown repository are of this one: n conversations, by a key.
	Agree func(ctx context.Context, n int, key Key) (bool, error)
}

// Fetch brings the conversations of a remote here, and takes over the user's own.
func Fetch(ctx context.Context, r *repo.Repo, m Remote, q FetchRequest) (*Fetched, error) {
	refs, err := m.refs(ctx, r)
	if err != nil {
		return nil, err
	}
	f := &Fetched{Remote: m.Name, refs: refs}
	if err := f.bring(ctx, r, m); err != nil {
		return nil, err
	}
	return f, f.takeOwn(ctx, r, m, q)
}

// bring fetches the refs that differ from those of here.
func (f *Fetched) bring(ctx context.Context, r *repo.Repo, m Remote) error {
	was, err := tracked(ctx, r, m)
	if err != nil {
		return err
	}
	var wanted []string
	for ref, oid := range f.refs {
		double := strings.HasPrefix(ref, archive) && f.refs[live+strings.TrimPrefix(ref, archive)] != ""
		if !strings.HasPrefix(ref, "refs/jp/") || double || was[m.here(ref)] == oid {
			continue
		}
		force := ""
		if strings.HasPrefix(ref, payloads) {
			force = "+"
		}
		wanted = append(wanted, force+ref+":"+m.here(ref))
	}
	if len(wanted) == 0 {
		return nil
	}
	slices.Sort(wanted)
	failed := get(ctx, r, m, wanted)
	now, err := tracked(ctx, r, m)
	if err != nil {
		return err
	}
	var aside []string
	for _, spec := range wanted {
		ref, here, _ := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		_, id, isConversation := strings.Cut(ref, "refs/jp/conversations/")
		if !isConversation {
			_, id, isConversation = strings.Cut(ref, "refs/jp/archive/")
		}
		switch {
		case now[here] == f.refs[ref] && isConversation:
			f.Changed = append(f.Changed, conversation.ID(id))
		case now[here] != f.refs[ref] && now[here] != "" && isConversation:
			f.SetBack = append(f.SetBack, conversation.ID(id))
			aside = append(aside, "+"+ref+":refs/jp/remotes/"+m.Name+"/aside/"+id)
		case now[here] == "":
			return failed
		}
	}
	if len(aside) > 0 {
		return get(ctx, r, m, aside)
	}
	return nil
}

// get fetches refs into this repository's folder of the remote.
func get(ctx context.Context, r *repo.Repo, m Remote, specs []string) error {
	_, err := r.Git.RunWith(ctx, gitcmd.Command{
		Args:  []string{"fetch", "--quiet", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-auto-maintenance", "--stdin", "--", m.URL},
		Stdin: strings.NewReader(strings.Join(specs, "\n") + "\n"), Network: true,
	})
	if err != nil {
		return m.failure(err)
	}
	return nil
}

// tracked are the refs of a remote in this repository.
func tracked(ctx context.Context, r *repo.Repo, m Remote) (map[string]string, error) {
	out, err := r.Git.Run(ctx, "for-each-ref", "--format=%(refname) %(objectname)", "refs/jp/remotes/"+m.Name+"/")
	refs := map[string]string{}
	for line := range bytes.Lines(out) {
		name, oid, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		refs[name] = oid
	}
	return refs, err
}

// takeOwn takes over the conversations that a manifest of the user's vouches for.
func (f *Fetched) takeOwn(ctx context.Context, r *repo.Repo, m Remote, q FetchRequest) error {
	keys, err := Keys(r).All()
	if err != nil {
		return err
	}
	known, err := recall(r)
	if err != nil {
		return err
	}
	for ref := range f.refs {
		if fingerprint, is := strings.CutPrefix(ref, manifests); is && !slices.ContainsFunc(keys, func(k Key) bool { return k.Fingerprint() == fingerprint }) {
			f.Unknown++
		}
	}
	for _, key := range keys {
		commit := f.refs[manifests+key.Fingerprint()]
		if commit == "" {
			continue
		}
		if err := older(ctx, r, m, known.Seen[key.Fingerprint()], commit); err != nil {
			return err
		}
		list, err := readManifest(ctx, r, key, commit)
		if err != nil {
			return err
		}
		if known.Repository != "" && list.repository != known.Repository || boundElsewhere(r, m, list.repository) {
			return otherRepository(m, list.repository)
		}
		if known.Repository == "" && len(list.entries) > 0 {
			agreed, err := q.Agree(ctx, len(list.entries), key)
			if err != nil {
				return err
			}
			if !agreed {
				f.Waiting += len(list.entries)
				continue
			}
			known.Repository = list.repository
		}
		ids := make([]conversation.ID, 0, len(list.entries))
		for id := range list.entries {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			if err := f.take(ctx, r, id, list.entries[id], q.Forks); err != nil {
				f.Left = append(f.Left, Left{id, problem.OneLine(err.Error())})
			}
		}
		if err := change(ctx, r, func(all *remembered) { all.Repository, all.Seen[key.Fingerprint()] = list.repository, commit }); err != nil {
			return err
		}
	}
	return nil
}

// boundElsewhere reports whether an id is that of a repository of this machine that has another URL.
func boundElsewhere(r *repo.Repo, m Remote, id string) bool {
	own, err := memory(r)
	if err != nil {
		return true
	}
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(own), "*"))
	for _, path := range files {
		if path == own || strings.HasSuffix(path, ".lock") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if bytes.Contains(text, []byte(`"`+id+`"`)) && !bytes.Contains(text, []byte(m.URL)) {
			return true
		}
	}
	return false
}

// take takes over one conversation at the head that its manifest names.
func (f *Fetched) take(ctx context.Context, r *repo.Repo, id conversation.ID, e entry, forks bool) error {
	ref := live + string(id)
	if e.state == stateArchived {
		ref = archive + string(id)
	}
	if e.state == stateRemoved {
		return nil
	}
	if f.refs[ref] != e.head {
		return errors.New("its head at the remote is not the one that the manifest names")
	}
	head, payload := conversation.Head(e.head), f.refs[payloads+string(id)]
	here := gitstore.Arrivals{Store: r.Store}
	info, err := r.Store.Info(ctx, id)
	if errors.Is(err, conversation.ErrNotFound) {
		if here.Deleted(id) {
			return nil
		}
		if err := here.Hand(ctx, head); err != nil {
			return err
		}
		f.Taken = append(f.Taken, Taken{ID: id, New: true})
		return here.Take(ctx, conversation.Info{}, ref, head, payload, false)
	}
	if err != nil {
		return err
	}
	relation := relate(r, string(info.Head), e.head)
	if relation == Ahead {
		return nil
	}
	if relation == Even && info.Ref == ref && r.States().List(ctx, info).Local {
		return nil
	}
	if relation == Diverged && !forks {
		return errors.New("it has events of its own here and there; jp sync makes a fork of those of here")
	}
	held, err := r.Hold(ctx, r.Env, id)
	if err != nil {
		return err
	}
	defer held.Release()
	if err := here.Hand(ctx, head); err != nil || relation == Even && info.Ref == ref {
		return err
	}
	taken := Taken{ID: id}
	if relation == Diverged {
		if taken.Fork, err = forkOf(ctx, r, id); err != nil {
			return err
		}
	}
	if err := here.Take(ctx, info, ref, head, payload, relation == Diverged); err != nil {
		return err
	}
	f.Taken = append(f.Taken, taken)
	return nil
}

// forkOf is a fork of the whole conversation as it is here.
func forkOf(ctx context.Context, r *repo.Repo, id conversation.ID) (conversation.ID, error) {
	v, err := fork.ForkCut{}.View(ctx, r, string(id))
	if err != nil {
		return "", err
	}
	made, err := fork.New(v, fork.ForkCut{})
	if err != nil {
		return "", err
	}
	place, err := snapshot.Here(ctx, r)
	if err != nil {
		return "", err
	}
	err = made.Create(ctx, place)
	return made.ID, err
}
