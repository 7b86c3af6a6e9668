package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool/mcp/mcptest"
)

// A prompt may have a picture, a text and a link. The client is told how full the context is, and what the conversation cost.
func TestACPContent(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, `
context = 100000
[[reply]]
message = "I see."
usage = { input = 100, output = 20, cost_usd = "0.0021" }
`)
	e := p.connects(`{}`)
	session := e.opens(p.dir)
	picture := base64.StdEncoding.EncodeToString(mcptest.PNG)
	prompt := fmt.Sprintf(`{"sessionId":%q,"prompt":[
		{"type":"text","text":"Look at "},{"type":"resource_link","name":"README.md","uri":"file://%s/README.md"},
		{"type":"image","data":%q,"mimeType":"image/png"},
		{"type":"resource","resource":{"uri":"file://%s/notes.txt","text":"some notes"}}]}`, session, p.dir, picture, p.dir)
	require.Equal(t, "end_turn", e.stops(e.begin("session/prompt", strings.ReplaceAll(prompt, "\n", ""))))
	usage := ""
	for _, u := range e.updates {
		if u.Kind == "usage_update" {
			usage = string(u.Raw)
		}
	}
	require.Contains(t, usage, `"size":100000,"cost":{"amount":0.0021,"currency":"USD"}`)
	shown := p.jp("print", session).stdout
	require.Contains(t, shown, "Look at `README.md`")
	require.Contains(t, shown, "Attached: image-3, notes.txt")
	e.loads(session, p.dir)
	e.wait("picture", func() bool {
		return slices.ContainsFunc(e.updates, func(u acpUpdate) bool {
			return u.Kind == "user_message_chunk" && strings.Contains(string(u.Raw), fmt.Sprintf(`"content":{"type":"image","data":%q,"mimeType":"image/png"}`, picture))
		})
	})
	e.leaves()
}

// A no may have a reason, where the client has forms, and a tool's question in words has an answer.
func TestACPForms(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	e := p.connects(`{"elicitation":{"form":{}}}`)
	e.chooses("No, and say why", nil)
	e.requests["elicitation/create"] = func(json.RawMessage) (any, bool) {
		return map[string]any{"action": "accept", "content": map[string]any{"text": "use another name"}}, true
	}
	session := e.opens(p.dir)
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Make a file")))
	require.NoFileExists(t, filepath.Join(p.dir, "made.txt"))
	require.Contains(t, p.git("log", "--all", "--format=%B"), "use another name")
	e.leaves()
}

// The client is told that room was made, where it shows that.
func TestACPCompaction(t *testing.T) {
	t.Parallel()
	script := ""
	for i := range 7 {
		script += fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"long.txt\", start_line = %d }\n", i+1)
	}
	p := acpPlace(t, script+"[[reply]]\nmessage = \"Read.\"\n[[summary]]\nmessage = '{\"items\":[{\"text\":\"long.txt is long.\",\"cites\":[2]}]}'\n")
	p.write("long.txt", numbered(300))
	e := p.connects(`{"session":{"compaction":{}}}`)
	session := e.opens(p.dir)
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Read it")))
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "/compact what was read")))
	compacted := func(updates []acpUpdate) (found int) {
		for _, u := range updates {
			if u.Kind == "compaction_update" && u.Status == "completed" {
				found++
			}
		}
		return found
	}
	require.Equal(t, 1, compacted(e.updates), "%v", kinds(e.updates))
	require.Equal(t, 1, compacted(e.loads(session, p.dir)))
	e.leaves()
}

