package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/acp"
	"jp/internal/testing/editor"
)

// A whole conversation: two prompts with a permission, the list, the session loaded by another
// process, and its end.
func TestConversation(t *testing.T) {
	t.Parallel()
	p := newPlace(t, editor.MakeFileScript)
	e := p.connects(`{}`)
	session := e.Opens(p.Dir)
	asked := make(chan string, 1)
	e.Chooses("Yes, this once", func(params json.RawMessage) {
		require.NoFileExists(t, filepath.Join(p.Dir, "made.txt"))
		asked <- string(params)
	})
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Make a file")))
	question := <-asked
	require.Contains(t, question, `"title":"create made.txt"`)
	require.Contains(t, question, `"options":[{"optionId":"0","name":"No","kind":"reject_once"}`)
	require.FileExists(t, filepath.Join(p.Dir, "made.txt"))
	live := editor.Kinds(e.Updates)
	require.Equal(t, []string{
		"agent_thought_chunk A file.", "agent_message_chunk I make a file.", "tool_call pending", "tool_call pending",
		"tool_call_update completed", "plan ", "tool_call_update in_progress", "tool_call_update completed", "agent_message_chunk It is there.",
	}, live)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "And again")))
	e.Leaves()

	e = p.connects(`{}`)
	require.Contains(t, string(e.Must("session/list", fmt.Sprintf(`{"cwd":%q}`, p.Dir))), fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"title":"Make a file"`, session, p.Dir))
	again := editor.Kinds(e.Loads(session, p.Dir))
	require.Equal(t, append(append([]string{"user_message_chunk Make a file"}, live...), "user_message_chunk And again", "agent_message_chunk Again."), again)
	for _, u := range e.Updates {
		if u.Kind == "tool_call_update" && u.Status == "completed" && u.Call == "call-6" {
			require.Contains(t, string(u.Raw), fmt.Sprintf(`{"type":"diff","path":%q,"newText":"made\n"}`, filepath.Join(p.Dir, "made.txt")))
		}
	}
	e.Leaves()

	e = p.start(t.TempDir(), acp.Options{}).Introduce(`{}`)
	require.JSONEq(t, `{"sessions":[]}`, string(e.Must("session/list", `{}`)), "jp was not started in a repository")
	e.Must("session/list", fmt.Sprintf(`{"cwd":%q}`, p.Dir))
	e.Must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, session))
	require.JSONEq(t, `{"sessions":[]}`, string(e.Must("session/list", fmt.Sprintf(`{"cwd":%q}`, p.Dir))))
	e.Leaves()
}

// A session without a prompt can be opened by another jp acp, until it is deleted.
func TestUnbegun(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "[[reply]]\nmessage = \"Here.\"\n")
	e := p.connects(`{}`)
	session, other := e.Opens(p.Dir), e.Opens(p.Dir)
	e.Leaves()
	for _, method := range []string{"session/resume", "session/load"} {
		e = p.connects(`{}`)
		e.Must(method, fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, p.Dir))
		e.Must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, session))
		e.Leaves()
	}
	e = p.connects(`{}`)
	require.Empty(t, editor.Kinds(e.Loads(session, p.Dir)))
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Where?")))
	e.Leaves()
	e = p.connects(`{}`)
	require.Equal(t, []string{"user_message_chunk Where?", "agent_message_chunk Here."}, editor.Kinds(e.Loads(session, p.Dir)))
	e.Must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, session))
	e.Must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, other))
	for _, id := range []string{session, other} {
		e.Fails(-32002, "", "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, p.Dir))
	}
	left, err := os.ReadDir(filepath.Join(p.Dir, ".git", "jp", "acp"))
	require.NoError(t, err)
	require.Empty(t, left)
	e.Leaves()
}

// The errors for forbidden requests of a client.
func TestRefusals(t *testing.T) {
	t.Parallel()
	p := newPlace(t, editor.MakeFileScript)
	e := p.start(p.Dir, acp.Options{})
	e.Fails(-32600, "initialize comes first", "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, p.Dir))
	var r struct{ ProtocolVersion int }
	require.NoError(t, json.Unmarshal(e.Must("initialize", `{"protocolVersion":7}`), &r))
	require.Equal(t, 1, r.ProtocolVersion, "the client decides whether it speaks that")
	outside := t.TempDir()
	e.Fails(-32602, "git init", "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, outside))
	e.Fails(-32602, "is not absolute", "session/new", `{"cwd":"repo","mcpServers":[]}`)
	e.Fails(-32602, "there is no folder", "session/new", `{"cwd":"/no/such/folder","mcpServers":[]}`)
	e.Fails(-32602, `the parameters do not fit the protocol: "cwd" is a number (want a string)`, "session/new", `{"cwd":7}`)
	e.Fails(-32601, `jp has no method "session/sing"`, "session/sing", `{}`)
	e.Fails(-32002, "there is no session", "session/load", fmt.Sprintf(`{"sessionId":"../x","cwd":%q,"mcpServers":[]}`, p.Dir))
	e.Fails(-32002, "", "session/load", fmt.Sprintf(`{"sessionId":"jp-c17957779804-n03p","cwd":%q,"mcpServers":[]}`, p.Dir))
	e.Fails(-32002, "is not open", "session/prompt", `{"sessionId":"jp-c17957779804-n03p","prompt":[{"type":"text","text":"x"}]}`)
	session := e.Opens(p.Dir)
	e.Fails(-32602, `there is no mode "edits" to choose`, "session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"edits"}`, session))
	e.Fails(-32602, `there is no option "network"`, "session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"network","value":"on"}`, session))
	e.Fails(-32602, `is not among the values`, "session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"model","value":"x/y"}`, session))
	e.Fails(-32602, "the prompt is empty", "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[]}`, session))
	e.Fails(-32602, `has the type "audio"`, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"audio"}]}`, session))
	e.Fails(-32602, "not in base64", "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"image","data":"?","mimeType":"image/png"}]}`, session))
	e.Leaves()

	p.Environ = append(p.Environ, "JP_CFG_MODEL=anthropic/some-model")
	e = p.connects(`{}`)
	e.Fails(-32000, "ANTHROPIC_API_KEY is not set", "authenticate", `{"methodId":"key"}`)
	e.Fails(-32602, "there is no method", "authenticate", `{"methodId":"browser"}`)
	session = e.Opens(p.Dir)
	a := e.Response(e.Prompts(session, "Hello"))
	require.Equal(t, -32000, a.Error.Code)
	require.Contains(t, a.Error.Message, "export ANTHROPIC_API_KEY")
	e.Leaves()
}

// Modes and options are jp's defaults, or the user's offers.
func TestModes(t *testing.T) {
	t.Parallel()
	p := newPlace(t, editor.MakeFileScript)
	e := p.connects(`{"session":{"configOptions":{"boolean":{}}}}`, "edits", "network")
	session := e.Opens(p.Dir)
	e.Must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"edits"}`, session))
	require.Contains(t, string(e.Must("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"effort","value":"high"}`, session))), `"currentValue":"high"`)
	require.Contains(t, string(e.Must("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"network","type":"boolean","value":true}`, session))), `"type":"boolean","currentValue":true`)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Make a file")), "no permission is asked for")
	require.FileExists(t, filepath.Join(p.Dir, "made.txt"))
	e.Leaves()

	require.NoError(t, os.Remove(filepath.Join(p.Dir, "made.txt")))
	e = p.connects(`{}`)
	session = e.Opens(p.Dir)
	e.Must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, session))
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Make a file")))
	require.NoFileExists(t, filepath.Join(p.Dir, "made.txt"), "a plan only reads")
	e.Leaves()
}
