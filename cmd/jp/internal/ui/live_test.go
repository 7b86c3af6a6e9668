package ui

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/internal/testing/terminaltest"
	"jp/turnloop"
)

// aLiveLine is one whose clock stands at ten seconds, on a screen.
func aLiveLine(t *testing.T, columns int) (*liveLine, *terminaltest.Screen) {
	t.Helper()
	s := terminaltest.New(t, columns, 10)
	l := &liveLine{
		status: terminal.NewStatus(s.TTY), columns: func() int { return terminal.Width(s.TTY, nil) },
		palette: func() terminal.Palette { return terminal.Palette{} }, now: func() time.Time { return time.Unix(10, 0) },
		front: func() bool { return true }, hint: "Ctrl+C menu",
	}
	t.Cleanup(l.close)
	return l, s
}

func TestLiveLineSays(t *testing.T) {
	began := time.Unix(2, 0)
	test := turnloop.Activity{Seq: 5, Name: "shell_run", Argument: "go test ./...", Started: began, Tail: "ok  jp/turnloop 2.1s"}
	thinking := turnloop.Activity{Started: began, Tokens: 1234, Part: conversation.PartReasoning, Tail: "The retries are not capped."}
	long := turnloop.Activity{Started: began, Tokens: 1234, Part: conversation.PartReasoning, Tail: "The retries are not capped, so the loop reads them whole, and then"}
	sent := turnloop.Activity{Started: began, Tokens: 1234, Context: 84_000, Window: 200_000}
	read := turnloop.Activity{Seq: 6, Name: "fs_read_file", Argument: "a.go", Started: began.Add(time.Second)}
	for name, tt := range map[string]struct {
		columns int
		doing   []running
		want    string
	}{
		"the model":           {80, []running{{thinking, ""}}, "⠋ thinking · 8 s · 1.2k tokens · Ctrl+C menu\n  The retries are not capped."},
		"its context":         {80, []running{{sent, ""}}, "⠋ thinking · 8 s · 1.2k tokens · 42 % of 200k · Ctrl+C menu"},
		"its context, narrow": {48, []running{{sent, ""}}, "⠋ thinking · 8 s · 1.2k tokens · 42 % of 200k"},
		"its context, tiny":   {40, []running{{sent, ""}}, "⠋ thinking · 8 s · 1.2k tokens"},
		"the model, narrow":   {40, []running{{thinking, ""}}, "⠋ thinking · 8 s · 1.2k tokens\n  The retries are not capped."},
		"the model, tiny":     {12, []running{{thinking, ""}}, "⠋ th… · 8 s\n  The retr…"},
		"long reasoning":      {40, []running{{long, ""}}, "⠋ thinking · 8 s · 1.2k tokens\n  loop reads them whole, and then"},

		"whole sentences": {60, []running{{turnloop.Activity{Started: began, Part: conversation.PartReasoning, Tail: `It is 1.5 s. "Is it?" Then the loop reads`}, ""}}, "⠋ thinking · 8 s · Ctrl+C menu\n  \"Is it?\""},

		"a tool":              {80, []running{{test, ""}}, "⠋ go test ./... · 8 s\n  ok jp/turnloop 2.1s"},
		"a tool, narrow":      {30, []running{{test, ""}}, "⠋ go test ./... · 8 s\n  ok jp/turnloop 2.1s"},
		"it has just begun":   {80, []running{{turnloop.Activity{Started: time.Unix(10, 0)}, ""}}, "⠋ thinking · Ctrl+C menu"},
		"no output":           {80, []running{{read, ""}}, "⠋ read a.go · 7 s"},
		"several, the oldest": {80, []running{{read, ""}, {test, ""}}, "⠋ go test ./... · 8 s · 1 more\n  ok jp/turnloop 2.1s"},
		"a child's first":     {80, []running{{turnloop.Activity{Seq: 3, Name: "delegate", Started: began}, ""}, {read, "jp-c17528832001-k3f9"}}, "⠋ k3f9 read a.go · 7 s"},
		"a hook":              {80, []running{{turnloop.Activity{Seq: 5, Name: "shell_run", Argument: "make", Hook: "tool-pre", Started: began}, ""}}, "⠋ tool-pre hook before make · 8 s"},
		"a tool that waits":   {80, []running{{turnloop.Activity{Seq: 5, Name: "shell_run", Argument: "make", Waits: true, Started: began}, ""}}, "⠋ make · 8 s · waits for another jp that changes files here"},
		"progress":            {80, []running{{turnloop.Activity{Seq: 5, Name: "mcp__a__b", Progress: "3/10", Tail: "x", Started: began}, ""}}, "⠋ mcp__a__b · 8 s\n  3/10"},
		"a call is written":   {80, []running{{turnloop.Activity{Writing: "fs_create_file", Tokens: 90, Started: began}, ""}}, "⠋ preparing to create · 8 s · 90 tokens · Ctrl+C menu"},
		"an answer":           {80, []running{{turnloop.Activity{Part: conversation.PartMessage, Tokens: 90, Started: began}, ""}}, "⠋ answering · 8 s · 90 tokens · Ctrl+C menu"},
		"what moves cursors":  {80, []running{{turnloop.Activity{Seq: 5, Name: "x\x1b[2J", Argument: "a\nb\x07", Tail: "c\u202ed", Started: began}, ""}}, "⠋ x a b · 8 s\n  c<U+202E>d"},
		"wide characters":     {20, []running{{turnloop.Activity{Seq: 5, Name: "漢字漢字漢字漢字漢字", Tail: "漢字漢字漢字漢字漢字", Started: began}, ""}}, "⠋ 漢字漢字漢… · 8 s\n  漢字漢字漢字漢字…"},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := aLiveLine(t, tt.columns)
			l.doing = tt.doing
			lines := l.lines(tt.columns)
			require.Equal(t, tt.want, strings.Join(lines, "\n"))
			for _, line := range lines {
				require.Less(t, safetext.Columns(line), tt.columns)
			}
		})
	}
}