// An MCP server that the editor names runs if the user says so where the editor starts jp.
func TestACPServers(t *testing.T) {
	t.Parallel()
	fake, err := exec.LookPath("mcp-fake")
	require.NoError(t, err)
	for _, trusted := range []bool{false, true} {
		t.Run(fmt.Sprint(trusted), func(t *testing.T) {
			t.Parallel()
			p := acpPlace(t, callRun)
			args := []string{}
			if trusted {
				args = []string{"--trust-client-mcp"}
			}
			e := p.connects(`{"session":{"notices":{}}}`, args...)
			e.chooses("Yes, this once", nil)
			var s struct{ SessionID string }
			require.NoError(t, json.Unmarshal(e.must("session/new", fmt.Sprintf(
				`{"cwd":%q,"mcpServers":[{"name":"fake","command":%q,"args":["rug","../log"],"env":[]},{"type":"http","name":"far","url":"http://127.0.0.1:1/","headers":[{"name":"A","value":"$HOME"}]},{"name":"a\u001b[2J","command":""}]}`, p.dir, fake)), &s))
			require.Equal(t, "end_turn", e.stops(e.prompts(s.SessionID, "Look")))
			require.Equal(t, trusted, strings.Contains(p.serverLog(), "tools/call"))
			told := strings.Join(noticed(e.updates), "\n")
			require.Equal(t, !trusted, strings.Contains(told, "jp does not use the MCP server fake"), told)
			require.Contains(t, told, "jp does not use the MCP server far", "its header names a variable of jp's")
			require.Contains(t, told, `jp does not use the MCP server $'a\x1b[2J' of the editor`, "what a terminal would obey is shown as text")
			e.leaves()
		})
	}
}

// A character that streams in pieces is sent whole.
func TestACPCharacters(t *testing.T) {
	t.Parallel()
	const text = "Grüße, 你好 – 🙂"
	p := acpPlace(t, "[[reply]]\nmessage = \""+text+"\"\nchunk_size = 1\nraw_chunks = true\n")
	e := p.connects(`{}`)
	require.Equal(t, "end_turn", e.stops(e.prompts(e.opens(p.dir), "Greet")))
	require.Equal(t, []string{"agent_message_chunk " + text}, kinds(e.updates))
	e.leaves()
}

