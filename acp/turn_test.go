package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/editor"
)

const haltingScript = `
[[reply]]
message = "I begin, and"
chunk_size = 3
hang = true
[[reply]]
message = "Over."
times = 9
`

// A cancellation ends the turn as it stands: at a question, while a tool runs, while the model answers, and right behind
// the prompt.
func TestCancel(t *testing.T) {
	t.Parallel()
	cancel := func(e *editor.Client, session string) {
		e.Line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, session))
	}
	for name, test := range map[string]struct {
		script string
		until  func(e *editor.Client) // the moment of the cancellation
		stays  bool                   // the client leaves questions open
	}{
		"at a question": {editor.WaitingScript, func(e *editor.Client) {
			e.Until("question", func() bool { return strings.Contains(string(e.Said[len(e.Said)-1]), "request_permission") })
		}, true},
		"at a tool": {editor.WaitingScript, func(e *editor.Client) {
			e.Until("tool", func() bool {
				return len(e.Updates) > 0 && strings.Contains(string(e.Updates[len(e.Updates)-1].Raw), "in_progress")
			})
		}, false},
		"at an answer": {haltingScript, func(e *editor.Client) {
			e.Until("text", func() bool { return len(e.Updates) > 0 })
		}, false},
		"at once": {editor.WaitingScript, func(*editor.Client) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, test.script)
			e := p.connects(`{}`)
			if e.Silent(); !test.stays {
				e.Chooses("Yes, this once", nil)
			}
			session := e.Opens(p.Dir)
			id := e.Prompts(session, "Wait")
			test.until(e)
			cancel(e, session)
			require.Equal(t, "cancelled", e.Stops(id))
			if name == "at a question" {
				e.Until("withdrawal", func() bool {
					for _, m := range e.Said {
						if strings.Contains(string(m), `"$/cancel_request"`) {
							return true
						}
					}
					return false
				})
			}
			cancel(e, session) // without a run
			e.Leaves()
			if name != "at once" || len(p.list()) > 0 { // the record begins with the turn
				require.Nil(t, p.tail(session), "no turn is open")
			}
		})
	}
}

// Who goes away while a question waits, leaves it open. The next jp acp shows that, and goes on with the turn, or takes it
// back.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, editor.MakeFileScript)
	e := p.connects(`{}`)
	asked := e.Silent()
	session := e.Opens(p.Dir)
	e.Prompts(session, "Make a file")
	<-asked
	e.Leaves()

	e = p.connects(`{"session":{"notices":{}}}`)
	told := e.Loads(session, p.Dir)
	last := told[len(told)-1]
	require.Equal(t, "notice", last.Kind)
	require.Contains(t, last.Title, "Turn 1 was interrupted")
	var about []string // the calls that were asked about
	choose := func(names string) {
		e.Chooses(names, func(params json.RawMessage) {
			var q struct {
				ToolCall struct{ ToolCallID string }
				Options  []struct{ Kind string }
			}
			require.NoError(t, json.Unmarshal(params, &q))
			require.Equal(t, "reject_once", q.Options[0].Kind)
			e.Mu.Lock()
			defer e.Mu.Unlock()
			about = append(about, q.ToolCall.ToolCallID)
		})
	}
	choose("Leave it")
	a := e.Response(e.Prompts(session, "And now?"))
	require.NotNil(t, a.Error, "%s", a.Result)
	require.NoFileExists(t, filepath.Join(p.Dir, "made.txt"))
	choose("finish turn 1|Yes, this once")
	about = nil
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "And now?")))
	require.FileExists(t, filepath.Join(p.Dir, "made.txt"))
	require.Len(t, about, 2)
	require.Equal(t, "call-6", about[1], "the call that the client knows")
	ended := ""
	for _, u := range e.Updates {
		if u.Call == about[0] {
			ended += u.Status
		}
	}
	require.Equal(t, "completed", ended, "the call that was made up for jp's own question")
	require.Contains(t, strings.Join(editor.Kinds(e.Loads(session, p.Dir)), "\n"), "user_message_chunk And now?")
	e.Leaves()
}