// TestLiveLineDoesNotFlicker compares the screen after each tick: at most two lines change.
func TestLiveLineDoesNotFlicker(t *testing.T) {
	l, s := aLiveLine(t, 40)
	l.write(func() { _, _ = s.TTY.WriteString("one\ntwo\nthree\n") })
	l.doing = []running{{turnloop.Activity{Seq: 5, Name: "shell_run", Argument: "go test"}, ""}}
	before, begun := "", len(s.Raw())
	for i := range 40 {
		l.mu.Lock()
		l.doing[0].Tail = strings.Repeat("word ", i%7)
		l.mu.Unlock()
		l.now = func() time.Time { return time.Unix(int64(i/2), 0) }
		sent := len(s.Raw())
		l.tick()
		s.Wait("a draw", func() bool { return strings.HasSuffix(s.Raw(), "\r") && len(s.Raw()) > sent })
		after := s.Text()
		if before != "" {
			require.LessOrEqual(t, differing(before, after), 2, "%s\n\n%s", before, after)
		}
		require.True(t, strings.HasPrefix(after, "one\ntwo\nthree\n"))
		before = after
	}
	require.Less(t, len(s.Raw())-begun, 40*200, "bytes for 40 ticks")
}

// differing is how many lines of two screens differ.
func differing(a, b string) (n int) {
	one, other := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(one), len(other)) {
		if i >= len(one) || i >= len(other) || one[i] != other[i] {
			n++
		}
	}
	return n
}

