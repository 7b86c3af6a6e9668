package conversation

import (
	"encoding/json"
	"slices"
)

// A Home is the intended place of an event: a conversation of a repository.
type Home struct {
	Repo string // workspace id
	ID   ID
}

// A Standing tells whether a conversation may act, and if not, the reason.
type Standing int

// The standings.
const (
	StandingOwn        Standing = iota
	StandingForeign             // events of its last turn lack the signature of this user's jp
	StandingElsewhere           // they were written in another repository
	StandingRenamed             // they were written for another conversation
	StandingRolledBack          // its head is older than the one seen last here, or unrelated
)

var standingNames = []string{"own", "foreign", "elsewhere", "renamed", "rolled_back"}

// String is the standing as JSON has it.
func (s Standing) String() string { return standingNames[s] }

// MarshalJSON writes the name.
func (s Standing) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// StandingOf tells whether the events of a conversation, by their own word, may act as the
// conversation at a place: every event of the last turn since the user last adopted it is
// signed by this user's jp, for this repository, and for this conversation, or for one that
// this one is a fork of. Events from the time before they named their home count as
// written here, unless they name another repository.
//
// An empty repository is any. The events cannot tell whether a newer head was seen.
func StandingOf(events []*Event, here Home) Standing {
	if !Local(events) {
		return StandingForeign
	}
	names := []ID{here.ID}
	for i := len(events) - 1; i >= min(tailStart(events), len(events)-1); i-- {
		e := events[i]
		if s := e.standingOf(here.Repo, names); s != StandingOwn {
			return s
		}
		if b, ok := e.Body.(*ForkOrigin); ok {
			names = append(names, b.Conversation)
			if b.WrittenFor != "" {
				names = append(names, b.WrittenFor)
			}
		}
		if adopts(e) {
			break
		}
	}
	return StandingOwn
}

func (e *Event) standingOf(repo string, names []ID) Standing {
	switch {
	case repo == "":
	case e.Home != nil && e.Home.Repo != repo, e.Home == nil && e.Git != nil && e.Git.Repo != "" && e.Git.Repo != repo:
		return StandingElsewhere
	}
	if e.Home != nil && !slices.Contains(names, e.Home.ID) {
		return StandingRenamed
	}
	return StandingOwn
}

// ElsewhereOf is the newest repository other than but that events name, or "".
func ElsewhereOf(events []*Event, but string) string {
	for _, e := range slices.Backward(events) {
		switch {
		case e.Home != nil && e.Home.Repo != but:
			return e.Home.Repo
		case e.Home == nil && e.Git != nil && e.Git.Repo != "" && e.Git.Repo != but:
			return e.Git.Repo
		}
	}
	return ""
}
