package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// waitingScript is a model that runs a command that does not end by itself.
const waitingScript = `
[[reply]]
message = "I wait."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo waiting; exec sleep 600"] }
[[reply]]
message = "Over."
times = 9
`

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
func TestACPCancel(t *testing.T) {
	t.Parallel()
	cancel := func(e *editor, session string) {
		e.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, session))
	}
	for name, test := range map[string]struct {
		script string
		until  func(e *editor) // the moment of the cancellation
		stays  bool            // the client answers no question
	}{
		"at a question": {waitingScript, func(e *editor) {
			e.wait("question", func() bool { return strings.Contains(string(e.said[len(e.said)-1]), "request_permission") })
		}, true},
		"at a tool": {waitingScript, func(e *editor) {
			e.wait("tool", func() bool {
				return len(e.updates) > 0 && strings.Contains(string(e.updates[len(e.updates)-1].Raw), "in_progress")
			})
		}, false},
		"at an answer": {haltingScript, func(e *editor) {
			e.wait("text", func() bool { return len(e.updates) > 0 })
		}, false},
		"at once": {waitingScript, func(*editor) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := acpPlace(t, test.script)
			e := p.connects(`{}`)
			e.requests["session/request_permission"] = func(json.RawMessage) (any, bool) { return nil, false }
			if !test.stays {
				e.chooses("Yes, this once", nil)
			}
			session := e.opens(p.dir)
			id := e.prompts(session, "Wait")
			test.until(e)
			cancel(e, session)
			require.Equal(t, "cancelled", e.stops(id))
			if name == "at a question" {
				e.wait("withdrawal", func() bool {
					for _, m := range e.said {
						if strings.Contains(string(m), `"$/cancel_request"`) {
							return true
						}
					}
					return false
				})
			}
			cancel(e, session) // nothing runs
			e.leaves()
			require.NotContains(t, p.jp("status").stdout, "incomplete", "no turn is open")
			r := p.jp("ls", "--json")
			require.NotContains(t, r.stdout, `"state":"interrupted"`, r.stdout)
		})
	}
}

// Who goes away while a question waits, leaves it open. The next jp acp shows that, and goes on with the turn, or takes it
// back.
func TestACPInterrupted(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	e := p.connects(`{}`)
	asked := make(chan bool, 1)
	e.requests["session/request_permission"] = func(json.RawMessage) (any, bool) {
		asked <- true
		return nil, false
	}
	session := e.opens(p.dir)
	e.prompts(session, "Make a file")
	<-asked
	e.leaves()

	e = p.connects(`{"session":{"notices":{}}}`)
	told := e.loads(session, p.dir)
	last := told[len(told)-1]
	require.Equal(t, "notice", last.Kind)
	require.Contains(t, last.Title, "Turn 1 was interrupted")
	var about []string // the calls that were asked about
	choose := func(wanted ...string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.requests["session/request_permission"] = func(params json.RawMessage) (any, bool) {
			var q struct {
				ToolCall struct{ ToolCallID string }
				Options  []struct{ OptionID, Name, Kind string }
			}
			require.NoError(t, json.Unmarshal(params, &q))
			require.Equal(t, "reject_once", q.Options[0].Kind)
			e.mu.Lock()
			about = append(about, q.ToolCall.ToolCallID)
			e.mu.Unlock()
			for _, o := range q.Options {
				for _, w := range wanted {
					if strings.HasPrefix(o.Name, w) {
						return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": o.OptionID}}, true
					}
				}
			}
			return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "77"}}, true
		}
	}
	choose("Leave it")
	a := e.answer(e.prompts(session, "And now?"))
	require.NotNil(t, a.Error, "%s", a.Result)
	require.NoFileExists(t, filepath.Join(p.dir, "made.txt"))
	choose("finish turn 1", "Yes, this once")
	about = nil
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "And now?")))
	require.FileExists(t, filepath.Join(p.dir, "made.txt"))
	require.Len(t, about, 2)
	require.Equal(t, "call-6", about[1], "the call that the client knows")
	ended := ""
	for _, u := range e.updates {
		if u.Call == about[0] {
			ended += u.Status
		}
	}
	require.Equal(t, "completed", ended, "the call that was made up for jp's own question")
	require.Contains(t, strings.Join(kinds(e.loads(session, p.dir)), "\n"), "user_message_chunk And now?")
	e.leaves()
}

