package acp_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/acp"
	"jp/conversation"
	"jp/internal/testing/editor"
	"jp/internal/testing/mcptest"
)

// callServer is a model that calls a tool of the MCP server fake.
const callServer = `
[[reply]]
message = "I look."
[[reply.tool_call]]
name = "mcp__fake__%s"
[[reply]]
message = "Over."
`

// named is an MCP server of a session by this name.
func (p *place) named(name string, args ...string) string {
	p.t.Helper()
	argv, environ := p.Server(args...)
	variables := []map[string]string{}
	for key, value := range environ {
		variables = append(variables, map[string]string{"name": key, "value": value})
	}
	text, err := json.Marshal(map[string]any{"name": name, "command": argv[0], "args": argv[1:], "env": variables})
	require.NoError(p.t, err)
	return string(text)
}

// A prompt may have a picture, a text and a link. The client gets the use of the context and the cost of the
// conversation.
func TestContent(t *testing.T) {
	t.Parallel()
	p := newPlace(t, `
context = 100000
[[reply]]
message = "I see."
usage = { input = 100, output = 20, cost_usd = "0.0021" }
`)
	e := p.connects(`{}`)
	session := e.Opens(p.Dir)
	picture := base64.StdEncoding.EncodeToString(mcptest.PNG)
	prompt := fmt.Sprintf(`{"sessionId":%q,"prompt":[
		{"type":"text","text":"Look at "},{"type":"resource_link","name":"README.md","uri":"file://%s/README.md"},
		{"type":"image","data":%q,"mimeType":"image/png"},
		{"type":"resource","resource":{"uri":"file://%s/notes.txt","text":"some notes"}}]}`, session, p.Dir, picture, p.Dir)
	require.Equal(t, "end_turn", e.Stops(e.Begin("session/prompt", strings.ReplaceAll(prompt, "\n", ""))))
	usage := ""
	for _, u := range e.Updates {
		if u.Kind == "usage_update" {
			usage = string(u.Raw)
		}
	}
	require.Contains(t, usage, `"size":100000,"cost":{"amount":0.0021,"currency":"USD"}`)
	var given []string
	for _, event := range p.Load(conversation.ID(session)) {
		if b, is := event.Body.(*conversation.ChatRequest); is {
			require.Equal(t, "Look at `README.md`", b.Content)
			for _, a := range b.Attachments {
				given = append(given, a.Name)
			}
		}
	}
	require.Equal(t, []string{"image-3", "notes.txt"}, given)
	e.Loads(session, p.Dir)
	e.Until("picture", func() bool {
		return slices.ContainsFunc(e.Updates, func(u editor.Update) bool {
			return u.Kind == "user_message_chunk" && strings.Contains(string(u.Raw), fmt.Sprintf(`"content":{"type":"image","data":%q,"mimeType":"image/png"}`, picture))
		})
	})
	e.Leaves()
}

// A denial may have a reason, if the client has forms, and a tool's question in words has an answer.
func TestForms(t *testing.T) {
	t.Parallel()
	p := newPlace(t, editor.MakeFileScript)
	e := p.connects(`{"elicitation":{"form":{}}}`)
	e.Chooses("No, and say why", nil)
	e.Requests["elicitation/create"] = func(json.RawMessage) (any, bool) {
		return map[string]any{"action": "accept", "content": map[string]any{"text": "use another name"}}, true
	}
	session := e.Opens(p.Dir)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Make a file")))
	require.NoFileExists(t, filepath.Join(p.Dir, "made.txt"))
	require.Contains(t, p.Git("log", "--all", "--format=%B"), "use another name")
	e.Leaves()
}

