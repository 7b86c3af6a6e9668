package search_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/search"
)

// dialogue is one turn with something in every scope, and a discarded one.
func dialogue() []*conversation.Event {
	bodies := []conversation.Body{
		&conversation.TurnStart{},
		&conversation.ChatRequest{Content: "Cap the retries.\nSee Retry.go"},
		&conversation.ChatResponse{Part: conversation.PartReasoning, Text: "retry forever is wrong"},
		&conversation.ToolCallRequest{ID: "c1", Name: "fs_read_file", Arguments: []byte(`{"path": "retry.go"}`)},
		&conversation.InquiryRequest{For: 3, Question: conversation.Question{Text: "run it to see retries?"}},
		&conversation.ToolCallResponse{For: 3, ID: "c1", Name: "fs_read_file", Content: "one\ntwo retry\nthree\nfour retry\nfive"},
		&conversation.ChatResponse{Part: conversation.PartMessage, Text: "No more retries."},
		&conversation.TurnStart{},
		&conversation.ChatRequest{Content: "retry this"},
		&conversation.TurnDiscarded{FromSeq: 7, ToSeq: 8},
	}
	events := make([]*conversation.Event, len(bodies))
	turn := 0
	for i, b := range bodies {
		if b.Type() == conversation.TypeTurnStart {
			turn++
		}
		events[i] = &conversation.Event{Seq: i, Turn: turn, Body: b}
	}
	return events
}

// found is the places of matching lines, as scope and number of line.
func found(t *testing.T, o search.Options) []string {
	t.Helper()
	q, err := search.Compile(o)
	require.NoError(t, err)
	var got []string
	for _, l := range q.Lines("About retry", dialogue()) {
		mark := "-"
		if l.Match {
			mark = ":"
		}
		got = append(got, string(l.Scope)+mark+l.Text)
	}
	return got
}

func TestLines(t *testing.T) {
	for name, tc := range map[string]struct {
		opts search.Options
		want []string
	}{
		"smart case ignores": {search.Options{Patterns: []string{"retry.go"}}, []string{"user:See Retry.go", `tool-call:{"path": "retry.go"}`}},
		"a capital counts":   {search.Options{Patterns: []string{"Retry.go"}}, []string{"user:See Retry.go"}},
		"plain text":         {search.Options{Patterns: []string{"retr..go"}}, nil},
		"expression":         {search.Options{Patterns: []string{"^no.*s\\.$"}, Regexp: true}, []string{"assistant:No more retries."}},
		"whole lines":        {search.Options{Patterns: []string{"^t\\w+e$"}, Regexp: true}, []string{"tool-result:three"}},
		"a class is no capital": {search.Options{Patterns: []string{`re\S+\.G?go`}, Regexp: true},
			[]string{"user:See Retry.go", `tool-call:{"path": "retry.go"}`}[1:]},
		"title":                {search.Options{Patterns: []string{"about"}}, []string{"title:About retry"}},
		"tool name":            {search.Options{Patterns: []string{"read_file"}}, []string{"tool-call:fs_read_file"}},
		"scopes":               {search.Options{Patterns: []string{"retr"}, Scopes: []search.Scope{search.Reasoning, search.Inquiry}}, []string{"reasoning:retry forever is wrong", "inquiry:run it to see retries?"}},
		"group":                {search.Options{Patterns: []string{"retries"}, Scopes: []search.Scope{search.Chat}}, []string{"user:Cap the retries.", "assistant:No more retries."}},
		"context":              {search.Options{Patterns: []string{"two", "four"}, Before: 1, After: 1}, []string{"tool-result-one", "tool-result:two retry", "tool-result-three", "tool-result:four retry", "tool-result-five"}},
		"at most":              {search.Options{Patterns: []string{"retry"}, Scopes: []search.Scope{search.ToolResult}, Max: 1, After: 3}, []string{"tool-result:two retry", "tool-result-three", "tool-result-four retry", "tool-result-five"}},
		"without":              {search.Options{Patterns: []string{"retr"}, Without: func(tool string) bool { return tool == "fs_read_file" }}, []string{"title:About retry", "user:Cap the retries.", "user:See Retry.go", "reasoning:retry forever is wrong", "assistant:No more retries."}},
		"without others":       {search.Options{Patterns: []string{"two"}, Without: func(tool string) bool { return tool == "other" }}, []string{"tool-result:two retry"}},
		"without, and at most": {search.Options{Patterns: []string{"retr"}, Max: 5, Without: func(tool string) bool { return tool == "fs_read_file" }}, []string{"title:About retry", "user:Cap the retries.", "user:See Retry.go", "reasoning:retry forever is wrong", "assistant:No more retries."}},
		"discarded":            {search.Options{Patterns: []string{"retry this"}}, nil},
		"any of two":           {search.Options{Patterns: []string{"forever", "more"}}, []string{"reasoning:retry forever is wrong", "assistant:No more retries."}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, found(t, tc.opts)) })
	}
}

func TestCompileRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		opts search.Options
		want error
	}{
		"no pattern":    {search.Options{}, search.ErrEmpty},
		"empty pattern": {search.Options{Patterns: []string{""}}, search.ErrEmpty},
		"no expression": {search.Options{Patterns: []string{"a(b"}, Regexp: true}, search.ErrPattern},
		"not UTF-8":     {search.Options{Patterns: []string{"a\xff"}}, search.ErrText},
		"no scope":      {search.Options{Patterns: []string{"a"}, Scopes: []search.Scope{"tools"}}, search.ErrScope},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := search.Compile(tc.opts)
			require.ErrorIs(t, err, tc.want)
		})
	}
}

func TestSieve(t *testing.T) {
	for pattern, want := range map[string]conversation.Prefilter{
		"dead(lock|line)s?":       {Any: []string{"DEADLOC", "DEADLINE"}, Fold: true},
		"Dead(lock|line)s?":       {Any: []string{"Deadlock", "Deadline"}},
		`\bfoo\b`:                 {Any: []string{"FOO"}, Fold: true},
		"(?i)a[xy]?b":             {Any: []string{"AB", "AXB", "AYB"}, Fold: true},
		"(a|b).*(long|longer)":    {Any: []string{"LONG"}, Fold: true},
		"[0-9]{3}-retry":          {Any: []string{"-RETRY"}, Fold: true},
		"(|x)":                    {},
		"(ab|c)(d|e)(f|g)(hx|iy)": {Any: []string{"FHX", "FIY", "GHX", "GIY"}, Fold: true},
		"retry":                   {Any: []string{"RETRY"}, Fold: true},
		"Retry":                   {Any: []string{"Retry"}},
		"tasks":                   {Any: []string{"TA"}, Fold: true},
		`say "Hello"`:             {Any: []string{"Hello"}},
		"(Foo|Bar)+baz":           {Any: []string{"baz"}},
		"Foo|Bar":                 {Any: []string{"Foo", "Bar"}},
		"Foo|.*":                  {},
		"(Fooo)?B":                {Any: []string{"B"}},
		"é":                       {},
	} {
		q, err := search.Compile(search.Options{Patterns: []string{pattern}, Regexp: true})
		require.NoError(t, err)
		require.Equal(t, want, q.Prefilter(), pattern)
	}
}

// stored gives the events of conversations by id; a nil one is damaged.
type stored map[conversation.ID][]*conversation.Event

func (s stored) Scan(_ context.Context, of conversation.Info, _ conversation.Prefilter) ([]*conversation.Event, error) {
	if s[of.ID] == nil {
		return nil, conversation.ErrDamaged
	}
	return s[of.ID], nil
}

func TestConversationsInOrder(t *testing.T) {
	source, infos := stored{}, []conversation.Info{}
	for _, id := range []conversation.ID{"a", "b", "damaged", "empty", "c"} {
		infos = append(infos, conversation.Info{ID: id, Head: "head"})
		source[id] = dialogue()
	}
	source["damaged"], source["empty"] = nil, []*conversation.Event{}
	q, err := search.Compile(search.Options{Patterns: []string{"forever"}})
	require.NoError(t, err)
	var got []string
	for r := range search.Conversations(context.Background(), source, infos, q) {
		if r.Err != nil {
			got = append(got, string(r.Info.ID)+"!")
			continue
		}
		require.Equal(t, 1, r.Matches)
		got = append(got, string(r.Info.ID))
	}
	require.Equal(t, []string{"a", "b", "damaged!", "c"}, got)
	for range search.Conversations(context.Background(), source, infos, q) {
		break // ends without waiting for anybody
	}
}

// reducing is a source that reduces the events that it gives.
type reducing struct{ stored }

func (r reducing) Scan(ctx context.Context, of conversation.Info, s conversation.Prefilter) (events []*conversation.Event, err error) {
	all, err := r.stored.Scan(ctx, of, s)
	for _, e := range all {
		e = e.Clone()
		s.Reduce(e)
		events = append(events, e)
	}
	return events, err
}

