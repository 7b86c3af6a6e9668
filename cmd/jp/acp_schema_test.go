package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"jp/internal/version"
)

// acpSchema is the published schema of the protocol's version 1, where it is installed.
const acpSchema = "testdata/editors/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"

var acpDefinitions = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	text, err := os.ReadFile(acpSchema)
	if err != nil {
		return nil, nil // it comes from npm: make editors
	}
	var whole jsonschema.Schema
	err = json.Unmarshal(text, &whole)
	return whole.Defs, err
})

var (
	acpResolved   = map[string]*jsonschema.Resolved{}
	acpResolvedMu sync.Mutex
)

// acpAnswers are what answers have, by method of the request.
var acpAnswers = map[string]string{
	"initialize": "InitializeResponse", "authenticate": "AuthenticateResponse", "session/new": "NewSessionResponse", "session/load": "LoadSessionResponse",
	"session/resume": "ResumeSessionResponse", "session/list": "ListSessionsResponse", "session/close": "CloseSessionResponse", "session/delete": "DeleteSessionResponse",
	"session/set_mode": "SetSessionModeResponse", "session/set_config_option": "SetSessionConfigOptionResponse", "session/prompt": "PromptResponse",
	"_jp/fork": "NewSessionResponse",
}

// acpParams are what requests and notifications of jp have, by method.
var acpParams = map[string]string{
	"session/update": "SessionNotification", "session/request_permission": "RequestPermissionRequest", "fs/read_text_file": "ReadTextFileRequest",
	"elicitation/create": "CreateElicitationRequest", "$/cancel_request": "CancelRequestNotification",
}

// conforms checks each message of jp against the schema, where that is installed.
func (e *editor) conforms() {
	e.mu.Lock()
	defer e.mu.Unlock()
	defs, err := acpDefinitions()
	if err != nil {
		e.t.Errorf("read %s: %v", acpSchema, err)
	}
	for _, line := range e.said {
		var m struct {
			JSONRPC string
			ID      *int
			Method  string
			Params  json.RawMessage
			Result  json.RawMessage
			Error   json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
			e.t.Errorf("no message: %s", line)
			continue
		}
		name, value := "", m.Params
		switch {
		case m.Method != "":
			if name = acpParams[m.Method]; name == "" {
				e.t.Errorf("no method of the protocol: %s", line)
			}
		case m.Error != nil:
			name, value = "Error", m.Error
		case m.ID != nil:
			if name, value = acpAnswers[e.asked[*m.ID]], m.Result; name == "" {
				e.t.Errorf("no answer of the protocol: %s", line)
			}
		}
		if err := conforms(defs, name, value); err != nil {
			e.t.Errorf("%s is no %s: %v", line, name, err)
		}
	}
}