// Requests that come before the end of the input are answered. A prompt that runs then is interrupted.
func TestInputEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ask  func(e *editor.Client, session, dir string) []int
		want string // of each answer
	}{
		"lists": {func(e *editor.Client, session, dir string) (ids []int) {
			for range 9 {
				ids = append(ids, e.Begin("session/list", fmt.Sprintf(`{"cwd":%q}`, dir)))
			}
			return ids
		}, `"sessions":`},
		"a new session": {func(e *editor.Client, session, dir string) []int {
			return []int{e.Begin("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, dir))}
		}, `"sessionId":`},
		"a mode": {func(e *editor.Client, session, dir string) []int {
			return []int{e.Begin("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, session))}
		}, `{}`},
		"a refused request": {func(e *editor.Client, session, dir string) []int {
			return []int{e.Begin("session/sing", `{}`)}
		}, "jp has no method"},
		"a prompt at once": {func(e *editor.Client, session, dir string) []int {
			return []int{e.Prompts(session, "Wait")}
		}, "interrupted: the editor closed the connection"},
		"a prompt that runs": {func(e *editor.Client, session, dir string) []int {
			id := e.Prompts(session, "Wait")
			e.Until("text", func() bool { return len(e.Updates) > 0 })
			return []int{id}
		}, "interrupted: the editor closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, haltingScript)
			e := p.connects(`{}`)
			ids := test.ask(e, e.Opens(p.Dir), p.Dir)
			e.Leaves()
			for _, id := range ids {
				a := e.Response(id)
				said := string(a.Result)
				if a.Error != nil {
					said = a.Error.Message
				}
				require.Contains(t, said, test.want)
			}
		})
	}
}

// A client that cannot ask, one with an invalid answer, and one that denies.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		option string // "" if the client lacks the method
		stop   string // "": the turn waits
	}{
		"no way to ask": {"", ""},
		"not offered":   {"allow_everything", ""},
		"no":            {"No", "end_turn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, editor.MakeFileScript)
			p.Environ = append(p.Environ, "JP_CFG_POLICY__TIMEOUT=50ms", "JP_CFG_POLICY__DETACHED=queue")
			e := p.connects(`{"session":{"notices":{}}}`)
			if test.option != "" {
				e.Chooses(test.option, nil)
			}
			session := e.Opens(p.Dir)
			id := e.Prompts(session, "Make a file")
			if test.stop == "" {
				a := e.Response(id)
				require.NotNil(t, a.Error, "%s", a.Result)
				require.Contains(t, a.Error.Message, "waits for an answer: the user gave none, and no answer came within 50 ms")
				require.Contains(t, a.Error.Message, "jp answer")
				require.Contains(t, strings.Join(noticed(e.Updates), "\n"), "The question waits for one from elsewhere")
				require.Equal(t, 1, strings.Count(fmt.Sprintf("%s", e.Said), `"method":"session/request_permission"`), "it is asked once")
			} else {
				require.Equal(t, test.stop, e.Stops(id))
			}
			require.NoFileExists(t, filepath.Join(p.Dir, "made.txt"))
			e.Leaves()
		})
	}
}

// "Always" at a command adds a rule of the user's own, which allows its next call without a question.
func TestAlways(t *testing.T) {
	t.Parallel()
	call := "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"git\", \"tag\", \"%s\"] }\n[[reply]]\nmessage = \"Over.\"\n"
	p := newPlace(t, fmt.Sprintf(call, "a b")+fmt.Sprintf(call, "a b"))
	e := p.connects(`{"session":{"notices":{}}}`)
	asked := make(chan string, 9)
	e.Chooses("Yes, and always what begins with: git tag 'a b'", func(params json.RawMessage) { asked <- string(params) })
	session := e.Opens(p.Dir)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Tag")))
	require.Contains(t, <-asked, `"name":"Yes, and always what begins with: git tag 'a b'","kind":"allow_always"}]`, "it stands last")
	require.Contains(t, strings.Join(noticed(e.Updates), "\n"), "From now on git tag 'a b' runs without a question in this repository: ")
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "And again")))
	require.Empty(t, asked)
	r := p.Open()
	defer r.Close()
	require.Equal(t, [][]string{{"git", "tag", "a b"}}, r.Config.Policy.Allow)
	e.Leaves()
}

