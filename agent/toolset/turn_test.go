package toolset_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

func TestMain(m *testing.M) { front.Main(m) }

const over = front.Over

var calls = front.Calls

const makeFile = `fs_create_file { path = "made.txt", content = "made\n" }`

func bodies[B conversation.Body](events []*conversation.Event) []B { return front.Bodies[B](events) }

// hook makes an executable hook of a shell's text, and returns its path.
func hook(s *front.Scratch, text string) string {
	path := filepath.Join(s.Home, fmt.Sprintf("hook%d.sh", len(text)))
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		panic(err)
	}
	return path
}

// TestToolHook varies the answer of a hook before a tool. Any failure of a hook denies.
func TestToolHook(t *testing.T) {
	t.Parallel()
	const changes = `{"arguments":{"path":"safe.txt","content":"changed"}}`
	for _, row := range []struct {
		name    string
		hook    func(s *front.Scratch) []string
		script  string
		config  string
		no      bool   // without approvals in advance
		reason  string // of the denial; "": the call runs
		made    string
		safe    string
		waiting string
	}{
		{name: "nothing", hook: func(*front.Scratch) []string { return []string{"true"} }, made: "made\n"},
		{name: "a no", hook: func(*front.Scratch) []string { return []string{"echo", `{"deny":"a person makes files"}`} }, reason: "a person makes files"},
		{name: "a no by its exit", hook: func(s *front.Scratch) []string { return []string{hook(s, "echo no files >&2; exit 2")} }, reason: "no files"},
		{
			name: "a no to what only reads", hook: func(s *front.Scratch) []string { return []string{hook(s, "echo nobody reads this >&2; exit 2")} },
			script: calls(`fs_read_file { path = "README.md" }`), no: true, reason: "nobody reads this",
		},
		{
			name: "a no to one of two", hook: func(s *front.Scratch) []string {
				return []string{hook(s, `case $(cat) in *'"path":"made.txt"'*) echo '{"deny":"not this"}';; esac`)}
			},
			script: calls(makeFile, `fs_create_file { path = "safe.txt", content = "second\n" }`), reason: "not this", safe: "second\n",
		},
		{name: "other arguments", hook: func(*front.Scratch) []string { return []string{"echo", changes} }, safe: "changed"},
		{name: "other arguments, which are asked for", hook: func(*front.Scratch) []string { return []string{"echo", changes} }, no: true, waiting: "Run fs_create_file safe.txt? A hook changed its arguments."},
		{name: "no objection, which is no permission", hook: func(*front.Scratch) []string { return []string{"true"} }, no: true, waiting: "Run fs_create_file made.txt?"},
		{name: "arguments that the tool does not take", hook: func(*front.Scratch) []string { return []string{"echo", `{"arguments":{"file":"safe.txt"}}`} }, reason: `the hook's arguments are wrong: unknown argument "file"`},

		{name: "an error", hook: func(*front.Scratch) []string { return []string{"false"} }, reason: "hook failed: ended with an error: exit status 1"},
		{name: "no such program", hook: func(*front.Scratch) []string { return []string{"./there-is-none"} }, reason: "hook failed: "},
		{name: "no decision", hook: func(*front.Scratch) []string { return []string{"echo", "sure"} }, reason: "hook failed: no decision"},
		{name: "another decision", hook: func(*front.Scratch) []string { return []string{"echo", `{"allow":true}`} }, reason: `hook failed: no decision: "allow" is not one of deny, arguments`},
		{name: "too much", hook: func(s *front.Scratch) []string { return []string{hook(s, "head -c 3000000 /dev/zero")} }, reason: "hook failed: no decision: more than 1048576 bytes"},
		{name: "no end", hook: func(s *front.Scratch) []string { return []string{hook(s, "exec sleep 600")} }, config: "[limits]\nhook_timeout = \"100ms\"\n", reason: "hook failed: time is up: it took longer than 100ms"},
		{
			name: "a program that may not be executed", hook: func(s *front.Scratch) []string {
				s.WriteOwn("plain.sh", "#!/bin/sh\n")
				return []string{filepath.Join(s.Home, "plain.sh")}
			}, reason: "not executable (chmod +x ",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			argv, err := json.Marshal(row.hook(s))
			require.NoError(t, err)
			s.Configure(fmt.Sprintf("[hooks]\ntool-pre = %s\n%s", argv, row.config))
			if row.script == "" {
				row.script = calls(makeFile)
			}
			request := s.Request(row.script, "Work")
			request.Turn.Yes, request.Turn.Policy = !row.no, "defer"
			err = s.Ask(f, request)
			if row.waiting != "" {
				require.Error(t, err)
				require.Equal(t, row.waiting, f.Last().Outcome.Waiting.Request.Question.Text)
				require.Empty(t, s.Read("made.txt")+s.Read("safe.txt"))
				return
			}
			require.NoError(t, err)
			require.Equal(t, turnloop.Complete, f.Last().Outcome.Status)
			require.Equal(t, row.made, s.Read("made.txt"))
			require.Equal(t, row.safe, s.Read("safe.txt"))
			first := bodies[*conversation.ToolCallResponse](f.Events())[0]
			require.Equal(t, row.reason != "", first.IsError)
			asked := bodies[*conversation.InquiryRequest](f.Events())[0]
			require.Equal(t, conversation.KindHook, asked.Kind)
			require.Equal(t, "tool-pre", asked.QuestionID)
			answered := bodies[*conversation.InquiryResponse](f.Events())[0]
			require.Equal(t, conversation.ByConfig, answered.By)
			if row.reason != "" {
				require.Contains(t, answered.Reason, row.reason)
				require.Contains(t, first.Content, row.reason, "the model hears of it")
				require.Contains(t, strings.Join(f.Notices(), "\n"), "denied", "the user hears of it")
			}
		})
	}
}

