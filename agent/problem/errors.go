package problem

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

// Exit codes.
const (
	ExitFailed      = 1
	ExitUsage       = 2 // usage, configuration, model, key
	ExitDecision    = 3 // a user has to decide first
	ExitLocked      = 4
	ExitNotFound    = 5
	ExitDamaged     = 6
	ExitProvider    = 7
	ExitInterrupted = 130
)

// A Hint is an action that helps, and its effect.
type Hint struct {
	Action action.Action
	Text   string
}

// MarshalJSON shows the action as its command.
func (h Hint) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Command string `json:"command"`
		Text    string `json:"text"`
	}{h.Action.String(), h.Text})
}

// An Error is an error with the user's ways out of it.
type Error struct {
	Exit         int
	Code         string
	Message      string
	Details      []string // further lines, as they stand
	Hints        []Hint
	Conversation conversation.ID
	Silent       bool // everything was said already
	Wanted       bool // the user chose it: jp reports it, but does not call it an error
	Gone         bool // it says that something has taken the conversation away
}

func (f *Error) Error() string { return f.Message }

func New(exit int, code, format string, args ...any) *Error {
	return &Error{Exit: exit, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Unchanged is the error of a command whose user said no.
func Unchanged(exit int, code string) *Error {
	f := New(exit, code, "nothing was changed.")
	f.Wanted = true
	return f
}

// Sentence is a text that begins with a capital.
func Sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[n:]
}

func Usage(format string, args ...any) *Error { return New(ExitUsage, "usage", format, args...) }

// Hint adds an action that helps.
func (f *Error) Hint(a action.Action, text string) *Error {
	f.Hints = append(f.Hints, Hint{a, text})
	return f
}

func (f *Error) About(id conversation.ID) *Error {
	f.Conversation = id
	return f
}

func Itoa(n int) string { return strconv.Itoa(n) }

// OneLine makes a text fit on one line of a list.
func OneLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return safetext.Clean(line)
}

func Count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func Blank(word string) bool { return strings.TrimSpace(word) == "" }