// conforms checks a value against a definition of the schema.
func conforms(defs map[string]*jsonschema.Schema, name string, text json.RawMessage) error {
	if defs == nil || name == "" {
		return nil
	}
	acpResolvedMu.Lock()
	defer acpResolvedMu.Unlock()
	resolved := acpResolved[name]
	if resolved == nil {
		if defs[name] == nil {
			return fmt.Errorf("the schema has no %s", name)
		}
		of, err := json.Marshal(map[string]any{"$defs": defs, "$ref": "#/$defs/" + name})
		if err != nil {
			return err
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(of, &s); err != nil {
			return err
		}
		if resolved, err = s.Resolve(nil); err != nil {
			return err
		}
		acpResolved[name] = resolved
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}

// The schema says no to what is wrong: a check that cannot fail checks nothing.
func TestACPSchemaSaysNo(t *testing.T) {
	t.Parallel()
	defs, err := acpDefinitions()
	require.NoError(t, err)
	if defs == nil {
		// It comes from npm, which make test does not ask; CI installs it first.
		t.Skip("the schema of the Agent Client Protocol is not installed: make editors")
	}
	require.NoError(t, conforms(defs, "PromptResponse", json.RawMessage(`{"stopReason":"end_turn"}`)))
	require.Error(t, conforms(defs, "PromptResponse", json.RawMessage(`{"stopReason":"over"}`)))
	require.Error(t, conforms(defs, "SessionNotification", json.RawMessage(`{"sessionId":"x","update":{"sessionUpdate":"sung"}}`)))
	require.Error(t, conforms(defs, "NewSessionResponse", json.RawMessage(`{}`)))
}

const acpGolden = "testdata/editors/messages.jsonl"

// TestACPGolden holds the messages of one conversation, on a clock of its own, to a copy. It stands for the schema where that is
// not installed, and shows a change of what editors are told.
func TestACPGolden(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, acpScript)
	p.environ = append(p.environ, clockVariable+"="+epoch, "GIT_AUTHOR_DATE="+epoch, "GIT_COMMITTER_DATE="+epoch)
	e := p.connects(`{"session":{"notices":{},"compaction":{},"configOptions":{"boolean":{}}},"elicitation":{"form":{}},"_meta":{"_jp/fork":true}}`, "--offer", "network")
	session := e.opens(p.dir)
	e.wait("commands", func() bool { return e.commands != nil })
	e.chooses("Yes, this once", nil)
	require.Equal(t, "end_turn", e.stops(e.prompts(session, "Make a file")))
	e.must("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"effort","value":"low"}`, session))
	e.must("session/list", fmt.Sprintf(`{"cwd":%q}`, p.dir))
	e.fails(-32602, "", "session/new", `{"cwd":"/","mcpServers":[]}`)
	e.must("session/close", fmt.Sprintf(`{"sessionId":%q}`, session))
	e.leaves()
	var got strings.Builder
	for _, line := range e.said {
		got.WriteString(strings.NewReplacer(filepath.Dir(p.dir), "/work", session, "SESSION", version.Get().Version, "VERSION").Replace(string(line)) + "\n")
	}
	if *update {
		require.NoError(t, os.WriteFile(acpGolden, []byte(got.String()), 0o666))
	}
	want, err := os.ReadFile(acpGolden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "go test ./cmd/jp -run ACPGolden -update writes it anew")
}

// acpx, a client for the shell, holds a conversation.
func TestACPX(t *testing.T) {
	t.Parallel()
	acpx, err := filepath.Abs("testdata/editors/node_modules/.bin/acpx")
	require.NoError(t, err)
	if _, err := os.Stat(acpx); err != nil {
		t.Skip("acpx is not installed: make editors")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("acpx needs node")
	}
	p := acpPlace(t, acpScript)
	jp, err := exec.LookPath("jp")
	require.NoError(t, err)
	cmd := exec.Command(acpx, "--approve-all", "--agent", jp+" acp", "exec", "Make a file")
	cmd.Dir, cmd.Env = p.dir, p.environ
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "It is there.")
	require.FileExists(t, filepath.Join(p.dir, "made.txt"))
}

// The client of the protocol's own library holds a whole conversation: it checks what jp sends by its own schema.
func TestACPClient(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(acpSchema); err != nil {
		t.Skip("the client of @agentclientprotocol/sdk is not installed: make editors")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the client of @agentclientprotocol/sdk needs node")
	}
	script, err := filepath.Abs("testdata/editors/conversation.mjs")
	require.NoError(t, err)
	jp, err := exec.LookPath("jp")
	require.NoError(t, err)
	p := acpPlace(t, strings.TrimSuffix(acpScript, "[[reply]]\nmessage = \"Again.\"\n")+waitingScript)
	cmd := exec.Command(node, script, jp, p.dir)
	cmd.Dir, cmd.Env = p.dir, p.environ
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, `version: 1
mode: default
asked: Run fs_create_file made.txt?
made: end_turn
asked: Run shell_run sh -c 'echo waiting; exec sleep 600'?
waited: cancelled
planned: end_turn
exit: 0
version: 1
loaded: user_message_chunk Make a file, agent_thought_chunk, agent_message_chunk, tool_call, tool_call_update, plan, tool_call_update, agent_message_chunk, user_message_chunk Wait, agent_message_chunk, tool_call, tool_call_update, user_message_chunk Plan it, agent_message_chunk
again: end_turn
exit: 0
`, string(out))
}