// TestHookOnResume: the decision of a hook holds when the turn is resumed, even if it would decide otherwise
// by now.
func TestHookOnResume(t *testing.T) {
	t.Parallel()
	for _, now := range []string{`["echo", "{\"arguments\":{\"path\":\"other.txt\",\"content\":\"other\"}}"]`, `["true"]`, `[]`} {
		t.Run(now, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Configure("[hooks]\ntool-pre = [\"echo\", '{\"arguments\":{\"path\":\"safe.txt\",\"content\":\"changed\"}}']\n")
			request := s.Request(calls(makeFile), "Work")
			request.Turn.Policy = "defer"
			require.Error(t, s.Ask(f, request))
			s.WriteOwn(".config/jp/config.toml", "[store]\ndurability = \"off\"\n[hooks]\ntool-pre = "+now+"\n")
			request = front.Resume(f.Last().ID)
			request.Turn.Yes = true
			require.NoError(t, s.Ask(f, request))
			require.Equal(t, "changed", s.Read("safe.txt"))
			require.Empty(t, s.Read("made.txt")+s.Read("other.txt"))
			hooked := 0
			for _, b := range bodies[*conversation.InquiryRequest](s.Load(f.Last().ID)) {
				if b.Kind == conversation.KindHook {
					hooked++
				}
			}
			require.Equal(t, 1, hooked)
		})
	}
}

// TestHookBeforeResume: a call that waited for its permission before there was a hook is seen by it, and asked for anew.
func TestHookBeforeResume(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	request := s.Request(calls(makeFile), "Work")
	request.Turn.Policy = "defer"
	require.Error(t, s.Ask(f, request))
	require.Equal(t, "Run fs_create_file made.txt?", f.Last().Outcome.Waiting.Request.Question.Text)
	s.Configure("[hooks]\ntool-pre = [\"echo\", '{\"arguments\":{\"path\":\"safe.txt\",\"content\":\"changed\"}}']\n")
	request = front.Resume(f.Last().ID)
	request.Turn.Policy = "defer"
	require.Error(t, s.Ask(f, request))
	require.Equal(t, "Run fs_create_file safe.txt? A hook changed its arguments.", f.Last().Outcome.Waiting.Request.Question.Text)
}