// A client that shows no notices gets each warning once, as a text. Capabilities of another form count as missing.
func TestACPWarnings(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	e := p.connects(`{"session":{"notices":7},"fs":"x","elicitation":[]}`)
	e.chooses("No", nil)
	var s struct{ SessionID string }
	require.NoError(t, json.Unmarshal(e.must("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[{"name":"fake","command":"fake","args":[],"env":[]}]}`, p.dir)), &s))
	require.Equal(t, "end_turn", e.stops(e.prompts(s.SessionID, "Look")))
	require.Equal(t, "end_turn", e.stops(e.prompts(s.SessionID, "Again")))
	warned := 0
	for _, u := range e.updates {
		if strings.HasPrefix(u.Text, "jp does not use the MCP server fake") {
			require.Equal(t, "agent_message_chunk", u.Kind)
			require.Contains(t, string(u.Raw), `"_meta":{"jp":{"notice":true}}`)
			warned++
		}
	}
	require.Equal(t, 1, warned)
	e.leaves()
}

// The prompts of a server are commands once it has run and its tools are approved.
func TestACPServerPrompts(t *testing.T) {
	t.Parallel()
	fake, err := exec.LookPath("mcp-fake")
	require.NoError(t, err)
	p := acpPlace(t, strings.ReplaceAll(callRun, "fake__run", "fake__echo")+"[[reply]]\nmessage = \"Hello.\"\n")
	e := p.connects(`{}`, "--trust-client-mcp")
	e.chooses("Yes, this once", nil)
	var s struct{ SessionID string }
	require.NoError(t, json.Unmarshal(e.must("session/new", fmt.Sprintf(
		`{"cwd":%q,"mcpServers":[{"name":"fake","command":%q,"args":["plain"],"env":[]}]}`, p.dir, fake)), &s))
	e.wait("commands", func() bool { return e.commands != nil })
	require.NotContains(t, string(e.commands), "greet", "it has not run")
	require.Equal(t, "end_turn", e.stops(e.prompts(s.SessionID, "Look")))
	require.Contains(t, string(e.commands), `{"name":"fake:greet","description":"Greet someone","input":{"hint":"NAME [HOW]"}}`)
	a := e.answer(e.prompts(s.SessionID, "/fake:greet"))
	require.NotNil(t, a.Error)
	require.Equal(t, -32602, a.Error.Code)
	require.Contains(t, a.Error.Message, "NAME is missing")
	require.Equal(t, "end_turn", e.stops(e.prompts(s.SessionID, "/fake:greet Ann warmly")))
	told := kinds(e.loads(s.SessionID, p.dir))
	require.Contains(t, strings.Join(told, "|"), "user_message_chunk /fake:greet Ann warmly\n\nThe prompt greet of the MCP server fake:\n\n/quit\nGreet Ann warmly")
	e.leaves()
}

// How far a server's tool is, stands in the live line of a terminal, and in the updates of an editor.
func TestServerProgress(t *testing.T) {
	t.Parallel()
	const far = "1/2, half of it"
	for name, follow := range map[string]func(p *workspace, over func()){
		"terminal": func(p *workspace, over func()) {
			s := p.sit(80, "query", "-y", "Look")
			s.WaitFor(far)
			over()
			require.Zero(t, s.exit())
			require.NotContains(t, s.Text(), far)
		},
		"editor": func(p *workspace, over func()) {
			e := p.connects(`{}`)
			e.chooses("Yes, this once", nil)
			session := e.opens(p.dir)
			id := e.prompts(session, "Look")
			e.wait(far, func() bool {
				last := len(e.updates) - 1
				return last >= 0 && e.updates[last].Status == "in_progress" && strings.Contains(string(e.updates[last].Raw), far)
			})
			over()
			require.Equal(t, "end_turn", e.stops(id))
			e.leaves()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := acpPlace(t, callRun)
			p.configure("[mcp.fake]\ncommand = [\"mcp-fake\", \"steps\", \"../log\"]\n")
			require.Zero(t, p.jp("trust", "--mcp", "fake", "-y").exit)
			follow(p, func() { p.write("../log.go", "") })
		})
	}
}

// A call of a delegate names the delegate's conversation, and shows what its tools come to, live and afterwards.
func TestACPDelegate(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, "[[reply]]\n[[reply.tool_call]]\nname = \"delegate\"\narguments = { task = \"Work on it\", model = \"script/../child.toml\" }\n[[reply]]\nmessage = \"Over.\"\n")
	p.write("../child.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"a.txt\", content = \"a\\n\" }\n[[reply]]\nmessage = \"It is made.\"\n")
	e := p.connects(`{}`)
	var questions []string
	e.chooses("Yes, this once", func(params json.RawMessage) { questions = append(questions, string(params)) })
	session := e.opens(p.dir)
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Go")))
	require.Len(t, questions, 2)
	require.Contains(t, questions[1], `"toolCallId":"question-`, "the child's question")
	_, below, _ := strings.Cut(p.jp("ls", "--tree").stdout, "└─")
	child := strings.Fields(below)[0]
	delegate := func(updates []acpUpdate) (all []string) {
		for _, u := range updates {
			if u.Kind == "tool_call_update" && !strings.HasPrefix(u.Call, "question-") {
				require.Contains(t, string(u.Raw), `"_meta":{"jp":{"conversation":"`+child)
				all = append(all, u.Status+" "+string(u.Raw))
			}
		}
		return all
	}
	live := delegate(e.updates)
	require.Contains(t, live[0], "in_progress")
	require.Contains(t, strings.Join(live, "\n"), `\n· fs_create_file a.txt`)
	require.Contains(t, live[len(live)-1], "It is made.")
	require.Contains(t, live[len(live)-1], `"text":"Conversation `+child)
	again := delegate(e.loads(session, p.dir))
	require.Len(t, again, 2)
	require.Equal(t, live[len(live)-1], again[1])
	require.Contains(t, strings.Join(kinds(e.loads(child, p.dir)), "|"), "user_message_chunk Work on it")
	e.leaves()
}

// noticed are those of notices.
func noticed(updates []acpUpdate) (all []string) {
	for _, u := range updates {
		if u.Kind == "notice" {
			all = append(all, u.Title)
		}
	}
	return all
}
