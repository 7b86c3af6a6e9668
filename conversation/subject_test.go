package conversation_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "jp/conversation"
)

func title(s string) *string { return &s }

func TestSubjectOf(t *testing.T) {
	head := "6f71f08aa1b2c3d4e5f60718293a4b5c6d7e8f90"
	cases := []struct {
		want string
		e    Event
	}{
		{"turn 2 on main 6f71f08 with claude-sonnet-4-5", Event{Turn: 2, Body: &TurnStart{Model: "anthropic/claude-sonnet-4-5"}, Git: &Git{Head: head, Branch: "main"}}},
		{"turn 1 on detached HEAD 6f71f08 with m", Event{Turn: 1, Body: &TurnStart{Model: "m"}, Git: &Git{Head: head}}},
		{"turn 1", Event{Turn: 1, Body: &TurnStart{}}},
		{"turn 2 on main 6f71f08 with m, approved in advance: all tools (-y)", Event{Turn: 2, Body: &TurnStart{Model: "m", Approved: ApproveAll()}, Git: &Git{Head: head, Branch: "main"}}},
		{"turn 2 on main 6f71f08, approved in advance: all tools (-y)", Event{Turn: 2, Body: &TurnStart{Model: "anthropic/claude-sonnet-4-5", Approved: ApproveAll()}, Git: &Git{Head: head, Branch: "main"}}},
		{"turn 2 on feature/retries-with-a-v…, approved in advance: all tools (-y)", Event{Turn: 2, Body: &TurnStart{Model: "m", Approved: ApproveAll()}, Git: &Git{Head: head, Branch: "feature/retries-with-a-very-long-name"}}},
		{"turn 1 with m, approved in advance: fs_create_file, shell_run", Event{Turn: 1, Body: &TurnStart{Model: "m", Approved: Approval{"fs_create_file", "shell_run"}}}},
		{"turn 1 with m, approved in advance: fs_create_file,…", Event{Turn: 1, Body: &TurnStart{Model: "m", Approved: Approval{"fs_create_file", "fs_modify_file", "shell_run"}}}},
		{"prompt: 3 words", Event{Body: &Prompt{System: "You are brief."}}},
		{"prompt: 412 words, 14 tools", Event{Body: &Prompt{}, Subject: "prompt: 412 words, 14 tools"}},
		{"note: its tools changed a.go", Event{Body: &Note{Content: "its tools changed a.go"}}},
		{"user: fix the test", Event{Body: &ChatRequest{Content: "fix the test"}}},
		{"user: fix the test", Event{Body: &ChatRequest{Content: "\n\n  fix the test \nand the docs"}}},
		{"user replies: wait", Event{Body: &ChatRequest{Content: "wait", Interrupt: true}}},
		{"user: (no text)", Event{Body: &ChatRequest{}}},
		{"assistant: Done.", Event{Body: &ChatResponse{Part: PartMessage, Text: "Done."}}},
		{"assistant: (no text)", Event{Body: &ChatResponse{Part: PartMessage}}},
		{"assistant thinks: Hm.", Event{Body: &ChatResponse{Part: PartReasoning, Text: "Hm."}}},
		{`assistant returns: {"answer":true}`, Event{Body: &ChatResponse{Part: PartData, Text: `{"answer":true}`}}},
		{"assistant (cut off): I wi", Event{Body: &ChatResponse{Part: PartMessage, Text: "I wi", Partial: true}}},
		{"call fs_modify_file", Event{Body: &ToolCallRequest{Name: "fs_modify_file"}}},
		{"call fs_modify_file auth/retry.go", Event{Body: &ToolCallRequest{Name: "x"}, Subject: "call fs_modify_file auth/retry.go"}},
		{"start tool call 9", Event{Body: &ToolStarted{For: 9}}},
		{"fs_read_file: 16 lines", Event{Body: &ToolCallResponse{Name: "fs_read_file", Content: strings.Repeat("x\n", 16)}}},
		{"x: 1 line", Event{Body: &ToolCallResponse{Name: "x", Content: "y"}}},
		{"x: 0 lines", Event{Body: &ToolCallResponse{Name: "x"}}},
		{"x: error: no such file", Event{Body: &ToolCallResponse{Name: "x", Content: "no such file\nmore", IsError: true}}},
		{"ask: run shell_run go test ./...?", Event{Body: &InquiryRequest{Question: Question{Text: "run shell_run go test ./...?"}}}},
		{"answer: yes (user)", Event{Body: reply(`"run"`, "")}},
		{"answer: yes (user)", Event{Body: reply(`true`, "")}},
		{"answer: yes for this turn (user)", Event{Body: reply(`"run_turn"`, "")}},
		{"answer: no (user)", Event{Body: reply(`false`, "")}},
		{`answer: no, "use a deadline" (user)`, Event{Body: reply(`"skip"`, "use a deadline")}},
		{"answer: no (user)", Event{Body: reply(`"withhold"`, "")}},
		{"answer: edited (user)", Event{Body: reply(`"edit"`, "")}},
		{"answer: red (user)", Event{Body: reply(`"red"`, "")}},
		{"answer: 7 (user)", Event{Body: reply(`7`, "")}},
		{"answer: yes for this turn (config)", Event{Body: &InquiryResponse{Outcome: OutcomeAnswered, Answer: []byte(`"run_turn"`), Remember: true, By: ByConfig}}},
		{"answer: cancelled", Event{Body: &InquiryResponse{Outcome: OutcomeCancelled}}},
		{"outside: auth/retry.go changed (+1 -1)", Event{Body: &Workspace{Paths: []PathStat{{Path: "auth/retry.go", Status: "M", Added: 1, Deleted: 1}}}}},
		{"outside: a added (binary)", Event{Body: &Workspace{Paths: []PathStat{{Path: "a", Status: "A", Added: -1, Deleted: -1}}}}},
		{"outside: a deleted (+0 -4)", Event{Body: &Workspace{Paths: []PathStat{{Path: "a", Status: "D", Deleted: 4}}}}},
		{"outside: 14 files changed", Event{Body: &Workspace{Paths: make([]PathStat, 4), More: 10}}},
		{"resumed after 2 h", Event{Body: &Resumed{AgeMS: 7_300_000}}},
		{"resumed after 2 h, approved in advance: all tools (-y)", Event{Body: &Resumed{AgeMS: 7_300_000, Approved: ApproveAll()}}},
		{"restored: 3 files as of 18", Event{Body: &Restored{AsOf: 18, Files: make([]RestoredFile, 3)}}},
		{"turn 2 done: 4 calls, 8.9k in, 544 out, $0.04, 41 s", Event{Turn: 2, Body: &TurnDone{Calls: 4, Input: 8912, Output: 544, CostUSD: "0.0412", DurationMS: 41_200}}},
		{"turn 1 done: 1 call, 900 ms", Event{Turn: 1, Body: &TurnDone{Calls: 1, DurationMS: 900}}},
		{"title: Retries", Event{Body: &Metadata{Title: title("Retries")}}},
		{"pinned", Event{Body: &Metadata{PinnedAt: &OptionalTime{Time: start}}}},
		{"unpinned", Event{Body: &Metadata{PinnedAt: &OptionalTime{}}}},
		{"archived", Event{Body: &Metadata{ArchivedAt: &OptionalTime{Time: start}}}},
		{"expires 2026-12-01", Event{Body: &Metadata{ExpiresAt: &OptionalTime{Time: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}}}},
		{"does not expire", Event{Body: &Metadata{ExpiresAt: &OptionalTime{}}}},
		{"labels: a, b", Event{Body: &Metadata{Labels: map[string]string{"b": "", "a": ""}}}},
		{"title: x; parent: jp-c1752883200", Event{Body: &Metadata{Title: title("x"), Parent: "jp-c1752883200"}}},
		{"config: model = openai/gpt-5.1", Event{Body: &ConfigDelta{Delta: []byte(`{"model":"openai/gpt-5.1"}`)}}},
		{"config: a = 1, b = [true]", Event{Body: &ConfigDelta{Delta: []byte(`{"a":1,"b":[true]}`)}}},
		{"config: nothing", Event{Body: &ConfigDelta{Delta: []byte(`[]`)}}},
		{"fork of jp-c17528832001-k3f9 at 15 (turn 2)", Event{Turn: 2, Body: &ForkOrigin{Conversation: "jp-c17528832001-k3f9", Seq: 15}}},
		{"discarded turn 3 (33–38)", Event{Turn: 3, Body: &TurnDiscarded{FromSeq: 33, ToSeq: 38}}},
		{"stopped by user", Event{Body: &TurnStopped{By: ByUser}}},
		{"interrupted by SIGTERM while executing", Event{Body: &TurnInterrupted{By: BySignal, Signal: "SIGTERM", Phase: PhaseExecuting}}},
		{"interrupted by error while streaming: it is away", Event{Body: &TurnInterrupted{By: ByError, Phase: PhaseStreaming, Reason: "it is\naway"}}},
		{"interrupted by error while streaming", Event{Body: &TurnInterrupted{By: ByError, Phase: PhaseStreaming}}},
		{"state: 3 open tasks", Event{Body: &WorkState{OpenTasks: make([]string, 3)}}},
		{"hologram", Event{Body: &Unknown{Name: "hologram"}}},
		{"(nothing)", Event{Body: &Metadata{}}},
		{"one line of two", Event{Body: &Metadata{}, Subject: "one line\x1b\n\u202e of\ttwo "}},
	}
	for _, c := range cases {
		t.Run(c.want, func(t *testing.T) {
			line, _ := SubjectOf(&c.e)
			require.Equal(t, c.want, line)
		})
	}
}

