package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/editor"
	"jp/internal/version"
)

// acpSchema is the published schema of the protocol's version 1, if it is installed.
const acpSchema = "testdata/editors/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"

const acpGolden = "testdata/editors/messages.jsonl"

// TestACPGolden holds the messages of one conversation, on a clock of its own, to a copy. It replaces
// the schema if that is not installed, and shows changes in the messages to editors.
func TestACPGolden(t *testing.T) {
	t.Parallel()
	p := acpPlace(t, editor.MakeFileScript)
	p.environ = append(p.environ, clockVariable+"="+epoch, "GIT_AUTHOR_DATE="+epoch, "GIT_COMMITTER_DATE="+epoch)
	e := p.connects(`{"session":{"notices":{},"compaction":{},"configOptions":{"boolean":{}}},"elicitation":{"form":{}},"_meta":{"_jp/fork":true}}`, "--offer", "network")
	session := e.Opens(p.dir)
	e.Until("commands", func() bool { return e.Commands != nil })
	e.Chooses("Yes, this once", nil)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Make a file")))
	e.Must("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"effort","value":"low"}`, session))
	e.Must("session/list", fmt.Sprintf(`{"cwd":%q}`, p.dir))
	e.Fails(-32602, "", "session/new", `{"cwd":"/","mcpServers":[]}`)
	e.Must("session/close", fmt.Sprintf(`{"sessionId":%q}`, session))
	e.Leaves()
	var got strings.Builder
	for _, line := range e.Said {
		got.WriteString(strings.NewReplacer(filepath.Dir(p.dir), "/work", session, "SESSION", version.Get().Version, "VERSION").Replace(string(line)) + "\n")
	}
	if *update {
		require.NoError(t, os.WriteFile(acpGolden, []byte(got.String()), 0o666))
	}
	want, err := os.ReadFile(acpGolden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "go test ./cmd/jp -run ACPGolden -update writes it anew")
}

// acpx, a client for the shell, holds a conversation, also one that jp record acp records.
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
	jp, err := exec.LookPath("jp")
	require.NoError(t, err)
	for _, agent := range []string{jp + " acp", jp + " record acp -- " + jp + " acp"} {
		t.Run(strings.ReplaceAll(agent, jp, "jp"), func(t *testing.T) {
			t.Parallel()
			p := acpPlace(t, editor.MakeFileScript)
			cmd := exec.Command(acpx, "--approve-all", "--agent", agent, "exec", "Make a file")
			cmd.Dir, cmd.Env = p.dir, p.environ
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "It is there.")
			require.FileExists(t, filepath.Join(p.dir, "made.txt"))
			if strings.Contains(agent, "record") {
				require.Eventually(t, func() bool {
					id := regexp.MustCompile(`(\S+)\t.*\(acp\) Make a file`).FindStringSubmatch(p.jp("ls").stdout)
					return id != nil && strings.Contains(p.jp("print", id[1]).stdout, "It is there.") && strings.Contains(p.jp("print", "--json", id[1]).stdout, `"path":"made.txt"`)
				}, time.Minute, 50*time.Millisecond)
			}
		})
	}
}

// The client of the protocol's own library holds a whole conversation: it checks jp's messages by its
// own schema.
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
	p := acpPlace(t, strings.TrimSuffix(editor.MakeFileScript, "[[reply]]\nmessage = \"Again.\"\n")+editor.WaitingScript)
	cmd := exec.Command(node, script, jp, p.dir)
	cmd.Dir, cmd.Env = p.dir, p.environ
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, `version: 1
mode: default
asked: create made.txt
made: end_turn
asked: sh -c 'echo waiting; exec sleep 600'
waited: cancelled
planned: end_turn
exit: 0
version: 1
loaded: user_message_chunk Make a file, agent_thought_chunk, agent_message_chunk, tool_call, tool_call_update, plan, tool_call_update, agent_message_chunk, user_message_chunk Wait, agent_message_chunk, tool_call, tool_call_update, user_message_chunk Plan it, agent_message_chunk
again: end_turn
exit: 0
`, string(out))
}
