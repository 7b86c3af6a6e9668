package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"jp/internal/testing/peertest"
)

// escapes are the bytes on a screen beside text.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?>]*[A-Za-z]|\x1b\][^\x07]*\x07`)

// request is the agent's newest message, as plain words in order: role or type, then its text.
func request(t *testing.T, model *peertest.Model) (words []string) {
	text := model.Newest()
	type content struct {
		Type, Role, Text, ID, Name, Thinking, Signature string

		Input     json.RawMessage
		Arguments string
		CallID    string `json:"call_id"`
		ToolUseID string `json:"tool_use_id"`
		IsError   bool   `json:"is_error"`
		Output    json.RawMessage
		Content   json.RawMessage
		ChatID    string `json:"tool_call_id"`
		ToolCalls []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	var body struct{ Messages, Input []content }
	require.NoError(t, json.Unmarshal(text, &body), string(text))
	texts := func(raw json.RawMessage) string {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return text
		}
		var parts []content
		require.NoError(t, json.Unmarshal(raw, &parts), string(raw))
		for _, part := range parts {
			text += "|" + or(part.Text, part.Type)
		}
		return strings.TrimPrefix(text, "|")
	}
	for _, m := range body.Messages {
		var parts []content
		switch {
		case m.ChatID != "":
			words = append(words, "result "+m.ChatID+" "+texts(m.Content))
			continue
		case json.Unmarshal(m.Content, &parts) != nil && len(m.Content) > 0:
			words = append(words, m.Role+": "+texts(m.Content))
		}
		for _, c := range m.ToolCalls {
			words = append(words, "call "+c.ID+" "+c.Function.Name+" "+c.Function.Arguments)
		}
		for _, b := range parts {
			switch b.Type {
			case "tool_use":
				words = append(words, "call "+b.ID+" "+b.Name+" "+string(b.Input))
			case "tool_result":
				words = append(words, fmt.Sprintf("result %s %s %v", b.ToolUseID, texts(b.Content), b.IsError))
			case "thinking":
				words = append(words, "thinking: "+b.Thinking+" "+b.Signature)
			default:
				words = append(words, m.Role+": "+or(b.Text, b.Type))
			}
		}
	}
	for _, i := range body.Input {
		switch i.Type {
		case "function_call":
			words = append(words, "call "+i.CallID+" "+i.Name+" "+i.Arguments)
		case "function_call_output":
			words = append(words, "result "+i.CallID+" "+texts(i.Output))
		default:
			for text := range strings.SplitSeq(texts(i.Content), "|") {
				words = append(words, i.Role+": "+text)
			}
		}
	}
	const most = 200
	for i := range words {
		words[i] = cut(words[i], most)
	}
	return words
}

// peer is a program that make peers installs, in an environment of its own.
func peer(t *testing.T, model *peertest.Model, home, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), peertest.Program(t, name), args...)
	cmd.Dir = dir
	cmd.Env = append(peertest.Environ(model.URL), "PATH="+os.Getenv("PATH"), "HOME="+home, "TERM=xterm-256color", "TZ=UTC")
	return cmd
}

// installed is a conversation in the folder of an installed agent, and the agent's working directory.
func installed(t *testing.T, a agent, model *peertest.Model) (n *Native, home, dir string) {
	t.Helper()
	peertest.Program(t, a.name())
	home = t.TempDir()
	dir, err := realFolder(t.TempDir())
	require.NoError(t, err)
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	require.NoError(t, os.MkdirAll(a.folder(getenv), 0o755))
	peertest.Configure(t, a.name(), home, dir, model.URL)
	n = manyKinds().native(a, dir, false)
	path, err := n.Install(getenv)
	require.NoError(t, err)
	if a.name() == "opencode" {
		out, err := peer(t, model, home, dir, "opencode", "import", path).CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "Imported session: "+opencodeID("ses", n.session))
	}
	return n, home, dir
}

