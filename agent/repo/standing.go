package repo

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/conversation"
	"jp/gitstore"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/record/journal"
)

// Repositories has the places of the repositories that this user's jp has been in.
func (r Standings) Repositories() gitstore.IDRegistry {
	if r.repo.Paths.StateDir == "" {
		return gitstore.IDRegistry{}
	}
	return gitstore.IDRegistry{Dir: filepath.Join(r.repo.Paths.StateDir, "repositories")}
}

// WorkspaceID names the repository. It is made on first use and stays with it, and a copy
// gets another one.
func (r Standings) WorkspaceID() (string, error) { return r.Repositories().ID(r.repo.StateDir()) }

// KnownWorkspaceID is the repository's name for read-only commands, "" before it has one.
func (r Standings) KnownWorkspaceID() string {
	id, err := r.Repositories().Known(r.repo.StateDir())
	if err != nil {
		return ""
	}
	return id
}

// OwnFile is the user's configuration file for this repository, "" before the repository has a name.
func (r Standings) OwnFile() string {
	if r.repo.Git == nil {
		return ""
	}
	return r.repo.Paths.OwnFile(r.KnownWorkspaceID())
}

// Name is the repository's name for the store.
func (r Standings) Name(forWrite bool) (string, error) {
	if forWrite {
		return r.WorkspaceID()
	}
	id, err := r.Repositories().Known(r.repo.StateDir())
	if err == nil && id == "" {
		id = gitstore.Unnamed
	}
	return id, err
}

// listedName is Name for a list of conversations, which needs it for each: it reads the files once. A
// repository keeps its name.
func (r Standings) listedName() (string, error) {
	if r.repo.name == nil {
		return r.Name(false)
	}
	if name := r.repo.name.Load(); name != nil {
		return *name, nil
	}
	name, err := r.Name(false)
	if err == nil && name != gitstore.Unnamed {
		r.repo.name.Store(&name)
	}
	return name, err
}

// MayAct fails for a read-only conversation. alternative names the remaining uses.
func (r Standings) MayAct(ctx context.Context, id conversation.ID, head conversation.Head, events []*conversation.Event, alternative string) error {
	standing, err := r.repo.Store.Standing(ctx, id, head, events)
	if err != nil || standing == conversation.StandingOwn {
		return err
	}
	return r.StandingFailure(id, head, standing, r.Elsewhere(events), alternative)
}

// mayActOn is MayAct for callers that know a conversation's newest event, and whether this user's jp wrote
// it.
func (r Standings) mayActOn(ctx context.Context, info conversation.Info, signed bool) error {
	if !signed {
		return r.StandingFailure(info.ID, info.Head, conversation.StandingForeign, "", "read only")
	}
	return r.MayAct(ctx, info.ID, info.Head, []*conversation.Event{info.Tip}, "read only")
}

// Recording is the record of a conversation that jp wrote here while another agent ran, by the user's state. ok
// is false for another conversation.
func (r Standings) Recording(id conversation.ID) (written journal.Written, ok bool) {
	name := r.KnownWorkspaceID()
	if name == "" {
		return written, false
	}
	return journal.In(r.repo.Paths.StateDir, name).Written(id)
}

// Recorded reports whether events are a recording of this user's jp, with nothing behind it that others wrote.
func (r Standings) Recorded(id conversation.ID, events []*conversation.Event) bool {
	w, ok := r.Recording(id)
	for _, e := range slices.Backward(events) {
		switch {
		case !ok:
			return false
		case e.Commit == string(w.Head):
			return true
		case !e.Signed:
			return false
		}
	}
	return false
}

// Recorder is the agent that a running recorder records in a conversation, "" if none does.
func (r Standings) Recorder(id conversation.ID) string {
	w, ok := r.Recording(id)
	if !ok || !journal.In(r.repo.Paths.StateDir, r.KnownWorkspaceID()).Runs(w.Run) {
		return ""
	}
	return w.Format
}

