package record_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/importer"
	"jp/internal/testing/front"
	"jp/record"
)

// A rollout is a session of Codex that a test plays.
type rollout struct {
	t    *testing.T
	s    *front.Scratch
	file string
}

const codexSession = "01a22e9d-20fd-7903-bdde-188de558cff7"

func playCodex(t *testing.T) *rollout {
	s := front.New(t)
	s.Configure("[sandbox]\nenable = false\n")
	s.Write("a.txt", "a\n")
	s.Write("b.txt", "b\n")
	s.Commit()
	p := &rollout{t: t, s: s, file: filepath.Join(s.Home, "rollout-2026-11-30T22-39-39-"+codexSession+".jsonl")}
	p.line("session_meta", map[string]any{"id": codexSession, "cwd": s.Dir, "model_provider": "local"})
	p.line("response_item", map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": "work"}}})
	return p
}

func (p *rollout) line(kind string, payload map[string]any) {
	text, err := json.Marshal(map[string]any{"timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "type": kind, "payload": payload})
	require.NoError(p.t, err)
	f, err := os.OpenFile(p.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(p.t, err)
	_, err = f.Write(append(text, '\n'))
	require.NoError(p.t, err)
	require.NoError(p.t, f.Close())
}

// do plays one step: "call ID TOOL", "output ID [yields]" its result, "item ID" the end of a program, "ask TEXT" a request, "hook EVENT [ID [PATCHED FILE]]",
// "sh COMMAND" changes files.
func (p *rollout) do(step string) {
	time.Sleep(2 * time.Millisecond) // the file has milliseconds
	words := strings.Fields(step)
	switch rest := words[1:]; words[0] {
	case "ask":
		p.line("response_item", map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": strings.Join(rest, " ")}}})
	case "call":
		p.line("response_item", map[string]any{"type": "function_call", "call_id": rest[0], "name": rest[1], "arguments": "{}"})
	case "output":
		text := "ok"
		if len(rest) > 1 {
			text = "Chunk ID: b1dd49\nWall time: 0.5036 seconds\nProcess running with session ID 10579\nOutput:\n"
		}
		p.line("response_item", map[string]any{"type": "function_call_output", "call_id": rest[0], "output": text})
	case "item":
		p.line("event_msg", map[string]any{"type": "item_completed", "item": map[string]any{"type": "CommandExecution", "id": rest[0]}})
	case "sh":
		(&session{t: p.t, s: p.s}).do(step)
	case "hook":
		in := map[string]any{"session_id": codexSession, "transcript_path": p.file, "cwd": p.s.Dir}
		if len(rest) > 1 {
			in["tool_use_id"] = rest[1]
		}
		if len(rest) > 2 {
			in["tool_input"] = map[string]any{"command": "*** Begin Patch\n*** Update File: " + rest[2] + "\n@@\n-a\n+b\n*** End Patch\n"}
		}
		text, err := json.Marshal(in)
		require.NoError(p.t, err)
		r := p.s.Open()
		defer r.Close()
		_, err = record.Hook{Agent: "codex", Event: rest[0], Run: "test", At: time.Now()}.Note(p.t.Context(), r, text)
		require.NoError(p.t, err)
	default:
		p.t.Fatalf("step %q", step)
	}
}

func (p *rollout) imports(o importer.Options) *importer.Report {
	r := p.s.Open()
	defer r.Close()
	report, err := importer.File(p.t.Context(), r, importer.FormatNamed("codex"), p.file, o)
	require.NoError(p.t, err)
	return report
}

// TestCodexTrees varies programs within a call of the tool exec, and programs that go on behind the result of their call.
func TestCodexTrees(t *testing.T) {
	t.Parallel()
	const others, goesOn, open = "(other calls ran at the same time)", "(a program of this call went on behind this result)", "(a program of an earlier call ran at the same time)"
	for _, row := range []struct {
		name  string
		steps []string
		want  []string
	}{
		{"a call with hooks of its own", []string{"call A exec_command", "hook PreToolUse A", "sh echo x >>a.txt", "hook PostToolUse A", "item A", "output A"}, []string{"A a.txt"}},
		{"programs within calls", []string{
			"call A exec", "hook PreToolUse exec-1", "sh echo x >>a.txt", "hook PostToolUse exec-1", "item exec-1", "hook PreToolUse exec-2", "sh echo n >n", "hook PostToolUse exec-2", "item exec-2", "output A",
			"sh echo y >>b.txt", "call B exec", "hook PreToolUse exec-3 a.txt", "sh rm a.txt", "hook PostToolUse exec-3 a.txt", "item exec-3", "output B", "call C exec", "output C",
		}, []string{"A a.txt n", "outside M b.txt", "B a.txt", "C"}},
		{"programs at once within a call", []string{
			"call A exec", "hook PreToolUse exec-1", "hook PreToolUse exec-2", "sh echo x >>a.txt; echo x >>b.txt", "hook PostToolUse exec-2", "item exec-2", "hook PostToolUse exec-1", "item exec-1", "output A",
		}, []string{"A a.txt b.txt"}},
		{"two calls at once with programs within", []string{
			"call A exec", "call B exec", "hook PreToolUse exec-1", "sh echo x >>a.txt", "hook PostToolUse exec-1", "item exec-1", "output A",
			"hook PreToolUse exec-2", "sh echo x >>b.txt", "hook PostToolUse exec-2", "item exec-2", "output B",
		}, []string{"A a.txt " + others, "B b.txt"}},
		{"a script that yields", []string{
			"call A exec", "hook PreToolUse exec-1", "output A", "call W wait", "sh echo x >>a.txt", "hook PostToolUse exec-1", "item exec-1", "output W",
			"call B exec", "hook PreToolUse exec-2", "sh echo x >>b.txt", "hook PostToolUse exec-2", "item exec-2", "output B",
		}, []string{"A " + goesOn, "W a.txt", "B b.txt"}},
		{"a program within a call that goes on for long", []string{
			"call A exec", "hook PreToolUse exec-1", "output A", "sh echo x >>a.txt", "call B exec", "hook PreToolUse exec-2", "sh echo x >>b.txt", "hook PostToolUse exec-2", "item exec-2", "output B", "item exec-1",
			"call C exec", "hook PreToolUse exec-3", "hook PostToolUse exec-3", "item exec-3", "output C", "sh rm b.txt", "call D exec", "hook PreToolUse exec-4", "hook PostToolUse exec-4", "item exec-4", "output D",
		}, []string{"A " + goesOn, "B a.txt b.txt " + open, "C", "outside D b.txt", "D"}},
		{"a program that yields, polled", []string{
			"call A exec_command", "hook PreToolUse A", "sh echo x >>a.txt", "output A yields", "sh echo y >>b.txt", "call P write_stdin", "hook PostToolUse A", "item A", "output P",
			"call B exec_command", "hook PreToolUse B", "sh echo n >n", "hook PostToolUse B", "item B", "output B",
		}, []string{"A " + goesOn, "P a.txt b.txt", "B n"}},
		{"a program that yields beside another call", []string{
			"call A exec_command", "hook PreToolUse A", "output A yields", "call B exec_command", "hook PreToolUse B", "sh echo x >>a.txt", "item A", "hook PostToolUse B", "item B", "output B",
			"sh echo y >>b.txt", "call C exec_command", "hook PreToolUse C", "sh rm a.txt", "hook PostToolUse C", "item C", "output C",
		}, []string{"A " + goesOn, "B a.txt " + open, "outside M b.txt", "C a.txt"}},
		{"a call without hooks while a program goes on", []string{
			"call A exec_command", "hook PreToolUse A", "output A yields", "sh echo x >>a.txt", "call P update_plan", "output P", "call B exec_command", "hook PreToolUse B", "hook PostToolUse B", "item B", "output B",
		}, []string{"A " + goesOn, "P (a program of an earlier call goes on)", "B a.txt " + open}},
		{"the end of a program that yields is polled behind another call", []string{
			"call A exec_command", "hook PreToolUse A", "output A yields", "call P write_stdin", "sh echo x >>a.txt", "hook PostToolUse A", "item A",
			"call B exec_command", "hook PreToolUse B", "sh echo y >>b.txt", "hook PostToolUse B", "item B", "output B", "output P",
		}, []string{"A " + goesOn, "B a.txt b.txt " + open, "P " + others}},
		{"a killed program within a call", []string{"call A exec", "hook PreToolUse exec-1", "sh echo x >>a.txt", "hook SessionStart", "ask more", "call B exec", "hook PreToolUse exec-2", "sh echo x >>b.txt", "hook PostToolUse exec-2", "item exec-2", "output B"},
			[]string{"A a.txt (no hook of the agent came behind this call) unknown", "B b.txt"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, live := range []bool{true, false} {
				p := playCodex(t)
				p.do("hook SessionStart")
				p.do("hook UserPromptSubmit")
				for _, step := range row.steps {
					if p.do(step); live {
						p.imports(importer.Options{Live: true})
					}
				}
				report := p.imports(importer.Options{})
				require.Equal(t, row.want, changes(p.s.Load(report.ID)), live)
				require.Zero(t, p.imports(importer.Options{}).Added)
				require.Empty(t, p.s.Git("fsck", "--strict", "--no-dangling"))
			}
		})
	}
}