func reply(answer, reason string) *InquiryResponse {
	return &InquiryResponse{Outcome: OutcomeAnswered, Answer: []byte(answer), Reason: reason, By: ByUser}
}

func TestSubjectTellsWhereTheTextIs(t *testing.T) {
	const prefix = "user: "
	cases := map[string]bool{
		"fix it":                          true,
		"":                                false,
		"two\nlines":                      false,
		" blank before":                   false,
		"blank behind ":                   false,
		"tab\there":                       false,
		"two  blanks":                     true,
		"no\u00a0break":                   false,
		"not \xff UTF-8":                  false,
		"escape \x1b[31m":                 false,
		"bidi \u202e":                     false,
		"replaced \ufffd":                 false,
		"separator \u2028":                false,
		strings.Repeat("x", 72-6):         true,
		strings.Repeat("x", 72-6+1):       false,
		strings.Repeat("é", 72-6):         true,
		"wide " + strings.Repeat("世", 30): true,
		"wide " + strings.Repeat("世", 31): false,
	}
	for text, whole := range cases {
		line, at := SubjectOf(&Event{Body: &ChatRequest{Content: text}})
		require.Equal(t, whole, at >= 0, "%q in %q", text, line)
		if whole {
			require.Equal(t, prefix+text, line)
			require.Equal(t, len(prefix), at)
		}
	}
	_, at := SubjectOf(&Event{Body: &ChatRequest{Content: "fix it"}, Subject: "user: fix it"})
	require.Negative(t, at, "a subject that was set says nothing about the text")
}

func TestSubjectProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		e := anyEvent(r, rapid.SampledFrom(allTypes).Draw(r, "type"))
		if rapid.Bool().Draw(r, "any bytes") {
			e.SetText(string(rapid.SliceOf(rapid.Byte()).Draw(r, "text")))
		}
		if rapid.IntRange(0, 3).Draw(r, "own") == 0 {
			e.Subject = rapid.String().Draw(r, "subject")
		}
		line, at := SubjectOf(e)
		require.NotEmpty(r, line)
		require.True(r, utf8.ValidString(line))
		require.LessOrEqual(r, utf8.RuneCountInString(line), SubjectColumns)
		require.Equal(r, strings.TrimSpace(line), line)
		require.NotContains(r, line, "\n")
		for _, c := range line {
			require.False(r, unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c), "%q", line)
		}
		if at >= 0 {
			text, _ := e.Text()
			require.Equal(r, text, line[at:at+len(text)])
		}
	})
}

// A name that would end the line is quoted.
func TestChangedWordsAreOneLine(t *testing.T) {
	require.Equal(t, `"a\nb" added`, ChangedWords([]PathStat{{Path: "a\nb", Status: "A"}}, 0))
	require.Equal(t, "a b changed", ChangedWords([]PathStat{{Path: "a b", Status: "M"}}, 0))
}

// Most subjects are tidy, and taken as they are. White space around them is ignored.
func TestSubjectOfATidyLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringOfN(rapid.RuneFrom([]rune("ab  \t\n\x7f~!é")), -1, 2*SubjectColumns, -1).Draw(t, "line")
		subject, at := SubjectOf(&Event{Subject: line + "x"})
		spaced, _ := SubjectOf(&Event{Subject: " " + line + "x "})
		require.Equal(t, spaced, subject)
		require.Equal(t, -1, at)
	})
}

func TestOutsideWords(t *testing.T) {
	t.Parallel()
	a, b, c := PathStat{Path: "a", Status: "A", Added: 1}, PathStat{Path: "b", Status: "M", Added: 2}, PathStat{Path: "c", Status: "M"}
	added := func(_ string, p PathStat) bool { return p.Status == "A" }
	for want, paths := range map[string][]PathStat{
		"recorded: a":                {a},
		"recorded: 2 files":          {a, a},
		"outside: b changed (+2 -0)": {a, b},
		"outside: 2 files changed":   {a, b, c},
	} {
		require.Equal(t, want, OutsideWords(paths, added))
	}
}