// The client learns of a compaction, if it can show that.
func TestCompaction(t *testing.T) {
	t.Parallel()
	script := ""
	for i := range 7 {
		script += fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"long.txt\", start_line = %d }\n", i+1)
	}
	p := newPlace(t, script+"[[reply]]\nmessage = \"Read.\"\n[[summary]]\nmessage = '{\"items\":[{\"text\":\"long.txt is long.\",\"cites\":[2]}]}'\n")
	p.Write("long.txt", strings.Repeat("a line of a file that is long\n", 300))
	e := p.connects(`{"session":{"compaction":{}}}`)
	session := e.Opens(p.Dir)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Read it")))
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "/compact what was read")))
	compacted := func(updates []editor.Update) (found int) {
		for _, u := range updates {
			if u.Kind == "compaction_update" && u.Status == "completed" {
				found++
			}
		}
		return found
	}
	require.Equal(t, 1, compacted(e.Updates), "%v", editor.Kinds(e.Updates))
	require.Equal(t, 1, compacted(e.Loads(session, p.Dir)))
	e.Leaves()
}

// An MCP server that the editor names runs if the user allows it when the editor starts jp.
func TestServers(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{false, true} {
		t.Run(fmt.Sprint(trusted), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, fmt.Sprintf(callServer, "run"))
			log := filepath.Join(t.TempDir(), "log")
			e := p.start(p.Dir, acp.Options{TrustMCP: trusted}).Introduce(`{"session":{"notices":{}}}`)
			e.Chooses("Yes, this once", nil)
			var s struct{ SessionID string }
			require.NoError(t, json.Unmarshal(e.Must("session/new", fmt.Sprintf(
				`{"cwd":%q,"mcpServers":[%s,{"type":"http","name":"far","url":"http://127.0.0.1:1/","headers":[{"name":"A","value":"$HOME"}]},{"name":"a\u001b[2J","command":""}]}`, p.Dir, p.named("fake", "rug", log))), &s))
			require.Equal(t, "end_turn", e.Stops(e.Prompts(s.SessionID, "Look")))
			done, err := os.ReadFile(log)
			if !trusted {
				require.ErrorIs(t, err, os.ErrNotExist, "it is not started")
			}
			require.Equal(t, trusted, strings.Contains(string(done), "tools/call"))
			told := strings.Join(noticed(e.Updates), "\n")
			require.Equal(t, !trusted, strings.Contains(told, "jp does not use the MCP server fake"), told)
			require.Contains(t, told, "jp does not use the MCP server far", "its header names a variable of jp's")
			require.Contains(t, told, `jp does not use the MCP server $'a\x1b[2J' of the editor`, "what a terminal would obey is shown as text")
			e.Leaves()
		})
	}
}

// A character that streams in pieces is sent whole.
func TestCharacters(t *testing.T) {
	t.Parallel()
	const text = "Grüße, 你好 – 🙂"
	p := newPlace(t, "[[reply]]\nmessage = \""+text+"\"\nchunk_size = 1\nraw_chunks = true\n")
	e := p.connects(`{}`)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(e.Opens(p.Dir), "Greet")))
	require.Equal(t, []string{"agent_message_chunk " + text}, editor.Kinds(e.Updates))
	e.Leaves()
}

