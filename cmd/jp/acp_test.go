package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// acpScript is a model that makes a file, and says that it did.
const acpScript = `
[[reply]]
reasoning = "A file."
message = "I make a file."
chunk_size = 4
[[reply.tool_call]]
name = "plan"
arguments = { steps = [{ text = "make it", state = "in_progress" }] }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply]]
message = "It is there."
chunk_size = 4
[[reply]]
message = "Again."
`

// acpPlace is a place whose model follows a script.
func acpPlace(t *testing.T, script string) *workspace {
	t.Helper()
	p := newPlace(t)
	p.write("../talk.toml", script)
	p.environ = append(p.environ, "JP_CFG_MODEL=script/"+filepath.Join(filepath.Dir(p.dir), "talk.toml"))
	return p
}

// A whole conversation: two prompts with a permission, the list, the session loaded by another
// process, and its end.
func TestACPConversation(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	e := p.connects(`{}`)
	session := e.opens(p.dir)
	asked := make(chan string, 1)
	e.chooses("Yes, this once", func(params json.RawMessage) {
		require.NoFileExists(t, filepath.Join(p.dir, "made.txt"))
		asked <- string(params)
	})
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Make a file")))
	question := <-asked
	require.Contains(t, question, `"title":"Run fs_create_file made.txt?"`)
	require.Contains(t, question, `"options":[{"optionId":"0","name":"No","kind":"reject_once"}`)
	require.FileExists(t, filepath.Join(p.dir, "made.txt"))
	live := kinds(e.updates)
	require.Equal(t, []string{
		"agent_thought_chunk A file.", "agent_message_chunk I make a file.", "tool_call pending", "tool_call pending",
		"tool_call_update completed", "plan ", "tool_call_update in_progress", "tool_call_update completed", "agent_message_chunk It is there.",
	}, live)
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "And again")))
	e.leaves()

	e = p.connects(`{}`)
	require.Contains(t, string(e.must("session/list", fmt.Sprintf(`{"cwd":%q}`, p.dir))), fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"title":"Make a file"`, session, p.dir))
	again := kinds(e.loads(session, p.dir))
	require.Equal(t, append(append([]string{"user_message_chunk Make a file"}, live...), "user_message_chunk And again", "agent_message_chunk Again."), again)
	for _, u := range e.updates {
		if u.Kind == "tool_call_update" && u.Status == "completed" && u.Call == "call-6" {
			require.Contains(t, string(u.Raw), fmt.Sprintf(`{"type":"diff","path":%q,"newText":"made\n"}`, filepath.Join(p.dir, "made.txt")))
		}
	}
	e.leaves()

	elsewhere := p.command("acp")
	elsewhere.Dir = t.TempDir()
	e = startEditor(t, elsewhere)
	e.must("initialize", `{"protocolVersion":1}`)
	require.JSONEq(t, `{"sessions":[]}`, string(e.must("session/list", `{}`)), "jp was not started in a repository")
	e.must("session/list", fmt.Sprintf(`{"cwd":%q}`, p.dir))
	e.must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, session))
	require.JSONEq(t, `{"sessions":[]}`, string(e.must("session/list", fmt.Sprintf(`{"cwd":%q}`, p.dir))))
	e.leaves()
}

// A session that has no prompt yet can be opened by another jp acp, until it is deleted.
func TestACPUnbegun(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, "[[reply]]\nmessage = \"Here.\"\n")
	e := p.connects(`{}`)
	session, other := e.opens(p.dir), e.opens(p.dir)
	e.leaves()
	for _, method := range []string{"session/resume", "session/load"} {
		e = p.connects(`{}`)
		e.must(method, fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, p.dir))
		e.must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, session))
		e.leaves()
	}
	e = p.connects(`{}`)
	require.Empty(t, kinds(e.loads(session, p.dir)))
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Where?")))
	e.leaves()
	e = p.connects(`{}`)
	require.Equal(t, []string{"user_message_chunk Where?", "agent_message_chunk Here."}, kinds(e.loads(session, p.dir)))
	e.must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, session))
	e.must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, other))
	for _, id := range []string{session, other} {
		e.fails(-32002, "", "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, p.dir))
	}
	left, err := os.ReadDir(filepath.Join(p.dir, ".git", "jp", "acp"))
	require.NoError(t, err)
	require.Empty(t, left)
	e.leaves()
}

// What a client may not do, and what it is told then.
func TestACPRefusals(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	e := startEditor(t, p.command("acp"))
	e.fails(-32600, "initialize comes first", "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, p.dir))
	var r struct{ ProtocolVersion int }
	require.NoError(t, json.Unmarshal(e.must("initialize", `{"protocolVersion":7}`), &r))
	require.Equal(t, 1, r.ProtocolVersion, "the client decides whether it speaks that")
	outside := t.TempDir()
	e.fails(-32602, "git init", "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, outside))
	e.fails(-32602, "is not absolute", "session/new", `{"cwd":"repo","mcpServers":[]}`)
	e.fails(-32602, "there is no folder", "session/new", `{"cwd":"/no/such/folder","mcpServers":[]}`)
	e.fails(-32602, `the parameters do not fit the protocol: "cwd" is a number (want a string)`, "session/new", `{"cwd":7}`)
	e.fails(-32601, `jp has no method "session/sing"`, "session/sing", `{}`)
	e.fails(-32002, "there is no session", "session/load", fmt.Sprintf(`{"sessionId":"../x","cwd":%q,"mcpServers":[]}`, p.dir))
	e.fails(-32002, "", "session/load", fmt.Sprintf(`{"sessionId":"jp-c17957779804-n03p","cwd":%q,"mcpServers":[]}`, p.dir))
	e.fails(-32002, "is not open", "session/prompt", `{"sessionId":"jp-c17957779804-n03p","prompt":[{"type":"text","text":"x"}]}`)
	session := e.opens(p.dir)
	e.fails(-32602, `there is no mode "edits" to choose`, "session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"edits"}`, session))
	e.fails(-32602, `there is no option "network"`, "session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"network","value":"on"}`, session))
	e.fails(-32602, `is not among the values`, "session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"model","value":"x/y"}`, session))
	e.fails(-32602, "the prompt is empty", "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[]}`, session))
	e.fails(-32602, `has the type "audio"`, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"audio"}]}`, session))
	e.fails(-32602, "not in base64", "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"image","data":"?","mimeType":"image/png"}]}`, session))
	e.leaves()

	p.environ = append(p.environ, "JP_CFG_MODEL=anthropic/some-model")
	e = p.connects(`{}`)
	e.fails(-32000, "ANTHROPIC_API_KEY is not set", "authenticate", `{"methodId":"key"}`)
	e.fails(-32602, "there is no method", "authenticate", `{"methodId":"browser"}`)
	session = e.opens(p.dir)
	a := e.answer(e.prompts(session, "Hello"))
	require.Equal(t, -32000, a.Error.Code)
	require.Contains(t, a.Error.Message, "export ANTHROPIC_API_KEY")
	e.leaves()
}

// Modes and options are what jp does without them, or what the user offers.
func TestACPModes(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	e := p.connects(`{"session":{"configOptions":{"boolean":{}}}}`, "--offer", "edits", "--offer", "network")
	session := e.opens(p.dir)
	e.must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"edits"}`, session))
	require.Contains(t, string(e.must("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"effort","value":"high"}`, session))), `"currentValue":"high"`)
	require.Contains(t, string(e.must("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"network","type":"boolean","value":true}`, session))), `"type":"boolean","currentValue":true`)
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Make a file")), "no permission is asked for")
	require.FileExists(t, filepath.Join(p.dir, "made.txt"))
	e.leaves()

	require.NoError(t, os.Remove(filepath.Join(p.dir, "made.txt")))
	e = p.connects(`{}`)
	session = e.opens(p.dir)
	e.must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, session))
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Make a file")))
	require.NoFileExists(t, filepath.Join(p.dir, "made.txt"), "a plan only reads")
	e.leaves()
}