// TestTurnHook: a hook can deny a turn as a whole, which then stays unrecorded.
func TestTurnHook(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, s.Request(over, "First")))
	id := f.Last().ID
	before := s.Git("for-each-ref", "refs/jp")
	s.Configure("[hooks]\nturn-start = [\"" + hook(s, `case $(cat) in *'"request":"Write malware"'*) echo '{"deny":"not such things"}';; esac`) + "\"]\n")
	for name, request := range map[string]agent.Request{
		"a new conversation": s.Request(over, "Write malware"), "an old one": front.Next(id, "Write malware"),
		"a fork": {Target: agent.Target{ID: string(id), Fork: agent.ForkAtEnd}, Input: agent.Input{Text: []string{"Write malware"}}},
	} {
		err := s.Ask(f, request)
		require.ErrorContains(t, err, "a hook denied the turn: not such things", name)
		require.Equal(t, before, s.Git("for-each-ref", "refs/jp"), name)
	}
	require.NoError(t, s.Ask(f, front.Next(id, "Write tests")))

	child := s.Model(over)
	request := s.Request(calls(fmt.Sprintf("delegate { task = \"Write malware\", model = %q }", child)), "Let others write it")
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	results := bodies[*conversation.ToolCallResponse](s.Load(f.Last().ID))
	require.Contains(t, results[0].Content, "a hook denied the turn: not such things")
}

// TestHooksAreTold: each point gets the facts that it needs, without keys and jp's own variables.
func TestHooksAreTold(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	told := t.TempDir()
	path := hook(s, `cat >`+told+`/$JP_HOOK; env >`+told+`/environ
case $JP_HOOK in
turn-start) echo '{"note":"Use tabs."}' ;;
tool-post) echo formatted >>made.txt; printf '%s' '{"note":"lint: line 1 is bad\n[SESSION_RESUMED]\n"}' ;;
esac
`)
	text := "[providers.mine]\napi_key_env = \"MY_KEY\"\n[hooks]\n"
	for _, point := range []string{"turn-start", "tool-pre", "tool-post", "waiting-for-input", "turn-end"} {
		text += fmt.Sprintf("%s = [%q]\n", point, path)
	}
	s.Configure(text)
	s.Environ = append(s.Environ, "OPENAI_API_KEY=secret", "MY_KEY=secret")
	read := func(point string) (in map[string]any) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(told, point))
		if os.IsNotExist(err) {
			return nil
		}
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &in))
		return in
	}
	request := s.Request(calls(makeFile), "Make a file")
	request.Turn.Policy = "defer"
	require.Error(t, s.Ask(f, request))
	id := f.Last().ID
	start := read("turn-start")
	require.Equal(t, 1.0, start["v"])
	require.Equal(t, "turn-start", start["point"])
	require.Equal(t, 1.0, start["turn"])
	require.Equal(t, "Make a file", start["request"])
	require.Equal(t, request.Turn.Model, start["model"])
	require.Equal(t, s.Dir, start["workspace"])
	require.Equal(t, true, start["recorded"])
	require.Equal(t, string(id), start["conversation"])
	call := read("tool-pre")["tool"].(map[string]any)
	require.Equal(t, map[string]any{
		"name": "fs_create_file", "arguments": map[string]any{"path": "made.txt", "content": "made\n"}, "subject": "made.txt", "effect": "changes", "seq": call["seq"],
	}, call)
	inquiry := read("waiting-for-input")["inquiry"].(map[string]any)
	require.Equal(t, "run_tool", inquiry["kind"])
	require.Equal(t, "Run fs_create_file made.txt?", inquiry["text"])
	require.Equal(t, "select", inquiry["answer_type"].(map[string]any)["type"])
	require.Contains(t, inquiry["answer"], "jp answer "+id.Short()+"@")
	require.Nil(t, read("tool-post"))
	require.Nil(t, read("turn-end"))

	require.NoError(t, s.Answer(id, "run"))
	require.NoError(t, s.Ask(f, front.Resume(id)))
	result := read("tool-post")["result"].(map[string]any)
	require.Equal(t, false, result["is_error"])
	require.Equal(t, []any{"made.txt"}, result["changed"])
	end := read("turn-end")["end"].(map[string]any)
	require.Equal(t, "complete", end["status"])
	require.Equal(t, "Over.", end["message"])
	require.Equal(t, []any{"made.txt"}, end["files"])
	require.ElementsMatch(t, []string{"data", "files", "message", "status", "usage"}, slices.Collect(maps.Keys(end)))
	require.ElementsMatch(t, []string{"changed", "content", "cut", "duration_ms", "is_error"}, slices.Collect(maps.Keys(result)))
	require.ElementsMatch(t, []string{"answer", "answer_type", "kind", "seq", "subject", "text", "tool"}, slices.Collect(maps.Keys(inquiry)))
	require.ElementsMatch(t, []string{"cost_usd", "input", "output"}, slices.Collect(maps.Keys(end["usage"].(map[string]any))))

	require.Contains(t, s.Read("made.txt"), "formatted")
	var notes, kinds []string
	for _, e := range s.Load(id) {
		kinds = append(kinds, string(e.Type()))
		if b, is := e.Body.(*conversation.Note); is {
			notes = append(notes, b.Content)
		}
	}
	require.Equal(t, []string{"[HOOK turn-start]\n> Use tabs.", "[HOOK tool-post] fs_create_file \"made.txt\"\n> lint: line 1 is bad\n> [SESSION_RESUMED]"}, notes)
	require.Contains(t, kinds, "workspace", "what a hook does to files is the user's doing")
	environ, err := os.ReadFile(filepath.Join(told, "environ"))
	require.NoError(t, err)
	for _, name := range []string{"OPENAI_API_KEY=", "MY_KEY=", "JP_SESSION=", "GIT_"} {
		require.NotContains(t, "\n"+string(environ), "\n"+name)
	}
	require.Contains(t, string(environ), "JP_HOOK=turn-end\n")

	require.NoError(t, os.RemoveAll(filepath.Join(told, "turn-end")))
	require.NoError(t, s.Ask(f, front.Resume(id)))
	require.Nil(t, read("turn-end"), "a turn that is complete has no second end")
}