// Requests that come before the end of the input are answered. A prompt that runs then is interrupted.
func TestACPInputEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ask  func(e *editor, session string) []int
		want string // of each answer
	}{
		"lists": {func(e *editor, session string) (ids []int) {
			for range 9 {
				ids = append(ids, e.begin("session/list", fmt.Sprintf(`{"cwd":%q}`, e.cmd.Dir)))
			}
			return ids
		}, `"sessions":`},
		"a new session": {func(e *editor, session string) []int {
			return []int{e.begin("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, e.cmd.Dir))}
		}, `"sessionId":`},
		"a mode": {func(e *editor, session string) []int {
			return []int{e.begin("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, session))}
		}, `{}`},
		"a refused request": {func(e *editor, session string) []int {
			return []int{e.begin("session/sing", `{}`)}
		}, "jp has no method"},
		"a prompt at once": {func(e *editor, session string) []int {
			return []int{e.prompts(session, "Wait")}
		}, "interrupted by SIGHUP"},
		"a prompt that runs": {func(e *editor, session string) []int {
			id := e.prompts(session, "Wait")
			e.wait("text", func() bool { return len(e.updates) > 0 })
			return []int{id}
		}, "interrupted by SIGHUP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := acpPlace(t, haltingScript)
			e := p.connects(`{}`)
			ids := test.ask(e, e.opens(p.dir))
			e.leaves()
			for _, id := range ids {
				a := e.answer(id)
				said := string(a.Result)
				if a.Error != nil {
					said = a.Error.Message
				}
				require.Contains(t, said, test.want)
			}
		})
	}
}

// An answer from another place withdraws the request.
func TestACPAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	e := p.connects(`{}`)
	asked := make(chan bool, 1)
	e.requests["session/request_permission"] = func(json.RawMessage) (any, bool) {
		asked <- true
		return nil, false
	}
	session := e.opens(p.dir)
	id := e.prompts(session, "Make a file")
	<-asked
	r := p.jp("answer", session, "y")
	require.Zero(t, r.exit, r.stderr)
	require.Equal(t, "end_turn", e.stops(id))
	require.FileExists(t, filepath.Join(p.dir, "made.txt"))
	require.Contains(t, fmt.Sprintf("%s", e.said), `"method":"$/cancel_request"`)
	e.leaves()
}

// A client that cannot ask, one that answers with what was not offered, and one that says no.
func TestACPAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		option string // "": the client has no such method
		stop   string // "": the turn waits
	}{
		"no way to ask": {"", ""},
		"not offered":   {"allow_everything", ""},
		"no":            {"No", "end_turn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := acpPlace(t, acpScript)
			p.environ = append(p.environ, "JP_CFG_POLICY__TIMEOUT=50ms", "JP_CFG_POLICY__DETACHED=queue")
			e := p.connects(`{"session":{"notices":{}}}`)
			if test.option != "" {
				e.chooses(test.option, nil)
			}
			session := e.opens(p.dir)
			id := e.prompts(session, "Make a file")
			if test.stop == "" {
				a := e.answer(id)
				require.NotNil(t, a.Error, "%s", a.Result)
				require.Contains(t, a.Error.Message, "waits for an answer: the user gave none, and no answer came within 50 ms")
				require.Contains(t, a.Error.Message, "jp answer")
				require.Contains(t, strings.Join(noticed(e.updates), "\n"), "The question waits for one from elsewhere")
				require.Equal(t, 1, strings.Count(fmt.Sprintf("%s", e.said), `"method":"session/request_permission"`), "it is asked once")
			} else {
				require.Equal(t, test.stop, e.stops(id))
			}
			require.NoFileExists(t, filepath.Join(p.dir, "made.txt"))
			e.leaves()
		})
	}
}