// StandingFailure is the error of a conversation that may not act, with the command that makes one of it that
// may.
func (r Standings) StandingFailure(id conversation.ID, head conversation.Head, s conversation.Standing, repository, alternative string) *problem.Error {
	words := r.StandingWords(s, repository)
	if w, ok := r.Recording(id); ok && s == conversation.StandingForeign {
		words = "is a recording of " + w.Format
	}
	f := problem.New(problem.ExitDecision, "untrusted", "Conversation %s %s; it can be %s.", id, words, alternative).About(id)
	if s != conversation.StandingRolledBack {
		return f.Hint(action.Adopt(string(id)), "make a fork of it that is yours")
	}
	if seen, there, err := r.repo.Store.SeenHead(id); err == nil && there {
		f.Hint(action.SetRefFrom(r.refNow(id), string(seen), string(head)), "bring the newer events back")
	}
	return f.Hint(action.AcceptHead(id.Short()), "accept the older event as its newest").
		Hint(action.ForkAndUse(id.Short()), "go on from there in a fork, and leave it as it is")
}

// NotSetBack refuses a deletion of conversations of which one was set back to an older event: once its ref is
// gone, the newer events are unreachable.
func (r Standings) NotSetBack(ctx context.Context, infos []conversation.Info) error {
	for _, info := range infos {
		if info.Err != nil || info.Tip == nil {
			continue
		}
		standing, err := r.repo.Store.Standing(ctx, info.ID, info.Head, []*conversation.Event{info.Tip})
		if err != nil {
			return err
		}
		if standing == conversation.StandingRolledBack {
			f := r.StandingFailure(info.ID, info.Head, standing, "", "read only")
			f.Details = append(f.Details, "git would remove its newer events in time, since nothing else names them.")
			return f
		}
	}
	return nil
}

// NewerEvents brings back the events behind which a conversation was set back, or is empty if they are gone.
func (r Standings) NewerEvents(info conversation.Info) action.Action {
	seen, there, err := r.repo.Store.SeenHead(info.ID)
	if err != nil || !there || seen == info.Head {
		return action.Action{}
	}
	return action.SetRef(info.Ref, string(seen))
}

// refNow is the ref of a conversation, live or archived.
func (r Standings) refNow(id conversation.ID) string {
	if info, err := r.repo.Store.Info(context.Background(), id); err == nil {
		return info.Ref
	}
	return RefOf(id)
}

// StandingWords explain why a conversation that was written in a repository may not act.
func (r Standings) StandingWords(s conversation.Standing, repository string) string {
	switch s {
	case conversation.StandingElsewhere:
		return "was written in another repository (" + r.RepositoryWord(repository) + ")"
	case conversation.StandingRenamed:
		return "has the events of another conversation"
	case conversation.StandingRolledBack:
		return "was set back to an older event than its newest one here"
	}
	return "was written by someone else"
}

// Origin explains why a conversation may not act, "" if it may or if that is unknown.
func (r Standings) Origin(ctx context.Context, info conversation.Info, l Summary) string {
	if l.Unsure {
		return ""
	}
	newest, signed, _ := r.repo.States().signed(ctx, info)
	standing := conversation.StandingForeign
	if signed {
		standing = conversation.StandingOwn
		if info.Remote == "" {
			standing, _ = r.repo.Store.Standing(ctx, info.ID, info.Head, newest)
		}
	}
	if standing == conversation.StandingOwn {
		return ""
	}
	return strings.TrimPrefix(r.StandingWords(standing, r.Elsewhere(newest)), "was ")
}

// Elsewhere is the other repository that events were written in, or "".
func (r Standings) Elsewhere(events []*conversation.Event) string {
	return conversation.ElsewhereOf(events, r.KnownWorkspaceID())
}

// RepositoryWord is the name of a repository, and its place if known.
func (r Standings) RepositoryWord(name string) string {
	word := PlaceWord(name)
	if place := r.Repositories().Place(name); place != "" {
		word += ", " + safetext.Show(repositoryFolder(place))
	}
	return word
}

// repositoryFolder is the folder that people know a repository by.
func repositoryFolder(gitDir string) string {
	if filepath.Base(gitDir) == ".git" {
		return filepath.Dir(gitDir)
	}
	return gitDir
}

// The Standings of conversations say which of them may act.
type Standings struct{ repo *Repo }

func (r *Repo) Standings() Standings { return Standings{r} }