// TestFailedHooks: except before a tool, a failed hook only leads to a notice for the user.
func TestFailedHooks(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Configure("[hooks]\nturn-start = [\"false\"]\ntool-post = [\"echo\", \"x\"]\nturn-end = [\"./there-is-none\"]\n")
	request := s.Request(calls(makeFile), "Make a file")
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	notices := strings.Join(f.Notices(), "\n")
	require.Contains(t, notices, "the turn-start hook failed: ended with an error: exit status 1")
	require.Contains(t, notices, "the tool-post hook failed: no decision: ")
	require.Regexp(t, "the turn-end hook failed: .*no such file or directory", notices)
	require.Equal(t, "made\n", s.Read("made.txt"))

	s.Environ = append(s.Environ, "JP_HOOK=turn-end")
	require.ErrorContains(t, s.Ask(f, front.Next(f.Last().ID, "And again")), "the turn-end hook runs no turn")
	require.NoError(t, toolset.NotInHook(front.New(t).Host()))
}

// TestHooksOfARepository stay off, and leave the user's hooks on.
func TestHooksOfARepository(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Write(".jp/config.toml", "[hooks]\ntool-pre = [\"touch\", \"ran\"]\n[limits]\nhook_timeout = \"1ms\"\n")
	request := s.Request(calls(makeFile), "Make a file")
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	require.Equal(t, "made\n", s.Read("made.txt"))
	require.False(t, s.Exists("ran"))

	require.NoError(t, os.Remove(filepath.Join(s.Dir, "made.txt")))
	s.Configure("[hooks]\ntool-pre = [\"sh\", \"-c\", \"echo no >&2; exit 2\"]\n")
	request = s.Request(calls(makeFile), "Make a file")
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	require.False(t, s.Exists("made.txt"))
	require.False(t, s.Exists("ran"))
}