// "Always" at a command adds a rule of the user's own, which the next call of it needs no question for.
func TestACPAlways(t *testing.T) {
	t.Parallel()
	call := "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"git\", \"tag\", \"%s\"] }\n[[reply]]\nmessage = \"Over.\"\n"
	p := acpPlace(t, fmt.Sprintf(call, "a b")+fmt.Sprintf(call, "a b"))
	e := p.connects(`{"session":{"notices":{}}}`)
	asked := make(chan string, 9)
	e.chooses("Yes, and always what begins with: git tag 'a b'", func(params json.RawMessage) { asked <- string(params) })
	session := e.opens(p.dir)
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Tag")))
	require.Contains(t, <-asked, `"name":"Yes, and always what begins with: git tag 'a b'","kind":"allow_always"}]`, "it stands last")
	require.Contains(t, strings.Join(noticed(e.updates), "\n"), "From now on git tag 'a b' runs without a question in this repository: ")
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "And again")))
	require.Empty(t, asked)
	require.Contains(t, p.jp("config", "show").stdout, `["git", "tag", "a b"]`)
	e.leaves()
}

// A file with changes in the editor that are not saved stays as it is. What the editor has is told with what is read.
func TestACPBuffers(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, `
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
arguments = { path = "../talk.toml" }
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "link.txt", edits = [{ old = "reply", new = "x" }] }
[[reply]]
message = "Over."
`)
	require.NoError(t, os.Symlink("../talk.toml", filepath.Join(p.dir, "link.txt")))
	e := p.connects(`{"fs":{"readTextFile":true}}`, "--offer", "edits")
	var mu sync.Mutex
	asked := map[string]int{}
	e.requests["fs/read_text_file"] = func(params json.RawMessage) (any, bool) {
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
	e.chooses("Yes, this once", nil) // edits asks about a link that leads out of the working tree; the tool refuses it
	session := e.opens(p.dir)
	e.must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"edits"}`, session))
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Work")))
	text, err := os.ReadFile(filepath.Join(p.dir, "README.md"))
	require.NoError(t, err)
	require.Equal(t, "# A repository\n", string(text))
	require.FileExists(t, filepath.Join(p.dir, "made.txt"), "the editor has no other text of it")
	var results []string
	for _, u := range e.updates {
		if u.Kind == "tool_call_update" && u.Status != "in_progress" {
			results = append(results, string(u.Raw))
		}
	}
	all := strings.Join(results, "\n")
	require.Contains(t, all, "unsaved")
	require.Contains(t, all, "has changes in the user's editor that are not saved, so nothing was changed")
	for path := range asked {
		require.Contains(t, []string{filepath.Join(p.dir, "README.md"), filepath.Join(p.dir, "made.txt")}, path, "the editor is asked about files of the working tree")
	}
	e.leaves()
}

// Commands of jp, and a fork.
func TestACPCommands(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	p.write(".agents/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidy up.\n---\nTidy.\n")
	p.git("add", ".")
	p.git("commit", "-q", "-m", "skill")
	require.Zero(t, p.jp("skills", "--approve", "tidy").exit)
	e := p.connects(`{"_meta":{"_jp/fork":true}}`, "--offer", "edits")
	session := e.opens(p.dir)
	e.wait("commands", func() bool { return strings.Contains(string(e.commands), `"name":"tidy"`) })
	require.Contains(t, string(e.commands), `"name":"undo"`)
	e.must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"edits"}`, session))
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Make a file")))
	made := filepath.Join(p.dir, "made.txt")
	require.FileExists(t, made)
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "/undo")))
	require.NoFileExists(t, made)
	require.Contains(t, kinds(e.updates)[len(kinds(e.updates))-1], "Brought back made.txt")
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "/continue")))
	require.Contains(t, kinds(e.updates)[len(kinds(e.updates))-1], "No turn is incomplete.")

	var fork struct{ SessionID string }
	require.NoError(t, json.Unmarshal(e.must("_jp/fork", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, p.dir)), &fork))
	require.NotEqual(t, session, fork.SessionID)
	require.Equal(t, "end_turn", e.stops(e.prompts(fork.SessionID, "/tidy the files")))
	require.Contains(t, kinds(e.updates)[len(kinds(e.updates))-1], "Again.")
	require.Contains(t, p.jp("ls").stdout, "Make a file")
	e.must("session/close", fmt.Sprintf(`{"sessionId":%q}`, session))
	e.fails(-32002, "is not open", "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[]}`, session))
	e.leaves()
}

