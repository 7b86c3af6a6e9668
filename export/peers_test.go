package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// escapes are the bytes on a screen beside text.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?>]*[A-Za-z]|\x1b\][^\x07]*\x07`)

// A peerServer is a model that always answers the same, with the protocols of both vendors, and with OpenAI's older one. It
// keeps the newest request that offers tools.
type peerServer struct {
	*httptest.Server
	mu   sync.Mutex
	last []byte
}

func newPeerServer(t *testing.T) *peerServer {
	p := &peerServer{}
	p.Server = httptest.NewServer(http.HandlerFunc(p.answer))
	t.Cleanup(p.Close)
	return p
}

func (p *peerServer) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct {
		Stream bool
		Tools  []any
	}
	_ = json.Unmarshal(body, &asked)
	claude, chat := strings.HasSuffix(r.URL.Path, "/messages"), strings.HasSuffix(r.URL.Path, "/chat/completions")
	if r.Method != http.MethodPost || !claude && !chat && !strings.HasSuffix(r.URL.Path, "/responses") {
		_, _ = io.WriteString(w, `{"object":"list","data":[],"models":[],"input_tokens":10}`)
		return
	}
	if len(asked.Tools) > 0 {
		p.mu.Lock()
		p.last = body
		p.mu.Unlock()
	}
	const message = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-8","stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":5},`
	if claude && !asked.Stream {
		_, _ = io.WriteString(w, message+`"content":[{"type":"text","text":"It is done."}],"stop_reason":"end_turn"}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := []string{
		`{"type":"response.created","response":{"id":"r1","object":"response","status":"in_progress"}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"It is done."}]}}`,
		`{"type":"response.completed","response":{"id":"r1","object":"response","status":"completed","usage":{"input_tokens":100,"output_tokens":5,"total_tokens":105}}}`,
	}
	if claude {
		events = []string{
			`{"type":"message_start","message":` + message + `"content":[],"stop_reason":null}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It is done."}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`,
			`{"type":"message_stop"}`,
		}
	}
	if chat {
		events = []string{
			`{"id":"c1","object":"chat.completion.chunk","model":"mock","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"It is done."}}]}`,
			`{"id":"c1","object":"chat.completion.chunk","model":"mock","created":1,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		}
	}
	for _, e := range events {
		var kind struct{ Type string }
		_ = json.Unmarshal([]byte(e), &kind)
		if kind.Type != "" {
			fmt.Fprintf(w, "event: %s\n", kind.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
	if chat {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

// request is the agent's message, as plain words in order: role or type, then its text.
func (p *peerServer) request(t *testing.T) (words []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
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
	require.NoError(t, json.Unmarshal(p.last, &body), string(p.last))
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
func peer(t *testing.T, server *peerServer, home, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := filepath.Abs("testdata/peers/node_modules/.bin/" + name)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=xterm-256color", "TZ=UTC", "LOCALKEY=x", "IS_SANDBOX=1", "ANTHROPIC_API_KEY=x", "ANTHROPIC_BASE_URL=" + server.URL,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
	}
	return cmd
}

// installed is a conversation in the folder of an installed agent, and the agent's working directory.
func installed(t *testing.T, a agent, server *peerServer) (n *Native, home, dir string) {
	t.Helper()
	if _, err := os.Stat("testdata/peers/node_modules/.bin/" + a.name()); err != nil {
		t.Skipf("%s is not installed; it comes from npm: make peers", a.name())
	}
	home = t.TempDir()
	dir, err := realFolder(t.TempDir())
	require.NoError(t, err)
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	require.NoError(t, os.MkdirAll(a.folder(getenv), 0o755))
	switch a.name() {
	case "opencode":
		config, err := json.Marshal(map[string]any{"autoupdate": false, "model": "local/mock", "provider": map[string]any{"local": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "options": map[string]string{"baseURL": server.URL + "/v1", "apiKey": "x"}, "models": map[string]any{"mock": map[string]any{"attachment": true, "modalities": map[string]any{"input": []string{"text", "image"}, "output": []string{"text"}}}},
		}}})
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(home, ".config", "opencode"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(home, ".config", "opencode", "opencode.json"), config, 0o600))
	case "codex":
		config := fmt.Sprintf("model = \"mock\"\nmodel_provider = \"local\"\n[model_providers.local]\nname = \"local\"\nbase_url = \"%s/v1\"\nwire_api = \"responses\"\nenv_key = \"LOCALKEY\"\n", server.URL)
		require.NoError(t, os.WriteFile(filepath.Join(home, ".codex", "config.toml"), []byte(config), 0o600))
	case "claude":
		config, err := json.Marshal(map[string]any{
			"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": map[string]any{"approved": []string{"x"}},
			"projects": map[string]any{dir: map[string]bool{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
		})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(home, ".claude.json"), config, 0o600))
	}
	n = manyKinds().native(a, dir, false)
	path, err := n.Install(getenv)
	require.NoError(t, err)
	if a.name() == "opencode" {
		out, err := peer(t, server, home, dir, "opencode", "import", path).CombinedOutput()
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
			server := newPeerServer(t)
			n, home, dir := installed(t, a, server)
			args := []string{"-p", "--resume", n.session.id, "And now?"}
			switch a.name() {
			case "opencode":
				args = []string{"run", "--model", "local/mock", "--session", opencodeID("ses", n.session), "And now?"}
			case "codex":
				args = []string{"exec", "--skip-git-repo-check", "resume", n.session.id, "And now?"}
			}
			out, err := peer(t, server, home, dir, a.name(), args...).CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), "It is done.")
			words := server.request(t)
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
		server := newPeerServer(t)
		n, home, dir := installed(t, codex{}, server)
		cmd := peer(t, server, home, dir, "codex", "app-server")
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
		server := newPeerServer(t)
		n, home, dir := installed(t, opencode{}, server)
		out, err := peer(t, server, home, dir, "opencode", "session", "list").Output()
		require.NoError(t, err)
		require.Contains(t, string(out), opencodeID("ses", n.session))
		require.Contains(t, string(out), "Cap the <b>retries</b>")
		out, err = peer(t, server, home, dir, "opencode", "export", opencodeID("ses", n.session)).Output()
		require.NoError(t, err)
		var text strings.Builder
		require.NoError(t, n.Write(&text))
		require.Equal(t, readBack(t, "opencode", text.String()), readBack(t, "opencode", string(out)))
	})
	t.Run("claude", func(t *testing.T) {
		server := newPeerServer(t)
		_, home, dir := installed(t, claude{}, server)
		cmd := peer(t, server, home, dir, "claude", "--resume")
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
