package main

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
)

// wholeAnswer is an answer in the dialect that most servers speak.
const wholeAnswer = `{"choices":[{"message":{"content":"After all."}}]}`

// A server of the user's own is asked by the commands beside errors about models.
func TestHintsAboutModelsLeadToAServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	url := scriptedServer(t, 200, "application/json", wholeAnswer, wholeAnswer)
	out := p.jp("query", "-m", "acme/large", "Hello")
	require.Equal(t, problem.ExitUsage, out.exit, out.stderr)
	require.Equal(t, "After all.\n", p.helps(out.stderr, "ask-server", "URL="+url, "MODEL=large", "…=Hello").stdout)
	out = p.jp("query", "-m", "openai/gpt-5", "Hello")
	require.Equal(t, problem.ExitUsage, out.exit, out.stderr)
	p.environ = append(p.environ, "JP_CFG_PROVIDERS__OLLAMA__BASE_URL="+url)
	require.Equal(t, "After all.\n", p.helps(out.stderr, "ask-ollama", "MODEL=large", "…=Hello").stdout)
}

// A server that wants a key gets that of the variable that the command names.
func TestAKeyThatWasNotSentIsNamed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer sk-of-mine" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(wholeAnswer))
	}))
	defer s.Close()
	p.environ = append(p.environ, "MY_KEY=sk-of-mine")
	require.Zero(t, p.jp("config", "set", "providers.t.base_url", s.URL).exit)
	out := p.jp("query", "-m", "t/x", "Hello")
	require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
	require.Contains(t, out.stderr, "No key was sent.")
	set := p.helps(out.stderr, "set-key-name", "NAME=MY_KEY")
	require.Zero(t, set.exit, set.stderr)
	require.Equal(t, "After all.\n", p.helps(out.stderr, "continue").stdout)
}

// The notice about a full context names a fork that has fewer turns, if there is one.
func TestAFullContextIsForked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	answer := func(reason string) string {
		return `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"` + reason + `"}}` + "\n\n"
	}
	full := answer("model_context_window_exceeded")
	url := scriptedServer(t, 200, "text/event-stream", full, answer("end_turn"), full)
	for key, value := range map[string]string{"base_url": url + "/v1", "dialect": "anthropic", "key_command": `["echo","sk-of-a-test"]`} {
		require.Zero(t, p.jp("config", "set", "providers.t."+key, value).exit)
	}
	out := p.jp("query", "-m", "t/x", "One")
	require.Contains(t, out.stderr, ", or ask a model that can read more (-m).\n")
	require.Zero(t, p.jp("query", "Two").exit)
	out = p.jp("query", "Three")
	require.Contains(t, out.stderr, ", or ask a model that can read more (-m), or fork the conversation with fewer turns (jp fork ")
	forked := p.helps(out.stderr, "fork-last")
	require.Zero(t, forked.exit, forked.stderr)
	printed := p.jp("print").stdout
	require.NotContains(t, printed, "One")
	require.Contains(t, printed, "Three")
}

// A process that was stopped does not answer, and the command beside that wakes it.
func TestAStoppedProcessIsWoken(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, overwriteScript)
	p.waits()
	entry, ok := p.entry(id)
	require.True(t, ok)
	require.NoError(t, syscall.Kill(entry.PID, syscall.SIGSTOP))
	require.Eventually(t, func() bool { // a loaded machine lets its other threads go on for a while
		state, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(entry.PID)).Output()
		return strings.HasPrefix(string(state), "T")
	}, 20*time.Second, 10*time.Millisecond)
	out := p.jp("answer", "n")
	require.Equal(t, problem.ExitLocked, out.exit, out.stderr)
	require.True(t, strings.Contains(out.stderr, "does not answer"), out.stderr)
	require.Zero(t, p.helps(out.stderr, "unfreeze").exit)
	require.Zero(t, p.jp("answer", "n").exit)
	require.Zero(t, p.jp("attach", "--wait", string(id)).exit)
}
