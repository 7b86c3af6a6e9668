// Package action has the closed list of what jp advises its user to do: each action is a
// command line with places for words, and has a kind. Errors and notices name actions, so
// that a terminal shows the command and another front end can offer a button.
//
// Nothing outside of this package makes a command line of words: the words are quoted here,
// and a shell takes each of them as it is.
package action

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"jp/internal/safetext"
)

// A Kind is the name of an action, whatever conversation or file it is about.
type Kind string

// An Action is one command that helps. The zero value is none.
type Action struct {
	kind       Kind
	args       []string
	dir        string // where jp or git is to do it; "": here
	unrecorded bool
}

// Kind is what the action does.
func (a Action) Kind() Kind { return a.kind }

// Args are what the action is about, in the order of its places.
func (a Action) Args() []string { return slices.Clone(a.args) }

// None reports whether there is no action.
func (a Action) None() bool { return a.kind == "" }

// In is the action for a user who is not in the directory that it is about: jp and git go
// there first. Actions that are the same everywhere, or name a place, stay as they are.
func (a Action) In(dir string) Action {
	if dir != "" && a.kind != InitSHA1.kind && !strings.HasSuffix(commands[a.kind], " --help") {
		a.dir = dir
	}
	return a
}

// Unrecorded is the action for a user of whose question nothing is recorded.
func (a Action) Unrecorded() Action {
	a.unrecorded = true
	return a
}

// NeedsTurn reports whether the action goes on with the turn that it is beside, takes it back
// or repeats its question, which has to be on record for that.
func (a Action) NeedsTurn() bool {
	return slices.ContainsFunc([]string{"jp continue", "jp discard", "jp query -E", "jp query --discard-turn -E"}, func(begin string) bool {
		return strings.HasPrefix(commands[a.kind], begin)
	})
}

// places are where the words go in a command: {name}, the same word wherever the name is,
// and {name…} for all words that no other place takes, which may be none.
var places = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` ?\{[a-z]+…?\}`) })

// Places are the names of the places in a command, in order, each once.
func Places(command string) (names []string) {
	for _, place := range places().FindAllString(command, -1) {
		if name := strings.Trim(place, " {}"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// String is the command line.
func (a Action) String() string {
	command, names, left := commands[a.kind], Places(commands[a.kind]), a.args
	words := map[string]string{}
	for i, name := range names {
		n := min(1, len(left))
		if strings.HasSuffix(name, "…") {
			n = max(0, len(left)-(len(names)-1-i))
		}
		words[name] = safetext.EscapeAll(left[:n])
		left = left[n:]
	}
	line := places().ReplaceAllStringFunc(command, func(place string) string {
		blank, name, _ := strings.Cut(strings.TrimSuffix(place, "}"), "{")
		if words[name] == "" && strings.HasSuffix(name, "…") {
			return ""
		}
		return blank + words[name]
	})
	if rest, asks := strings.CutPrefix(line, "jp query "); asks && a.unrecorded && !strings.Contains(command, "--no-persist") {
		line = "jp query --no-persist " + rest
	}
	for _, program := range []string{"jp", "git"} {
		if rest, found := strings.CutPrefix(line, program+" "); found && a.dir != "" && !strings.HasPrefix(rest, "-C ") {
			return program + " -C " + safetext.Escape(a.dir) + " " + rest
		}
	}
	return line
}

// Named is an action of the list by its kind, as another process names it.
func Named(kind Kind, args ...string) (Action, error) {
	if _, known := commands[kind]; !known {
		return Action{}, fmt.Errorf("there is no action %q", kind)
	}
	return Action{kind: kind, args: args}, nil
}

// Kinds is the list: each kind with its command.
func Kinds() map[Kind]string {
	all := make(map[Kind]string, len(commands))
	for kind, command := range commands {
		all[kind] = command
	}
	return all
}

// commands is the list, filled by the variables that make actions.
var commands = map[Kind]string{}

func list(kind Kind, command string) Kind {
	if _, twice := commands[kind]; twice {
		panic("the action " + kind + " is listed twice")
	}
	commands[kind] = command
	return kind
}

// fixed lists an action that is about nothing in particular.
func fixed(kind Kind, command string) Action { return Action{kind: list(kind, command)} }

// about lists an action with one place.
func about(kind Kind, command string) func(string) Action {
	list(kind, command)
	return func(word string) Action { return Action{kind: kind, args: []string{word}} }
}

// between lists an action with two places.
func between(kind Kind, command string) func(string, string) Action {
	list(kind, command)
	return func(first, second string) Action { return Action{kind: kind, args: []string{first, second}} }
}

// among lists an action with as many words as are given.
func among(kind Kind, command string) func(...string) Action {
	list(kind, command)
	return func(words ...string) Action { return Action{kind: kind, args: words} }
}