// Garbage between messages gets an error, and the next message counts.
func TestACPBadFrames(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	e := p.connects(`{}`)
	session := e.opens(p.dir)
	e.wait("commands", func() bool { return e.commands != nil })
	e.chooses("No", nil)
	deep := strings.Repeat(`[`, 80) + strings.Repeat(`]`, 80)
	for i, bad := range []string{
		"", "garbage", "{", `{"jsonrpc":"2.0"}`, `{"id":1,"method":"session/list"}`, `[]`, "\x00\xff", `{"jsonrpc":"2.0","id":null,"method":"session/list"}`,
		`{"jsonrpc":"2.0","method":"session/list","method":"session/new","id":77}`, `{"jsonrpc":"2.0","id":{},"method":"x"}`,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":78,"method":"session/prompt","params":{"sessionId":%q,"prompt":%s}}`, session, deep),
		`{"jsonrpc":"2.0","id":79,"method":"session/list","params":{"cwd":"` + strings.Repeat("x", 9<<20) + `"}}`,
	} {
		e.mu.Lock()
		before := len(e.said)
		e.mu.Unlock()
		e.line(bad)
		e.wait(fmt.Sprintf("error %d", i), func() bool { return len(e.said) > before })
		require.Contains(t, string(e.said[before]), `"error":{"code":-32`, "%.80s", bad)
	}
	require.Contains(t, string(e.said[len(e.said)-1]), `"id":79,"error":`, "who waits hears of it")
	e.line(`{"jsonrpc":"2.0","id":4711,"result":{}}`) // which no request waits for
	e.line(`{"jsonrpc":"2.0","method":"session/sing"}`)
	require.Equal(t, "end_turn", e.stops(e.begin("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"/continue"},{"type":"text","text":" or not"}]}`, session))))
	_, _ = e.in.Write([]byte(`{"jsonrpc":"2.0","id":9,"meth`)) // half a message, and the end
	e.leaves()
}

// Fifty sessions at once.
func TestACPManySessions(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, "[[reply]]\nmessage = \"Here.\"\nchunk_size = 2\n")
	e := p.connects(`{}`)
	ids := map[string]int{}
	for range 50 {
		session := e.opens(p.dir)
		ids[session] = e.prompts(session, "Where?")
	}
	require.Len(t, ids, 50)
	for _, id := range ids {
		require.Equal(t, "end_turn", e.stops(id))
	}
	texts := map[string]string{}
	for _, u := range e.updates {
		if u.Kind == "agent_message_chunk" {
			texts[u.Session] += u.Text
		}
	}
	require.Len(t, texts, 50)
	for _, text := range texts {
		require.Equal(t, "Here.", text)
	}
	e.leaves()
	require.Zero(t, p.jp("verify", "--all").exit)
}

// A mode that allows less holds at once, also for a call that the user allows after that.
func TestACPTightensInATurn(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	e := p.connects(`{}`)
	session := e.opens(p.dir)
	e.chooses("Yes, this once", func(json.RawMessage) {
		e.must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, session))
	})
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Make a file")))
	require.NoFileExists(t, filepath.Join(p.dir, "made.txt"))
	e.leaves()
	require.Contains(t, p.jp("log", session).stdout, "made.txt: not run: plan mode")
}
