package undo

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/backup"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

// An Outlook is the effect of an undo of a turn whose tools changed files outside of trees.
type Outlook struct {
	Files []string // those files, sorted
	Known []string // with those that were made and deleted
	Lines int      // that went with deleted ones
	// Unknown are those of the files that changed while a call of unknown outcome ran, or since then.
	Unknown []string
	NoCopy  []string // files without a copy, with their sizes
	Left    []string // other files that undo would leave alone
	Named   []string // files that come back by name, with the command
	Restore action.Action
}

// mostCounted is how many deleted files have their lines counted.
const mostCounted = 200

// OutlookOf looks at a turn. It is nil if trees have all changed files, and all authors are known.
func OutlookOf(ctx context.Context, r *repo.Repo, store *backup.Store, id conversation.ID, turn int, unknown bool) (*Outlook, error) {
	tools, lost, err := changesIn(store, id, turn)
	if err != nil || len(tools)+len(lost) == 0 && !unknown {
		return nil, err
	}
	b, _, err := New(ctx, r, Options{Action: "undo", Word: string(id), DryRun: true})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	event, _, err := b.View.TurnEvents(turn)
	if err != nil {
		return nil, err
	}
	b.Before(event)
	_, result, err := b.Propose(ctx)
	if err != nil {
		return nil, err
	}
	o := &Outlook{}
	for _, c := range tools {
		o.Known = append(o.Known, c.Path())
	}
	for _, c := range lost {
		o.Unknown = append(o.Unknown, c.Path())
	}
	for i, c := range net(tools) {
		o.Files = append(o.Files, c.Path())
		if c.After.There() || !c.Before.IsFile() || c.Before.OID == "" || i >= mostCounted {
			continue
		}
		if text, err := store.Blob(c.Before.OID); err == nil && bytes.IndexByte(text, 0) < 0 {
			o.Lines += bytes.Count(text, []byte{'\n'})
		}
	}
	var named []string
	o.Restore, named = b.RestoreNamed(result)
	for _, f := range result.Left() {
		path, err := conversation.UnquotePath(f.Path)
		switch e := b.copies.lacks[path]; {
		case err == nil && e != nil && strings.HasSuffix(path, "/"):
			o.NoCopy = append(o.NoCopy, safetext.Show(path))
		case err == nil && e != nil:
			o.NoCopy = append(o.NoCopy, safetext.Show(path)+" ("+e.Extent()+")")
		case slices.Contains(named, path):
			o.Named = append(o.Named, safetext.Show(path))
		case strings.HasPrefix(f.Reason, snapshot.NewlyStaged): // the line after the turn names them apart
		default:
			o.Left = append(o.Left, safetext.Show(path))
		}
	}
	return o, nil
}

// net joins the changes of each path, and leaves out those without effect, sorted by path.
func net(changes []backup.Change) []backup.Change {
	whole := map[string]backup.Change{}
	for _, c := range changes {
		if first, is := whole[c.Path()]; is {
			c.Before = first.Before
		}
		whole[c.Path()] = c
	}
	var all []backup.Change
	for _, path := range slices.Sorted(maps.Keys(whole)) {
		if c := whole[path]; !c.Before.Same(&c.After) {
			all = append(all, c)
		}
	}
	return all
}

// changesIn are the changes of a turn that the backups have of its tools, and of those that were lost, oldest first.
func changesIn(store *backup.Store, id conversation.ID, turn int) (tools, lost []backup.Change, err error) {
	if store == nil {
		return nil, nil, nil
	}
	records, err := store.Records()
	for _, rec := range records {
		if rec.Conversation != string(id) || rec.Turn != turn || rec.Call < 0 {
			continue
		}
		changes, err := store.ChangesOf(rec)
		switch {
		case err != nil:
		case rec.Event > 0:
			lost = append(lost, changes...)
		default:
			tools = append(tools, changes...)
		}
	}
	return tools, lost, err
}
