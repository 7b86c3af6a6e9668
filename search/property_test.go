package search_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/search"
)

// fragments are the parts of texts and patterns: letters that fold to others, ends of lines, and invalid
// bytes.
var fragments = []string{
	"retry", "Retry", "RETRY", "k", "K", "\u212a", "s", "ſ", "i", "İ", "ı", "ß", "É", "é", "e\u0301", "漢", " ", "  ", ".", "a.b", "-", "_", "\"", "\\", "<&>",
	"\n", "\n\n", "\r\n", "\r", "\t", "\x00", "\xff", "\xe2\x84", "\u2028", "X", "x", "go",
}

// expressions are regular expressions, and whether they ask for a capital.
var expressions = map[string]bool{
	"re.ry": false, "^$": false, `\bre`: false, `y\b`: false, `\Bt`: false, `\A`: false, `\z`: false, "(?-i:X)": true, "(?i)RETRY": false,
	"k": false, "K": true, "\u212a": true, "ſ": false, "[A-C]": true, "[Kk]": false, `\S+`: false, `\W`: false, `\pL`: false, `\PL`: false, "x*": false,
	"(?s)y.r": false, "(?m)^re": false, `\Qa.b`: false, "(?P<n>re|go)try": false, "(?P<n>s)": false, "r{2}|y{0}k": false, "(go|re){2,3}": false,
	"o$": false, "(?U)r.*y": false, `[^\n]k`: false, "(a|é)?b": false,
	"[^A-Z]e": true, "[^X]": true, "[^a-z]": false, "[^x]": false, `\P{Lu}`: true, `\p{Lu}`: true, "[A-Zx]": true, "[^[:upper:]]o": true, "[É]": true, `[^\W]`: false,
}

var anyText = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 12).Draw(t, "fragments"), "")
})

var anyPattern = rapid.Custom(func(t *rapid.T) string {
	return strings.ToValidUTF8(strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 2).Draw(t, "fragments"), ""), "?")
})

var anyOptions = rapid.Custom(func(t *rapid.T) search.Options {
	o := search.Options{
		Regexp: rapid.Bool().Draw(t, "regexp"), Case: search.Case(rapid.IntRange(0, 2).Draw(t, "case")),
		Before: rapid.IntRange(0, 3).Draw(t, "before"), After: rapid.IntRange(0, 3).Draw(t, "after"), Max: rapid.IntRange(0, 3).Draw(t, "max"),
		Scopes: rapid.SliceOfN(rapid.SampledFrom(search.Scopes), 0, 2).Draw(t, "scopes"),
	}
	pattern := anyPattern
	if o.Regexp {
		var all []string
		for e := range expressions {
			all = append(all, e)
		}
		slices.Sort(all)
		pattern = rapid.SampledFrom(all)
	}
	o.Patterns = rapid.SliceOfN(pattern, 1, 3).Draw(t, "patterns")
	return o
})

var anyEvents = rapid.Custom(func(t *rapid.T) []*conversation.Event {
	var events []*conversation.Event
	for seq := range rapid.IntRange(0, 8).Draw(t, "events") {
		text := anyText.Draw(t, "text")
		body := rapid.SampledFrom([]conversation.Body{
			&conversation.ChatRequest{Content: text},
			&conversation.ChatResponse{Part: conversation.PartReasoning, Text: text},
			&conversation.ChatResponse{Part: conversation.PartMessage, Text: text},
			&conversation.ToolCallResponse{Content: text},
			&conversation.InquiryRequest{Question: conversation.Question{Text: text}},
			&conversation.Note{},
			&conversation.TurnDiscarded{FromSeq: seq - 2, ToSeq: seq - 1},
		}).Draw(t, "body")
		events = append(events, &conversation.Event{Seq: seq, Turn: 1, Body: body})
	}
	return events
})

// A place is a line as the reference finds it.
type place struct {
	seq, number int
	text        string
	match       bool
}

// A reference searches in the plainest way.
type reference struct {
	matches func(line string) bool
	opts    search.Options
	scopes  []search.Scope
	found   int
}

func newReference(o search.Options) *reference {
	r := &reference{opts: o}
	for _, s := range o.Scopes {
		switch s {
		case search.Chat:
			r.scopes = append(r.scopes, search.User, search.Assistant)
		case search.Tool:
			r.scopes = append(r.scopes, search.ToolCall, search.ToolResult)
		case search.All:
			r.opts.Scopes = nil
		default:
			r.scopes = append(r.scopes, s)
		}
	}
	fold := o.Case == search.Ignore || o.Case == search.Smart && !slices.ContainsFunc(o.Patterns, func(p string) bool {
		return o.Regexp && expressions[p] || !o.Regexp && strings.IndexFunc(p, unicode.IsUpper) >= 0
	})
	r.matches = func(line string) bool {
		return slices.ContainsFunc(o.Patterns, func(p string) bool {
			switch {
			case !o.Regexp:
				return contains(line, p, fold)
			case fold:
				p = "(?i)" + p
			}
			return regexp.MustCompile(p).MatchString(line)
		})
	}
	return r
}