func TestLiveLineMakesRoom(t *testing.T) {
	var gate sync.Mutex
	l, s := aLiveLine(t, 40)
	l.gate = &gate
	l.working("", turnloop.Activity{Seq: 5, Name: "shell_run", Argument: "make"})
	s.WaitFor(" make")
	l.write(func() { _, _ = s.TTY.WriteString("printed\n") })
	s.Wait("it below what was printed", func() bool {
		return strings.HasPrefix(s.Text(), "printed\n⠋") || strings.Contains(s.Text(), "printed\n") && strings.Contains(s.Text(), "make")
	})
	gate.Lock() // a question waits
	l.hide()
	_, _ = s.TTY.WriteString("Run it? > ")
	l.working("", turnloop.Activity{Seq: 5, Name: "shell_run", Argument: "make", Tail: "more"})
	time.Sleep(3 * liveEvery)
	require.Equal(t, "printed\nRun it? >", s.Text(), "nothing is drawn beside a question")
	_, _ = s.TTY.WriteString("y\n")
	gate.Unlock()
	s.WaitFor("more")
	l.cover(true)
	l.working("", turnloop.Activity{Seq: 5, Name: "shell_run", Argument: "make", Tail: "even more"})
	time.Sleep(3 * liveEvery)
	require.Equal(t, "printed\nRun it? > y", strings.TrimSpace(s.Text()), "nor within text")
	l.cover(false)
	s.WaitFor("even more")
	l.working("", turnloop.Activity{Seq: 5, Name: "shell_run", Over: true})
	s.Wait("nothing of it", func() bool { return s.Text() == "printed\nRun it? > y" })
	require.NotContains(t, s.Raw(), "\x1b[?25l", "the cursor is never hidden")
}

func TestLiveLineForgetsWhatEventsEnd(t *testing.T) {
	event := func(b conversation.Body) *conversation.Event { return &conversation.Event{Body: b} }
	tool := turnloop.Activity{Seq: 5, Name: "shell_run"}
	for name, tt := range map[string]struct {
		doing turnloop.Activity
		event *conversation.Event
		stays bool
	}{
		"the tool's result":          {tool, event(&conversation.ToolCallResponse{For: 5}), false},
		"another tool's":             {tool, event(&conversation.ToolCallResponse{For: 6}), true},
		"its question":               {tool, event(&conversation.InquiryRequest{For: 5}), false},
		"a part of an answer":        {turnloop.Activity{}, event(&conversation.ChatResponse{}), true},
		"its end":                    {turnloop.Activity{}, event(&conversation.ChatResponse{CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}}), false},
		"its end, with a call":       {turnloop.Activity{}, event(&conversation.ToolCallRequest{CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls}}), false},
		"an answer, while a tool is": {tool, event(&conversation.ChatResponse{CallEnd: conversation.CallEnd{Finish: conversation.FinishStop}}), true},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := aLiveLine(t, 40)
			l.covered = true
			l.working("", tt.doing)
			l.recorded("", []*conversation.Event{tt.event})
			require.Equal(t, tt.stays, len(l.doing) == 1)
			l.working("jp-c17528832001-k3f9", tt.doing)
			l.recorded("", []*conversation.Event{tt.event})
			require.NotEmpty(t, l.doing, "a child's is another one")
		})
	}
}

// TestThought prints how long the model thought, once, except for less than a second or a delegate.
func TestThought(t *testing.T) {
	for name, tt := range map[string]struct {
		child conversation.ID
		part  conversation.Part
		took  time.Duration
		want  string
	}{
		"thought":    {"", conversation.PartReasoning, 3 * time.Second, "  thought 3 s"},
		"short":      {"", conversation.PartReasoning, 900 * time.Millisecond, ""},
		"answered":   {"", conversation.PartMessage, 3 * time.Second, ""},
		"a delegate": {"jp-c17528832001-k3f9", conversation.PartReasoning, 3 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(10, 0)
			l := &liveLine{now: func() time.Time { return now }}
			l.timer = time.NewTimer(time.Hour) // it draws nothing
			l.working(tt.child, turnloop.Activity{Part: tt.part, Started: now})
			l.working(tt.child, turnloop.Activity{Part: tt.part, Started: now})
			now = now.Add(tt.took)
			said := ""
			for range 2 {
				l.sayThought(func(line string) { said += line }, func(text string) string { return text })
			}
			require.Equal(t, tt.want, said)
		})
	}
	var none *liveLine
	none.sayThought(nil, nil)
}