// The real agents resume a session, and their next request has every word of it.
func TestAnAgentResumesWhatWasExported(t *testing.T) {
	said := map[string][]string{
		"claude": {
			"user: image", "user: File \"notes.txt\":\nthree\n", "user: Cap them. & see the picture", "thinking: Where are they? c2lnbmVk", "assistant: I look.",
			`call call_a fs_read_file {"path":"a.go","n":12345678901234567000}`, `call jp8 mcp_server_read_203ba162 {"path":"b.go","n":12345678901234567000}`,
			"result call_a (no output)|image false", "result jp8 b.go: no such file true", "user: A hook said so.", "assistant: Capped.", "user: Run it",
			"call jpj shell_run {}", "result jpj " + unknownOutcome + " true", "user: And now?",
		},
		"codex": {
			"user: input_image", "user: File \"notes.txt\":\nthree\n", "user: Cap them. & see the picture", "assistant: I look.",
			`call call_a fs_read_file {"path":"a.go","n":12345678901234567890}`, `call jp8 mcp_server_read_203ba162 {"path":"b.go","n":12345678901234567890}`,
			"result call_a (no output)|input_image", "result jp8 b.go: no such file", "user: A hook said so.", "assistant: Capped.", "user: Run it",
			"call jpj shell_run {}", "result jpj " + unknownOutcome, "user: And now?",
		},
		"opencode": {
			"user: image_url", "user: File \"notes.txt\":\nthree\n", "user: Cap them. & see the picture", "assistant: Where are they?I look.",
			`call call_a fs_read_file {"path":"a.go","n":12345678901234567000}`, `call jp8 mcp_server_read_203ba162 {"path":"b.go","n":12345678901234567000}`,
			"result call_a (no output)", "result jp8 b.go: no such file", "user: image_url", "user: A hook said so.", "assistant: Capped.", "user: Run it",
			"call jpj shell_run {}", "result jpj " + unknownOutcome, `user: "And now?"`,
		},
	}
	for _, a := range agents {
		t.Run(a.name(), func(t *testing.T) {
			model := peertest.NewModel(t)
			n, home, dir := installed(t, a, model)
			args := []string{"-p", "--resume", n.session.id, "And now?"}
			switch a.name() {
			case "opencode":
				args = []string{"run", "--model", "local/mock", "--session", opencodeID("ses", n.session), "And now?"}
			case "codex":
				args = []string{"exec", "--skip-git-repo-check", "resume", n.session.id, "And now?"}
			}
			out, err := peer(t, model, home, dir, a.name(), args...).CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), "It is done.")
			words := request(t, model)
			at := 0
			for _, want := range said[a.name()] {
				for at < len(words) && words[at] != want {
					at++
				}
				require.Less(t, at, len(words), "%q is not there, or not in its place: %q", want, words)
			}
		})
	}
}

// The real agents list the session. Codex does so for editors, Claude Code only on a screen.
func TestAnAgentListsWhatWasExported(t *testing.T) {
	t.Run("codex", func(t *testing.T) {
		model := peertest.NewModel(t)
		n, home, dir := installed(t, codex{}, model)
		cmd := peer(t, model, home, dir, "codex", "app-server")
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = io.WriteString(in, `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"test","version":"0"}}}`+"\n"+
			`{"method":"initialized"}`+"\n"+`{"id":2,"method":"thread/list","params":{}}`+"\n")
		require.NoError(t, err)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		listed := ""
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"id":2`) {
				listed = lines.Text()
				break
			}
		}
		require.NoError(t, in.Close())
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		require.Contains(t, listed, n.session.id)
		require.Contains(t, listed, "Cap them. & see the picture")
	})
	t.Run("opencode", func(t *testing.T) {
		model := peertest.NewModel(t)
		n, home, dir := installed(t, opencode{}, model)
		out, err := peer(t, model, home, dir, "opencode", "session", "list").Output()
		require.NoError(t, err)
		require.Contains(t, string(out), opencodeID("ses", n.session))
		require.Contains(t, string(out), "Cap the <b>retries</b>")
		out, err = peer(t, model, home, dir, "opencode", "export", opencodeID("ses", n.session)).Output()
		require.NoError(t, err)
		var text strings.Builder
		require.NoError(t, n.Write(&text))
		require.Equal(t, readBack(t, "opencode", text.String()), readBack(t, "opencode", string(out)))
	})
	t.Run("claude", func(t *testing.T) {
		model := peertest.NewModel(t)
		_, home, dir := installed(t, claude{}, model)
		cmd := peer(t, model, home, dir, "claude", "--resume")
		screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
		require.NoError(t, err)
		var seen bytes.Buffer
		var mu sync.Mutex
		go func() {
			part := make([]byte, 4096)
			for {
				n, err := screen.Read(part)
				mu.Lock()
				seen.Write(part[:n])
				mu.Unlock()
				for asks, answer := range map[string]string{"\x1b[c": "\x1b[?62c", "\x1b[>0q": "\x1bP>|xterm(370)\x1b\\", "\x1b[6n": "\x1b[1;1R"} {
					if bytes.Contains(part[:n], []byte(asks)) {
						_, _ = io.WriteString(screen, answer)
					}
				}
				if err != nil {
					return
				}
			}
		}()
		text := func() string {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(strings.Fields(escapes.ReplaceAllString(seen.String(), "")), "")
		}
		assert.Eventually(t, func() bool { return strings.Contains(text(), "❯Capthe") }, 2*time.Minute, 50*time.Millisecond)
		if t.Failed() {
			t.Log(text())
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		require.NoError(t, screen.Close())
	})
}