// contains reports whether a text stands in another one, rune by rune.
func contains(text, part string, fold bool) bool {
	in, of := []rune(text), []rune(part)
	for at := 0; at+len(of) <= len(in); at++ {
		here := string(in[at : at+len(of)])
		if here == part || fold && strings.EqualFold(here, part) {
			return true
		}
	}
	return false
}

func (r *reference) lines(title string, events []*conversation.Event) (all []place) {
	if title != "" {
		all = r.text(all, -1, search.Title, title)
	}
	for _, e := range events {
		gone := slices.ContainsFunc(events, func(d *conversation.Event) bool {
			b, ok := d.Body.(*conversation.TurnDiscarded)
			return ok && e.Seq >= b.FromSeq && e.Seq <= b.ToSeq
		})
		if gone {
			continue
		}
		switch b := e.Body.(type) {
		case *conversation.ChatRequest:
			all = r.text(all, e.Seq, search.User, b.Content)
		case *conversation.ChatResponse:
			scope := map[conversation.Part]search.Scope{conversation.PartReasoning: search.Reasoning, conversation.PartMessage: search.Assistant}[b.Part]
			all = r.text(all, e.Seq, scope, b.Text)
		case *conversation.ToolCallResponse:
			all = r.text(all, e.Seq, search.ToolResult, b.Content)
		case *conversation.InquiryRequest:
			all = r.text(all, e.Seq, search.Inquiry, b.Question.Text)
		}
	}
	return all
}

func (r *reference) text(all []place, seq int, scope search.Scope, text string) []place {
	if len(r.opts.Scopes) > 0 && !slices.Contains(r.scopes, scope) {
		return all
	}
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	shown, match := make([]bool, len(lines)), make([]bool, len(lines))
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
		if (r.opts.Max > 0 && r.found >= r.opts.Max) || !r.matches(lines[i]) {
			continue
		}
		r.found++
		match[i] = true
		for j := max(0, i-r.opts.Before); j <= min(len(lines)-1, i+r.opts.After); j++ {
			shown[j] = true
		}
	}
	for i, line := range lines {
		if shown[i] {
			all = append(all, place{seq, i + 1, line, match[i]})
		}
	}
	return all
}

func TestLinesAreThoseOfTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions.Draw(t, "options")
		title, events := anyText.Draw(t, "title"), anyEvents.Draw(t, "events")
		q, err := search.Compile(o)
		require.NoError(t, err)
		var got []place
		for _, l := range q.Lines(title, events) {
			got = append(got, place{l.Seq, l.Number, l.Text, l.Match})
			requireSubmatches(t, l)
		}
		require.Equal(t, newReference(o).lines(title, events), got)
	})
}

// requireSubmatches checks that places are in the text, in order, and only in
// lines that match.
func requireSubmatches(t require.TestingT, l search.Line) {
	at := 0
	for _, m := range l.Submatches {
		require.LessOrEqual(t, at, m[0])
		require.Less(t, m[0], m[1])
		at = m[1]
	}
	require.LessOrEqual(t, at, len(l.Text))
	require.Equal(t, l.Match, l.Submatches != nil)
}

// passes applies a prefilter like a store.
func passes(s conversation.Prefilter, stored string) bool {
	return len(s.Any) == 0 || slices.ContainsFunc(s.Any, func(text string) bool {
		if s.Fold {
			return strings.Contains(upperASCII(stored), upperASCII(text))
		}
		return strings.Contains(stored, text)
	})
}

func upperASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}

func TestSievePassesWhatMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions.Draw(t, "options")
		q, err := search.Compile(o)
		require.NoError(t, err)
		for _, e := range anyEvents.Draw(t, "events") {
			if len(q.Lines("", []*conversation.Event{e})) == 0 {
				continue
			}
			stored, err := conversation.ViewJSON(e, "jp-c17952552000-tpjl", false)
			require.NoError(t, err)
			require.True(t, passes(q.Prefilter(), string(stored)), "%v does not pass %s", q.Prefilter(), stored)
			if text, ok := e.Text(); ok {
				require.True(t, passes(q.Prefilter(), text), "%v does not pass %q", q.Prefilter(), text)
			}
		}
	})
}