// A client without notices gets each warning once, as a text. Capabilities of another form count as missing.
func TestWarnings(t *testing.T) {
	t.Parallel()
	p := newPlace(t, editor.MakeFileScript)
	e := p.connects(`{"session":{"notices":7},"fs":"x","elicitation":[]}`)
	e.Chooses("No", nil)
	var s struct{ SessionID string }
	require.NoError(t, json.Unmarshal(e.Must("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[{"name":"fake","command":"fake","args":[],"env":[]}]}`, p.Dir)), &s))
	require.Equal(t, "end_turn", e.Stops(e.Prompts(s.SessionID, "Look")))
	require.Equal(t, "end_turn", e.Stops(e.Prompts(s.SessionID, "Again")))
	warned := 0
	for _, u := range e.Updates {
		if strings.HasPrefix(u.Text, "jp does not use the MCP server fake") {
			require.Equal(t, "agent_message_chunk", u.Kind)
			require.Contains(t, string(u.Raw), `"_meta":{"jp":{"notice":true}}`)
			warned++
		}
	}
	require.Equal(t, 1, warned)
	e.Leaves()
}

// The prompts of a server are commands once it has run and its tools are approved.
func TestServerPrompts(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fmt.Sprintf(callServer, "echo")+"[[reply]]\nmessage = \"Hello.\"\n")
	e := p.start(p.Dir, acp.Options{TrustMCP: true}).Introduce(`{}`)
	e.Chooses("Yes, this once", nil)
	var s struct{ SessionID string }
	require.NoError(t, json.Unmarshal(e.Must("session/new", fmt.Sprintf(
		`{"cwd":%q,"mcpServers":[%s]}`, p.Dir, p.named("fake", "plain"))), &s))
	e.Until("commands", func() bool { return e.Commands != nil })
	require.NotContains(t, string(e.Commands), "greet", "it has not run")
	require.Equal(t, "end_turn", e.Stops(e.Prompts(s.SessionID, "Look")))
	require.Contains(t, string(e.Commands), `{"name":"fake:greet","description":"Greet someone","input":{"hint":"NAME [HOW]"}}`)
	a := e.Response(e.Prompts(s.SessionID, "/fake:greet"))
	require.NotNil(t, a.Error)
	require.Equal(t, -32602, a.Error.Code)
	require.Contains(t, a.Error.Message, "NAME is missing")
	require.Equal(t, "end_turn", e.Stops(e.Prompts(s.SessionID, "/fake:greet Ann warmly")))
	told := editor.Kinds(e.Loads(s.SessionID, p.Dir))
	require.Contains(t, strings.Join(told, "|"), "user_message_chunk /fake:greet Ann warmly\n\nThe prompt greet of the MCP server fake:\n\n/quit\nGreet Ann warmly")
	e.Leaves()
}

// A call of a delegate names the delegate's conversation, and shows the results of its tools, live and
// afterwards.
func TestDelegate(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	child := p.Model("[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"a.txt\", content = \"a\\n\" }\n[[reply]]\nmessage = \"It is made.\"\n")
	parent := p.Model(fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"delegate\"\narguments = { task = \"Work on it\", model = %q }\n[[reply]]\nmessage = \"Over.\"\n", child))
	p.Environ = append(p.Environ, "JP_CFG_MODEL="+parent)
	e := p.connects(`{}`)
	var questions []string
	e.Chooses("Yes, this once", func(params json.RawMessage) { questions = append(questions, string(params)) })
	session := e.Opens(p.Dir)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Go")))
	require.Len(t, questions, 2)
	require.Contains(t, questions[1], `"toolCallId":"question-`, "the child's question")
	works := ""
	for _, info := range p.list() {
		if string(info.Summary.Parent) == session {
			works = string(info.ID)
		}
	}
	require.NotEmpty(t, works)
	delegate := func(updates []editor.Update) (all []string) {
		for _, u := range updates {
			if u.Kind == "tool_call_update" && !strings.HasPrefix(u.Call, "question-") {
				require.Contains(t, string(u.Raw), `"_meta":{"jp":{"conversation":"`+works)
				all = append(all, u.Status+" "+string(u.Raw))
			}
		}
		return all
	}
	live := delegate(e.Updates)
	require.Contains(t, live[0], "in_progress")
	require.Contains(t, strings.Join(live, "\n"), `\n· create a.txt`)
	require.Contains(t, live[len(live)-1], "It is made.")
	require.Contains(t, live[len(live)-1], `"text":"Conversation `+works)
	again := delegate(e.Loads(session, p.Dir))
	require.Len(t, again, 2)
	require.Equal(t, live[len(live)-1], again[1])
	require.Contains(t, strings.Join(editor.Kinds(e.Loads(works, p.Dir)), "|"), "user_message_chunk Work on it")
	e.Leaves()
}

// noticed are those of notices.
func noticed(updates []editor.Update) (all []string) {
	for _, u := range updates {
		if u.Kind == "notice" {
			all = append(all, u.Title)
		}
	}
	return all
}
