// Package action has the closed list of the actions that jp advises. Each action has a kind, a verb of
// jp and places for words. Errors and notices name actions: a terminal shows the command, and another front
// end offers a button (Data).
//
// This package alone makes command lines of words: it quotes the words, and a shell takes each of them as
// it is.
package action

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	return slices.ContainsFunc([]string{"continue", "discard", "query -E", "query --discard-turn -E"}, func(begin string) bool {
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

// words are the words of each place.
func (a Action) words() map[string][]string {
	names, left := Places(commands[a.kind]), a.args
	words := map[string][]string{}
	for i, name := range names {
		n := min(1, len(left))
		if strings.HasSuffix(name, "…") {
			n = max(0, len(left)-(len(names)-1-i))
		}
		words[name] = left[:n]
		left = left[n:]
	}
	return words
}

// Data is an action as a front end without a command line uses it.
type Data struct {
	Verb         string   `json:"verb"` // a command of jp
	Conversation string   `json:"conversation,omitempty"`
	Event        string   `json:"event,omitempty"`
	Options      []string `json:"options,omitempty"` // flags, values and other words, in order
}

// blank finds a word that the user fills in.
var blank = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Z]{2}|…`) })

// Data is nil for a command of git or the system, and for one that the user has to complete.
func (a Action) Data() *Data {
	template := commands[a.kind]
	if a.None() || strings.HasPrefix(template, shell) || blank().MatchString(places().ReplaceAllString(template, "")) {
		return nil
	}
	words := a.words()
	verb, rest, _ := strings.Cut(template, " ")
	d := &Data{Verb: verb}
	for _, token := range strings.Fields(rest) {
		switch token {
		case "{id}", "--id={id}":
			d.Conversation = strings.Join(words["id"], "")
		case "{id}@{seq}", "{id}@{event}", "@{seq}", "{event}":
			d.Conversation = strings.Join(words["id"], "")
			d.Event = strings.Join(append(words["seq"], words["event"]...), "")
		default:
			if name := strings.Trim(token, "{}"); strings.HasSuffix(name, "…") {
				d.Options = append(d.Options, words[name]...)
				continue
			}
			d.Options = append(d.Options, places().ReplaceAllStringFunc(token, func(place string) string {
				return strings.Join(words[strings.Trim(place, "{}")], "")
			}))
		}
	}
	return d
}

// String is the command line.
func (a Action) String() string {
	if a.None() {
		return ""
	}
	command, words := commandLine(a.kind), map[string]string{}
	for name, of := range a.words() {
		if name == "id" && strings.Join(of, "") == "" {
			continue // the session's conversation
		}
		words[name] = safetext.EscapeAll(of)
	}
	line := places().ReplaceAllStringFunc(command, func(place string) string {
		blank, name, _ := strings.Cut(strings.TrimSuffix(place, "}"), "{")
		if words[name] == "" && strings.HasSuffix(name, "…") {
			return ""
		}
		return blank + words[name]
	})
	if rest, asks := strings.CutPrefix(line, Program+" query "); asks && a.unrecorded && !strings.Contains(command, "--no-persist") {
		line = Program + " query --no-persist " + rest
	}
	if command, own := strings.CutPrefix(line, Program+" "); own && inChat.Load() && a.dir == "" {
		command = strings.Replace(command, "continue --discard", "discard", 1)
		if verb, _, _ := strings.Cut(command, " "); slices.Contains(ChatVerbs, verb) {
			return "/" + command
		}
	}
	for _, program := range []string{Program, "git"} {
		if rest, found := strings.CutPrefix(line, program+" "); found && a.dir != "" && !strings.HasPrefix(rest, "-C ") {
			return program + " -C " + safetext.Escape(a.dir) + " " + rest
		}
	}
	return line
}

// ChatVerbs are the commands of jp that a chat takes with a slash and the same words.
var ChatVerbs = []string{"use", "ls", "fork", "continue", "discard", "undo", "restore", "diff", "status", "print", "compact", "usage", "skills", "export"}

var inChat atomic.Bool

// InChat says that the user of this process types into a chat: commands of jp that it takes begin with a slash.
func InChat() { inChat.Store(true) }

// IsInChat reports whether they do.
func IsInChat() bool { return inChat.Load() }

// Named is an action of the list by its kind, as another process names it.
func Named(kind Kind, args ...string) (Action, error) {
	if _, known := commands[kind]; !known {
		return Action{}, fmt.Errorf("there is no action %q", kind)
	}
	return Action{kind: kind, args: args}, nil
}

// Kinds is the list: each kind with its command line.
func Kinds() map[Kind]string {
	all := make(map[Kind]string, len(commands))
	for kind := range commands {
		all[kind] = commandLine(kind)
	}
	return all
}

// shell begins a command that is not one of jp.
const shell = "$ "

// commandLine is the command of a kind with its places.
func commandLine(kind Kind) string {
	if line, system := strings.CutPrefix(commands[kind], shell); system {
		return line
	}
	return Program + " " + commands[kind]
}

// Program is the name by which the user calls jp.
const Program = "jp"

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
