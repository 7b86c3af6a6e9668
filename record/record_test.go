package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/importer"
	"jp/internal/testing/front"
	"jp/record"
	"jp/record/journal"
	"jp/undo"
)

func TestMain(m *testing.M) { front.Main(m) }

// A session is one of Claude Code that a test plays.
type session struct {
	t      *testing.T
	s      *front.Scratch
	file   string
	newest string // id of the newest line
	other  string // that of the session's, while a sub-agent acts
	answer int
	lines  int
	began  time.Time
	agent  string // the sub-agent that acts, or ""
}

func play(t *testing.T) *session {
	s := front.New(t)
	s.Configure("[sandbox]\nenable = false\n")
	s.Write("a.txt", "a\n")
	s.Write("b.txt", "b\n")
	s.Commit()
	return &session{t: t, s: s, file: filepath.Join(s.Home, "5e551000-0000-4000-8000-000000000001.jsonl"), began: time.Now()}
}

func (p *session) line(kind string, message map[string]any) {
	p.lines++
	l := map[string]any{
		"type": kind, "uuid": fmt.Sprintf("u%d", p.lines), "timestamp": p.began.Add(time.Duration(p.lines) * time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z"),
		"sessionId": "5e551000-0000-4000-8000-000000000001", "cwd": p.s.Dir, "isSidechain": false, "message": message, "parentUuid": nil,
	}
	if p.newest != "" {
		l["parentUuid"] = p.newest
	}
	if p.agent != "" {
		l["agentId"], l["isSidechain"] = p.agent, true
	}
	p.newest = l["uuid"].(string)
	text, err := json.Marshal(l)
	require.NoError(p.t, err)
	p.write(string(text))
}

func (p *session) write(line string) {
	file := p.file
	if p.agent != "" {
		file = filepath.Join(strings.TrimSuffix(p.file, ".jsonl"), "subagents", "agent-"+p.agent+".jsonl")
		require.NoError(p.t, os.MkdirAll(filepath.Dir(file), 0o700))
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(p.t, err)
	_, err = f.WriteString(line + "\n")
	require.NoError(p.t, err)
	require.NoError(p.t, f.Close())
}

func (p *session) words(block map[string]any) {
	p.line("assistant", map[string]any{"role": "assistant", "id": fmt.Sprintf("m%d", p.answer), "model": "claude-x", "content": []any{block}})
}

// do plays one step: "ask TEXT", "call ID TOOL [FILE]" adds a call to the answer, "result ID" and "refused ID" its result, "say TEXT" an answer,
// "hook EVENT [ID [FILE]]", "sh COMMAND" changes files.
func (p *session) do(step string) {
	words := strings.Fields(step)
	switch rest := words[1:]; words[0] {
	case "ask":
		p.line("user", map[string]any{"role": "user", "content": strings.Join(rest, " ")})
		p.answer++
	case "say":
		p.words(map[string]any{"type": "text", "text": strings.Join(rest, " ")})
	case "call":
		input := map[string]any{"command": "x"}
		if len(rest) > 2 {
			input = map[string]any{"file_path": filepath.Join(p.s.Dir, rest[2])}
		}
		p.words(map[string]any{"type": "tool_use", "id": rest[0], "name": rest[1], "input": input})
	case "result", "refused":
		p.line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": rest[0], "content": "ok", "is_error": words[0] == "refused"}}})
	case "as": // the session itself, or a sub-agent
		p.agent, p.newest, p.other = strings.Join(rest, ""), p.other, p.newest
	case "ended":
		p.write(fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"content":"<task-notification>\n<tool-use-id>%s</tool-use-id>\n</task-notification>"}`, time.Now().UTC().Format(time.RFC3339Nano), rest[0]))
	case "answer":
		p.answer++
	case "sh":
		cmd := exec.Command("sh", "-c", strings.Join(rest, " "))
		cmd.Dir = p.s.Dir
		out, err := cmd.CombinedOutput()
		require.NoError(p.t, err, "%s", out)
	case "hook":
		in := map[string]any{"session_id": "5e551000-0000-4000-8000-000000000001", "transcript_path": p.file, "cwd": p.s.Dir, "agent_id": p.agent}
		if len(rest) > 1 {
			in["tool_use_id"] = rest[1]
		}
		if len(rest) > 2 {
			in["tool_input"] = map[string]any{"file_path": filepath.Join(p.s.Dir, rest[2]), "run_in_background": rest[2] == "background"}
		}
		text, err := json.Marshal(in)
		require.NoError(p.t, err)
		r := p.s.Open()
		defer r.Close()
		_, err = record.Hook{Agent: "claude", Event: rest[0], Run: "test", At: time.Now()}.Note(p.t.Context(), r, text)
		require.NoError(p.t, err)
	default:
		p.t.Fatalf("step %q", step)
	}
}

func (p *session) imports(o importer.Options) *importer.Report {
	r := p.s.Open()
	defer r.Close()
	report, err := importer.File(p.t.Context(), r, importer.FormatNamed("claude"), p.file, o)
	require.NoError(p.t, err)
	return report
}

// changes describes the events that have other files than those before them.
func changes(events []*conversation.Event) (all []string) {
	for _, e := range events {
		var words []string
		switch b := e.Body.(type) {
		case *conversation.Workspace:
			words = append(words, "outside")
			for _, c := range b.Paths {
				words = append(words, c.Status+" "+c.Path)
			}
		case *conversation.ToolCallResponse:
			words = append(words, b.ID)
			for _, c := range b.Changed {
				words = append(words, c.Path)
			}
			for _, l := range b.LeftOut {
				if l.Path == "." {
					words = append(words, "("+strings.SplitN(l.Why, ":", 2)[0]+")")
				}
			}
			if strings.HasPrefix(b.Content, "outcome unknown") {
				words = append(words, "unknown")
			}
		}
		if len(words) > 0 {
			all = append(all, strings.Join(words, " "))
		}
	}
	return all
}

// TestTrees varies the order of hooks, changes and results, and the events to which the changes belong.
func TestTrees(t *testing.T) {
	t.Parallel()
	const noHook, others, all = "(no hook of the agent came behind this call)", "(other calls ran at the same time)", "(other calls ran at the same time)"
	for _, row := range []struct {
		name  string
		steps []string
		want  []string
	}{
		{"one call", []string{"call A Bash", "hook PreToolUse A", "sh echo x >>a.txt; echo n >new", "hook PostToolUse A", "result A", "say done"}, []string{"A a.txt new"}},
		{"a call that changes nothing", []string{"call A Bash", "hook PreToolUse A", "hook PostToolUse A", "result A"}, []string{"A"}},
		{"the user between two calls", []string{
			"call A Bash", "hook PreToolUse A", "sh echo x >>a.txt", "hook PostToolUse A", "result A", "sh echo y >>b.txt", "answer",
			"call B Bash", "hook PreToolUse B", "sh rm a.txt", "hook PostToolUse B", "result B",
		}, []string{"A a.txt", "outside M b.txt", "B a.txt"}},
		{"a failing call", []string{"call A Bash", "hook PreToolUse A", "sh echo x >>a.txt", "hook PostToolUseFailure A", "refused A"}, []string{"A a.txt"}},
		{"two calls at once, both name their file", []string{
			"call A Edit a.txt", "call B Edit b.txt", "hook PreToolUse A a.txt", "hook PreToolUse B b.txt", "sh echo x >>a.txt; echo x >>b.txt",
			"hook PostToolUse B b.txt", "hook PostToolUse A a.txt", "result A", "result B",
		}, []string{"A a.txt " + others, "B b.txt " + all}},
		{"two calls at once, one names its file", []string{
			"call A Bash", "call B Edit b.txt", "hook PreToolUse A", "hook PreToolUse B b.txt", "sh echo x >>a.txt; echo x >>b.txt; echo n >n",
			"hook PostToolUse A", "hook PostToolUse B b.txt", "result B", "result A",
		}, []string{"B b.txt " + others, "A a.txt n " + all}},
		{"a later call does not get the changes of those at once", []string{
			"call A Bash", "call B Bash", "hook PreToolUse A", "hook PreToolUse B", "sh echo x >>a.txt", "hook PostToolUse A", "hook PostToolUse B", "result A", "result B", "answer",
			"call C Bash", "hook PreToolUse C", "sh echo x >>b.txt", "hook PostToolUse C", "result C",
		}, []string{"A " + others, "B a.txt " + all, "C b.txt"}},
		{"a refused call", []string{
			"call A Bash", "hook PreToolUse A", "refused A", "answer", "call B Bash", "hook PreToolUse B", "sh echo x >>a.txt", "hook PostToolUse B", "result B",
		}, []string{"A " + noHook, "B a.txt"}},
		{"a call without a hook behind it", []string{"call A Bash", "hook PreToolUse A", "sh echo x >>a.txt", "result A", "say done", "hook Stop"}, []string{"A a.txt " + noHook}},
		{"a killed agent", []string{"call A Bash", "hook PreToolUse A", "sh echo x >>a.txt"}, []string{"A " + noHook + " unknown"}},
		{"a call without hooks", []string{"call A Bash", "sh echo x >>a.txt", "result A", "answer", "call B Bash", "hook PreToolUse B", "sh echo x >>b.txt", "hook PostToolUse B", "result B"}, []string{"A (no hook of the agent came at this call)", "outside M a.txt", "B b.txt"}},
		{"a call without a hook before it", []string{"call A Bash", "sh echo x >>a.txt", "hook PostToolUse A", "result A"}, []string{"A a.txt (no hook of the agent came before this call)"}},
		{"a program in the background", []string{
			"call A Bash", "hook PreToolUse A background", "hook PostToolUse A background", "result A", "answer", "sh echo x >>a.txt",
			"call B Bash", "hook PreToolUse B", "sh echo x >>b.txt", "hook PostToolUse B", "result B", "answer", "ended A",
			"call C Bash", "hook PreToolUse C", "hook PostToolUse C", "result C", "answer", "sh echo y >>a.txt",
			"call D Bash", "hook PreToolUse D", "hook PostToolUse D", "result D",
		}, []string{"A", "B a.txt b.txt (a program of an earlier call ran at the same time)", "C", "outside M a.txt", "D"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := play(t)
			p.s.Write("untracked", "mine\n")
			p.do("hook SessionStart")
			p.do("ask work")
			p.do("hook UserPromptSubmit")
			for _, step := range row.steps {
				p.do(step)
				p.imports(importer.Options{Live: true})
			}
			report := p.imports(importer.Options{})
			require.Equal(t, row.want, changes(p.s.Load(report.ID)))
			require.Zero(t, p.imports(importer.Options{}).Added)
			require.Empty(t, p.s.Git("fsck", "--strict", "--no-dangling"))

			once := play(t) // and in one import at the end
			once.s.Write("untracked", "mine\n")
			for _, step := range append([]string{"hook SessionStart", "ask work", "hook UserPromptSubmit"}, row.steps...) {
				once.do(step)
			}
			require.Equal(t, row.want, changes(once.s.Load(once.imports(importer.Options{}).ID)))
		})
	}
}

// TestSubAgents gives the calls of a sub-agent their files in its own conversation.
func TestSubAgents(t *testing.T) {
	t.Parallel()
	p := play(t)
	for _, step := range []string{
		"hook SessionStart", "ask work", "hook UserPromptSubmit", "call T Agent", "hook PreToolUse T",
		"as ad", "ask look", "call A Bash", "hook PreToolUse A", "sh echo x >>a.txt", "hook PostToolUse A", "result A", "sh echo y >>b.txt",
		"call B Bash", "hook PreToolUse B", "sh rm a.txt", "hook PostToolUse B", "result B", "say done", "hook SubagentStop",
		"as", "hook PostToolUse T", "result T", "say over",
	} {
		if p.do(step); p.lines > 0 {
			p.imports(importer.Options{Live: true})
		}
	}
	report := p.imports(importer.Options{})
	require.Equal(t, []string{"T a.txt b.txt"}, changes(p.s.Load(report.ID)))
	require.Equal(t, "noted by jp record at 3 of 3 tool calls", report.Files)
	require.Len(t, report.Children, 1)
	require.Equal(t, []string{"A a.txt", "outside M b.txt", "B a.txt"}, changes(p.s.Load(report.Children[0].ID)))
	require.Zero(t, p.imports(importer.Options{}).Added)
}

// TestUndo brings back the files of a recording, also untracked ones, and the session goes on behind it.
func TestUndo(t *testing.T) {
	t.Parallel()
	p := play(t)
	p.s.Write("untracked", "mine\n")
	steps := []string{"call A Bash", "hook PreToolUse A", "sh echo x >>a.txt; rm untracked; echo n >new", "hook PostToolUse A", "result A", "say done", "hook Stop"}
	for _, step := range append([]string{"hook SessionStart", "ask work", "hook UserPromptSubmit"}, steps...) {
		p.do(step)
	}
	id := p.imports(importer.Options{Live: true}).ID
	r := p.s.Open()
	defer r.Close()
	require.Equal(t, "claude", recordingOf(t, p, id))
	p.s.Await(r, id)
	u, _, err := undo.New(t.Context(), r, undo.Options{Action: "undo", Word: string(id)})
	require.NoError(t, err)
	event, _, err := u.View.TurnEvents(1)
	require.NoError(t, err)
	u.Before(event)
	_, result, err := u.Propose(t.Context())
	require.NoError(t, err)
	require.NoError(t, u.Do(t.Context(), result, u.Record))
	u.Close()
	require.Equal(t, "a\n", p.s.Read("a.txt"))
	require.Equal(t, "mine\n", p.s.Read("untracked"))
	require.False(t, p.s.Exists("new"))
	for _, step := range []string{"ask again", "hook UserPromptSubmit", "call B Bash", "hook PreToolUse B", "sh echo x >>b.txt", "hook PostToolUse B", "result B", "say done"} {
		p.do(step)
	}
	report := p.imports(importer.Options{})
	require.Equal(t, id, report.ID)
	require.Empty(t, report.Forks)
	require.Equal(t, []string{"A a.txt new", "B b.txt"}, changes(p.s.Load(id)))
}

func recordingOf(t *testing.T, p *session, id conversation.ID) string {
	r := p.s.Open()
	defer r.Close()
	w, ok := r.Standings().Recording(id)
	require.True(t, ok)
	return w.Format
}

// TestHookInputs varies inputs that no moment follows from.
func TestHookInputs(t *testing.T) {
	t.Parallel()
	p := play(t)
	for _, row := range []struct{ event, input, wrong string }{
		{"PreToolUse", `{`, "read the input of PreToolUse"},
		{"PreToolUse", `[]`, "read the input of PreToolUse"},
		{"PreToolUse", `{"session_id":"s"}`, ""},
		{"PreToolUse", `{"tool_use_id":"c"}`, ""},
		{"NewEvent", `{"session_id":"s"}`, ""},
	} {
		r := p.s.Open()
		_, err := record.Hook{Agent: "claude", Event: row.event, At: time.Now()}.Note(t.Context(), r, []byte(row.input))
		if row.wrong == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, row.wrong)
		}
		id, err := r.Standings().WorkspaceID()
		require.NoError(t, err)
		all, err := journal.In(r.Paths.StateDir, id).All(time.Time{})
		require.NoError(t, err)
		require.Empty(t, all, row.event)
		require.NoError(t, r.Close())
	}
}