// "Always" at an edit names the folder.
func TestAlwaysEdits(t *testing.T) {
	t.Parallel()
	call := "[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"src/%s\", content = \"x\" }\n[[reply]]\nmessage = \"Over.\"\n"
	p := newPlace(t, fmt.Sprintf(call, "a")+fmt.Sprintf(call, "b"))
	e := p.connects(`{"session":{"notices":{}}}`)
	asked := make(chan string, 9)
	e.Chooses("Yes, and always edits below src/", func(params json.RawMessage) { asked <- string(params) })
	session := e.Opens(p.Dir)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Write")))
	require.Contains(t, <-asked, `"name":"Yes, and always edits below src/","kind":"allow_always"}]`, "it stands last")
	require.Contains(t, strings.Join(noticed(e.Updates), "\n"), "From now on edits below src/ run without a question in this repository: ")
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "And again")))
	require.Empty(t, asked)
	require.FileExists(t, filepath.Join(p.Dir, "src/b"))
	e.Leaves()
}

// A file with unsaved changes in the editor stays as it is. The result of a read includes the editor's text.
func TestBuffers(t *testing.T) {
	t.Parallel()
	p := newPlace(t, `
[[reply]]
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "README.md" }
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "README.md", edits = [{ old = "repository", new = "house" }] }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "../outside.txt" }
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "link.txt", edits = [{ old = "reply", new = "x" }] }
[[reply]]
message = "Over."
`)
	outside := filepath.Join(t.TempDir(), "outside.txt")
	require.NoError(t, os.WriteFile(outside, []byte("reply\n"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(p.Dir, "link.txt")))
	e := p.connects(`{"fs":{"readTextFile":true}}`, "edits")
	var mu sync.Mutex
	asked := map[string]int{}
	e.Requests["fs/read_text_file"] = func(params json.RawMessage) (any, bool) {
		var q struct{ Path string }
		if json.Unmarshal(params, &q) != nil {
			return nil, false
		}
		mu.Lock()
		defer mu.Unlock()
		asked[q.Path]++
		text, err := os.ReadFile(q.Path)
		if err == nil && filepath.Base(q.Path) == "README.md" {
			text = append(text, "unsaved\n"...)
		}
		return map[string]any{"content": strings.ReplaceAll(string(text), "\n", "\r\n")}, true
	}
	e.Chooses("Yes, this once", nil) // edits asks about a link that leads out of the working tree; the tool refuses it
	session := e.Opens(p.Dir)
	e.Must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"edits"}`, session))
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Work")))
	text, err := os.ReadFile(filepath.Join(p.Dir, "README.md"))
	require.NoError(t, err)
	require.Equal(t, "# A repository\n", string(text))
	require.FileExists(t, filepath.Join(p.Dir, "made.txt"), "the editor has no other text of it")
	var results []string
	for _, u := range e.Updates {
		if u.Kind == "tool_call_update" && u.Status != "in_progress" {
			results = append(results, string(u.Raw))
		}
	}
	all := strings.Join(results, "\n")
	require.Contains(t, all, "unsaved")
	require.Contains(t, all, "has changes in the user's editor that are not saved, so nothing was changed")
	for path := range asked {
		require.Contains(t, []string{filepath.Join(p.Dir, "README.md"), filepath.Join(p.Dir, "made.txt")}, path, "the editor is asked about files of the working tree")
	}
	e.Leaves()
}

// Commands of jp, and a fork.
func TestCommands(t *testing.T) {
	t.Parallel()
	p := newPlace(t, editor.MakeFileScript)
	p.Write(".agents/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidy up.\n---\nTidy.\n")
	p.Commit()
	p.approveSkill("tidy")
	e := p.connects(`{"_meta":{"_jp/fork":true}}`, "edits")
	session := e.Opens(p.Dir)
	e.Until("commands", func() bool { return strings.Contains(string(e.Commands), `"name":"tidy"`) })
	require.Contains(t, string(e.Commands), `"name":"undo"`)
	e.Must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"edits"}`, session))
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Make a file")))
	made := filepath.Join(p.Dir, "made.txt")
	require.FileExists(t, made)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "/undo")))
	require.NoFileExists(t, made)
	require.Contains(t, editor.Kinds(e.Updates)[len(editor.Kinds(e.Updates))-1], "Brought back made.txt")
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "/continue")))
	require.Contains(t, editor.Kinds(e.Updates)[len(editor.Kinds(e.Updates))-1], "No turn is incomplete.")

	var fork struct{ SessionID string }
	require.NoError(t, json.Unmarshal(e.Must("_jp/fork", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, p.Dir)), &fork))
	require.NotEqual(t, session, fork.SessionID)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(fork.SessionID, "/tidy the files")))
	require.Contains(t, editor.Kinds(e.Updates)[len(editor.Kinds(e.Updates))-1], "Again.")
	require.Len(t, p.list(), 2)
	e.Must("session/close", fmt.Sprintf(`{"sessionId":%q}`, session))
	e.Fails(-32002, "is not open", "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[]}`, session))
	e.Leaves()
}

