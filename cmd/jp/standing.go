package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/repoid"
	"jp/internal/safetext"
)

// repositories says where the repositories are that this user's jp has been in.
func (r *repo) repositories() repoid.Registry {
	if r.paths.StateDir == "" {
		return repoid.Registry{}
	}
	return repoid.Registry{Dir: filepath.Join(r.paths.StateDir, "repositories")}
}

// workspaceID names the repository. It is made on first use and stays with it, and a copy
// gets another one.
func (r *repo) workspaceID() (string, error) { return r.repositories().ID(r.own()) }

// knownWorkspaceID is the repository's name for who only looks, "" where it has none yet.
func (r *repo) knownWorkspaceID() string {
	id, err := r.repositories().Known(r.own())
	if err != nil {
		return ""
	}
	return id
}

// name is the repository's name as the store asks for it.
func (r *repo) name(forWrite bool) (string, error) {
	if forWrite {
		return r.workspaceID()
	}
	id, err := r.repositories().Known(r.own())
	if err == nil && id == "" {
		id = gitstore.Unnamed
	}
	return id, err
}

// mayAct fails where a conversation may be read only. can says what it still may be.
func (r standings) mayAct(ctx context.Context, id conversation.ID, head conversation.Head, events []*conversation.Event, can string) error {
	standing, err := r.store.Standing(ctx, id, head, events)
	if err != nil || standing == conversation.StandingOwn {
		return err
	}
	return r.standingFailure(id, head, standing, r.elsewhere(events), can)
}

// mayActOn is mayAct for who knows of a conversation its newest event, and whether
// this user's jp wrote it.
func (r standings) mayActOn(ctx context.Context, info conversation.Info, signed bool) error {
	if !signed {
		return r.standingFailure(info.ID, info.Head, conversation.StandingForeign, "", "read only")
	}
	return r.mayAct(ctx, info.ID, info.Head, []*conversation.Event{info.Tip}, "read only")
}

// standingFailure says why a conversation may not act, and what makes one of it that may.
func (r standings) standingFailure(id conversation.ID, head conversation.Head, s conversation.Standing, repository, can string) *failure {
	f := fail(exitDecision, "untrusted", "Conversation %s %s; it can be %s.", id, r.standingWords(s, repository), can).about(id)
	if s != conversation.StandingRolledBack {
		return f.hint("jp fork "+string(id)+" --adopt -a", "make a fork of it that is yours")
	}
	if seen, there, err := r.store.SeenHead(id); err == nil && there {
		f.hint(fmt.Sprintf("git update-ref %s %s %s", r.refNow(id), seen, head), "bring the newer events back")
	}
	return f.hint("jp trust --head "+id.Short(), "accept the older event as its newest").
		hint("jp fork "+id.Short()+" -a", "go on from there in a fork, and leave it as it is")
}

// refNow is the ref of a conversation, live or archived.
func (r standings) refNow(id conversation.ID) string {
	if info, err := r.store.Info(context.Background(), id); err == nil {
		return info.Ref
	}
	return refOf(id)
}

// standingWords say what is the matter with a conversation that may not act, and that was
// written in a repository.
func (r standings) standingWords(s conversation.Standing, repository string) string {
	switch s {
	case conversation.StandingElsewhere:
		return "was written in another repository (" + r.repositoryWord(repository) + ")"
	case conversation.StandingRenamed:
		return "has the events of another conversation"
	case conversation.StandingRolledBack:
		return "was set back to an older event than its newest one here"
	}
	return "was written by someone else"
}

// origin says in words why a conversation may not act, "" where it may or where that is not
// known.
func (r standings) origin(ctx context.Context, info conversation.Info, l listing) string {
	if l.unsure {
		return ""
	}
	tip := []*conversation.Event{info.Tip}
	standing := conversation.StandingForeign
	if signed, _ := r.states().signed(ctx, info); signed {
		standing = conversation.StandingOwn
		if info.Remote == "" {
			standing, _ = r.store.Standing(ctx, info.ID, info.Head, tip)
		}
	}
	if standing == conversation.StandingOwn {
		return ""
	}
	return strings.TrimPrefix(r.standingWords(standing, r.elsewhere(tip)), "was ")
}

// elsewhere is the other repository that events were written in, "" where they name none.
func (r standings) elsewhere(events []*conversation.Event) string {
	return conversation.ElsewhereOf(events, r.knownWorkspaceID())
}

// repositoryWord is the name of a repository, and where it is as far as that is known.
func (r *repo) repositoryWord(name string) string {
	word := placeWord(name)
	if place := r.repositories().Place(name); place != "" {
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

// The standings of conversations say which of them may act.
type standings struct{ *repo }

func (r *repo) standings() standings { return standings{r} }
