package ui

import (
	"fmt"
	"strings"
	"time"

	"jp/conversation"
	"jp/search"
)

// A FoundJSON is a line that a search found, as programs get it.
type FoundJSON struct {
	ID           string       `json:"id"`
	Conversation string       `json:"conversation"` // the same
	Title        *string      `json:"title"`
	Turn         *int         `json:"turn"` // nil for a line of the title, as seq and time
	Seq          *int         `json:"seq"`
	Scope        search.Scope `json:"scope"`
	Time         *time.Time   `json:"time"`
	Text         string       `json:"text"`
	Match        bool         `json:"is_match"`
	Submatches   [][2]int     `json:"submatches"` // bytes of the text, from and to
	Incomplete   bool         `json:"incomplete,omitempty"`
	Forks        []string     `json:"forks,omitempty"` // that share the event
}

// NewFoundJSON is a line of a conversation. incomplete: its turn has not ended.
func NewFoundJSON(i conversation.Info, l search.Line, incomplete bool) FoundJSON {
	f := FoundJSON{
		ID: i.Name(), Conversation: i.Name(), Scope: l.Scope, Match: l.Match, Incomplete: incomplete, Forks: l.Forks,
	}
	f.Text, f.Submatches = validText(l.Text, l.Submatches)
	if i.Summary.Title != "" {
		f.Title = &i.Summary.Title
	}
	if l.Seq >= 0 {
		at := l.Time.UTC()
		f.Turn, f.Seq, f.Time = &l.Turn, &l.Seq, &at
	}
	return f
}

// ForksMark names the forks that share the event of a line, "" without any.
func ForksMark(l search.Line) string {
	if len(l.Forks) == 0 {
		return ""
	}
	const named = 2
	names := make([]string, 0, named)
	for _, name := range l.Forks[:min(named, len(l.Forks))] {
		if id, err := conversation.ParseID(name); err == nil {
			name = id.Short()
		}
		names = append(names, name)
	}
	mark := "  (also in " + strings.Join(names, ", ")
	if more := len(l.Forks) - named; more > 0 {
		mark += fmt.Sprintf(" and %d more", more)
	}
	return mark + ")"
}

// validText is a text as JSON can hold it, with the places in it.
func validText(text string, places [][2]int) (string, [][2]int) {
	var b strings.Builder
	at, moved := 0, [][2]int{}
	upTo := func(end int) int {
		for _, r := range text[at:end] { // each byte that is no text becomes one
			b.WriteRune(r)
		}
		at = end
		return b.Len()
	}
	for _, p := range places {
		moved = append(moved, [2]int{upTo(p[0]), upTo(p[1])})
	}
	upTo(len(text))
	return b.String(), moved
}