// Garbage between messages gets an error, and the next message counts.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	p := newPlace(t, editor.MakeFileScript)
	e := p.connects(`{}`)
	session := e.Opens(p.Dir)
	e.Until("commands", func() bool { return e.Commands != nil })
	e.Chooses("No", nil)
	deep := strings.Repeat(`[`, 80) + strings.Repeat(`]`, 80)
	for i, bad := range []string{
		"", "garbage", "{", `{"jsonrpc":"2.0"}`, `{"id":1,"method":"session/list"}`, `[]`, "\x00\xff", `{"jsonrpc":"2.0","id":null,"method":"session/list"}`,
		`{"jsonrpc":"2.0","method":"session/list","method":"session/new","id":77}`, `{"jsonrpc":"2.0","id":{},"method":"x"}`,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":78,"method":"session/prompt","params":{"sessionId":%q,"prompt":%s}}`, session, deep),
		`{"jsonrpc":"2.0","id":79,"method":"session/list","params":{"cwd":"` + strings.Repeat("x", 9<<20) + `"}}`,
	} {
		e.Mu.Lock()
		before := len(e.Said)
		e.Mu.Unlock()
		e.Line(bad)
		e.Until(fmt.Sprintf("error %d", i), func() bool { return len(e.Said) > before })
		require.Contains(t, string(e.Said[before]), `"error":{"code":-32`, "%.80s", bad)
	}
	require.Contains(t, string(e.Said[len(e.Said)-1]), `"id":79,"error":`, "who waits hears of it")
	e.Line(`{"jsonrpc":"2.0","id":4711,"result":{}}`) // without a waiting request
	e.Line(`{"jsonrpc":"2.0","method":"session/sing"}`)
	require.Equal(t, "end_turn", e.Stops(e.Begin("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"/continue"},{"type":"text","text":" or not"}]}`, session))))
	_, _ = e.In.Write([]byte(`{"jsonrpc":"2.0","id":9,"meth`)) // half a message, and the end
	e.Leaves()
}

// Fifty sessions at once.
func TestManySessions(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "[[reply]]\nmessage = \"Here.\"\nchunk_size = 2\n")
	e := p.connects(`{}`)
	ids := map[string]int{}
	for range 50 {
		session := e.Opens(p.Dir)
		ids[session] = e.Prompts(session, "Where?")
	}
	require.Len(t, ids, 50)
	for _, id := range ids {
		require.Equal(t, "end_turn", e.Stops(id))
	}
	texts := map[string]string{}
	for _, u := range e.Updates {
		if u.Kind == "agent_message_chunk" {
			texts[u.Session] += u.Text
		}
	}
	require.Len(t, texts, 50)
	for _, text := range texts {
		require.Equal(t, "Here.", text)
	}
	e.Leaves()
	infos := p.list()
	require.Len(t, infos, 50)
	for _, info := range infos {
		require.NoError(t, info.Err)
		require.Nil(t, p.tail(string(info.ID)))
	}
}

// A mode that allows less holds at once, also for a call that the user allows after that.
func TestTightensInATurn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, editor.MakeFileScript)
	e := p.connects(`{}`)
	session := e.Opens(p.Dir)
	e.Chooses("Yes, this once", func(json.RawMessage) {
		e.Must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, session))
	})
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Make a file")))
	require.NoFileExists(t, filepath.Join(p.Dir, "made.txt"))
	e.Leaves()
	var subjects []string
	for _, event := range p.Load(conversation.ID(session)) {
		subjects = append(subjects, event.Subject)
	}
	require.Contains(t, strings.Join(subjects, "\n"), "made.txt: not run: plan mode")
}
