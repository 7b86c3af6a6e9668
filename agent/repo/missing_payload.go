package repo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/action"
)

// Large texts are kept beside the events and may be missing alone: they were not fetched, or a git has
// dropped them. The events then have their beginnings.

// Rest is the notice that the end of an event's text is missing here, with the command that may bring it. It
// is "" if the text is whole.
func (v *View) Rest(e *conversation.Event) string {
	missing := e.Missing()
	if missing == 0 {
		return ""
	}
	size := conversation.ByteCount(int(missing))
	if v.Remote == "" {
		if v.lost == nil {
			v.lost, _ = v.Repo.Store.LostOf(v.ID, v.toNewest()) // jp verify reports an error
			v.lost = append([]gitstore.Lost{}, v.lost...)
		}
		if slices.ContainsFunc(v.lost, func(l gitstore.Lost) bool { return l.Event.Seq == e.Seq }) {
			return fmt.Sprintf("… the rest (%s) is lost: it was in this repository only, and is damaged here", size)
		}
	}
	return fmt.Sprintf("… the rest (%s) is not here%s", size, v.Repo.BroughtBy(v.Source(e), v.Remote))
}

// Output is jp's whole record of a tool's output, content if there is no more.
func (v *View) Output(ctx context.Context, e *conversation.Event, content string) string {
	if p := e.Payload(conversation.PayloadOutput); p != nil {
		if data, here, err := v.Repo.Store.Payload(ctx, *p); err == nil && here {
			return string(data)
		}
	}
	return content
}

// Source is the conversation whose payload a remote has of an event: the view's own, or one that it was
// forked from.
func (v *View) Source(of *conversation.Event) conversation.ID {
	if v.Remote != "" {
		return v.ID
	}
	if v.origins == nil {
		v.origins = []*conversation.Event{}
		for _, e := range v.toNewest() {
			if e.Type() == conversation.TypeForkOrigin {
				v.origins = append(v.origins, e)
			}
		}
	}
	for _, e := range v.origins {
		id := e.Body.(*conversation.ForkOrigin).Conversation
		if e.Seq <= of.Seq {
			continue
		}
		if remotes, err := v.Repo.Find().remotesWith(id); err == nil && len(remotes) > 0 {
			return id
		}
	}
	return v.ID
}

// BroughtBy names the command that may bring absent texts of a conversation, for the end of a notice. It is
// "" if no remote is known to have them. remote is the conversation's remote, "" for one here.
func (r *Repo) BroughtBy(id conversation.ID, remote string) string {
	if fetch := r.FetchTexts(id, remote); !fetch.None() {
		return "; " + fetch.String() + "   may bring more"
	}
	return ""
}

// FetchTexts fetches the payload of one conversation into the namespace of the remote, without pruning. It is
// empty if no known remote has it.
func (r *Repo) FetchTexts(id conversation.ID, remote string) action.Action {
	if remote == "" {
		remotes, err := r.Find().remotesWith(id)
		if err != nil || len(remotes) == 0 {
			return action.Action{}
		}
		remote = remotes[0]
	}
	there, here := gitstore.PayloadRefs(remote, id)
	refs := "+" + there + ":" + here
	if r.Store.PartialClone() { // its filter leaves out the content of named refs, too
		return action.RefetchTexts(remote, refs)
	}
	return action.FetchTexts(remote, refs)
}

// remotesWith are the remotes that a conversation was fetched from.
func (r Finder) remotesWith(id conversation.ID) (remotes []string, err error) {
	all, err := r.repo.Store.Heads(conversation.ScopeRemotes)
	for _, i := range all {
		if i.ID == id {
			remotes = append(remotes, i.Remote)
		}
	}
	return remotes, err
}

// MayBring are the commands that fetch the missing texts of a conversation here, if it was pushed to
// one of the repository's remotes without being fetched from it since. At most three are named.
func (r *Repo) MayBring(ctx context.Context, id conversation.ID) (fetches []action.Action, remotes []string) {
	out, err := r.Git.Run(ctx, "remote")
	if err != nil {
		return nil, nil
	}
	remotes = strings.Fields(string(out))
	remotes = remotes[:min(3, len(remotes))]
	for _, remote := range remotes {
		fetches = append(fetches, r.FetchTexts(id, remote))
	}
	return fetches, remotes
}

// AbsentMark marks a missing payload in the output.
func AbsentMark(p conversation.Payload) string {
	if p.Absent {
		return ", not here"
	}
	return ""
}