func TestCountsDropTexts(t *testing.T) {
	for _, pattern := range []string{"forever", "e", "retr", "absent", "a.*e$"} {
		o := search.Options{Patterns: []string{pattern}, Regexp: true}
		lines, err := search.Compile(o)
		require.NoError(t, err)
		o.Count = true
		count, err := search.Compile(o)
		require.NoError(t, err)
		infos := []conversation.Info{{ID: "a", Head: "head"}}
		matches := func(from search.Source, q *search.Query) (n int) {
			for r := range search.Conversations(context.Background(), from, infos, q) {
				n += r.Matches
				require.Equal(t, q == count, r.Lines == nil)
			}
			return n
		}
		source := stored{"a": dialogue()}
		require.Equal(t, matches(source, lines), matches(source, count), pattern)
		require.Equal(t, matches(source, lines), matches(reducing{source}, count), pattern)
	}
	q, err := search.Compile(search.Options{Patterns: []string{"e"}, Count: true})
	require.NoError(t, err)
	e := &conversation.Event{Body: &conversation.ToolCallResponse{Content: "one\ntwo\nthree\n"}}
	q.Prefilter().Reduce(e)
	text, _ := e.Text()
	require.Empty(t, text)
}

// The readable part of a conversation is found, with any damage to its end.
func TestDamagedEnd(t *testing.T) {
	q, err := search.Compile(search.Options{Patterns: []string{"forever"}})
	require.NoError(t, err)
	for head, want := range map[conversation.Head]int{"head": 1, "": 0} {
		info := conversation.Info{ID: "a", Head: head, Err: conversation.ErrDamaged}
		for r := range search.Conversations(context.Background(), stored{"a": dialogue()}, []conversation.Info{info}, q) {
			require.ErrorIs(t, r.Err, conversation.ErrDamaged)
			require.Equal(t, want, r.Matches)
		}
	}
}

// A large text may be one single line, and a search of it stays quick. Time with the square of a line would
// be days here.
func TestLongLine(t *testing.T) {
	line := strings.Repeat("some words, ", 5<<20/12)
	events := []*conversation.Event{{Body: &conversation.ToolCallResponse{Content: line + "retry" + line}}}
	for pattern, want := range map[string]int{"retry": 1, "absent": 0, `w\w+s.*retry`: 1, "WORDS$": 0} {
		q, err := search.Compile(search.Options{Patterns: []string{pattern}, Regexp: true})
		require.NoError(t, err)
		require.Len(t, q.Lines("", events), want, pattern)
	}
}

// Each pattern is independent of the others.
func TestPatternsStayApart(t *testing.T) {
	for name, patterns := range map[string][]string{
		"quote left open": {`forever\Q.`, "about"}, "same group": {"(?P<n>about)", "(?P<n>nothing)"}, "flags": {"(?s)nothing", "about"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, []string{"title:About retry"}, found(t, search.Options{Patterns: patterns, Regexp: true}))
		})
	}
}

// Letters that fold to ASCII ones, and a lookalike that does not.
func TestFolding(t *testing.T) {
	for text, want := range map[string]bool{"tasK": true, "TA\u017fK": true, "tas\u212a": true, "T\u0130ASK": false} {
		q, err := search.Compile(search.Options{Patterns: []string{"task"}})
		require.NoError(t, err)
		require.Equal(t, want, len(q.Lines(text, nil)) == 1, text)
	}
}

// TestSubmatches checks that plain text is found at the places of an expression for it: one beside the other,
// and without overlap.
func TestSubmatches(t *testing.T) {
	for text, want := range map[string][][2]int{
		"gogo": {{0, 2}, {2, 4}}, "go, Go": {{0, 2}, {4, 6}}, "éGO": {{2, 4}}, "\xffgo": {{1, 3}}, "og": nil,
	} {
		require.Equal(t, want, submatches(t, search.Options{Patterns: []string{"go"}}, text), "%q", text)
		require.Equal(t, want, submatches(t, search.Options{Patterns: []string{"gox*"}, Regexp: true}, text), "%q", text)
	}
	want := [][2]int{{0, 2}, {2, 4}}
	require.Equal(t, want, submatches(t, search.Options{Patterns: []string{"oo"}}, "ooooo"))
	require.Equal(t, want, submatches(t, search.Options{Patterns: []string{"oox*"}, Regexp: true}, "ooooo"))
}

func submatches(t *testing.T, o search.Options, title string) [][2]int {
	t.Helper()
	q, err := search.Compile(o)
	require.NoError(t, err)
	if lines := q.Lines(title, nil); len(lines) > 0 {
		return lines[0].Submatches
	}
	return nil
}
