package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/mcptest"
	"jp/tool"
	"jp/tool/mcp"
)

// An echo is a tool that returns its arguments.
type echo struct {
	def   tool.Definition
	delay chan struct{} // it answers when this is closed; nil: at once
	err   error
}

func (e *echo) Definition() *tool.Definition { return &e.def }

func (e *echo) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	if e.delay != nil {
		select {
		case <-e.delay:
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	}
	var args struct {
		Say  string
		Fail bool
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Content: []byte(args.Say), IsError: args.Fail}, e.err
}

func newEcho() *echo {
	return &echo{def: tool.Definition{
		Name: "echo", Description: "Say it again.", Effect: tool.Reads, Idempotent: true, Run: tool.Unattended,
		Parameters: json.RawMessage(`{"type":"object","required":["say"],"properties":{"say":{"type":"string"},"fail":{"type":"boolean","default":false}}}`),
	}}
}

// serve serves a tool. The server's end is sent on the channel.
func serve(t *testing.T, e *echo) (in io.WriteCloser, out io.ReadCloser, ended chan error) {
	t.Helper()
	tools, err := tool.NewRegistry(e)
	require.NoError(t, err)
	serverIn, in := io.Pipe()
	out, serverOut := io.Pipe()
	ended = make(chan error, 1)
	go func() {
		ended <- mcp.Serve(t.Context(), tools, serverIn, serverOut, mcp.ServeOptions{Name: "echoes", Version: "7", Instructions: "Shout."})
		serverOut.Close()
	}()
	return in, out, ended
}

func TestServe(t *testing.T) {
	in, out, ended := serve(t, newEcho())
	c := mcptest.Over(t, in, out)
	name, version, instructions := c.Server()
	require.Equal(t, []string{"echoes", "7", "Shout."}, []string{name, version, instructions})
	tools := c.Tools()
	require.Len(t, tools, 1)
	require.JSONEq(t, string(newEcho().def.Parameters), tools[0].Schema)
	require.True(t, tools[0].ReadOnly)

	for _, tc := range []struct {
		arguments map[string]any
		want      string
		isError   bool
	}{
		{map[string]any{"say": "hello"}, "hello", false},
		{map[string]any{"say": "no <text> \xff"}, "no <text> \ufffd", false},
		{map[string]any{"say": "hello", "fail": "true"}, "hello", true},
		{map[string]any{}, `missing argument "say"; expected a string`, true},
		{map[string]any{"say": 1}, `argument "say": expected a string, got an integer 1`, true},
		{map[string]any{"say": "a", "loud": true}, `unknown argument "loud"; expected fail, say`, true},
		{nil, `missing argument "say"; expected a string`, true},
	} {
		text, isError, err := c.Call("echo", tc.arguments)
		require.NoError(t, err)
		require.Equal(t, tc.want, text)
		require.Equal(t, tc.isError, isError, text)
	}
	text, _, err := c.Call("echo", map[string]any{"say": strings.Repeat("long ", 256<<10)})
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), 256<<10)
	_, _, err = c.Call("shout", nil)
	require.ErrorContains(t, err, "shout")
	require.NoError(t, c.Close())
	require.NoError(t, <-ended)
}

func TestServeToolFails(t *testing.T) {
	broken := newEcho()
	broken.err = errors.New("the store is gone")
	in, out, _ := serve(t, broken)
	_, _, err := mcptest.Over(t, in, out).Call("echo", map[string]any{"say": "hello"})
	require.ErrorContains(t, err, "the store is gone")
}

func TestServeRefusesToolsThatAsk(t *testing.T) {
	for name, change := range map[string]func(*tool.Definition){
		"asks":    func(d *tool.Definition) { d.Run = tool.Ask },
		"changes": func(d *tool.Definition) { d.Effect = tool.Changes },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEcho()
			change(&e.def)
			_, _, ended := serve(t, e)
			require.ErrorIs(t, <-ended, mcp.ErrAsks)
		})
	}
}

// TestServeAnswersBeforeItEnds ends the input while calls are at work.
func TestServeAnswersBeforeItEnds(t *testing.T) {
	slow := newEcho()
	slow.delay = make(chan struct{})
	in, out, ended := serve(t, slow)
	lines := bufio.NewScanner(out)
	send := func(format string, args ...any) {
		_, err := fmt.Fprintf(in, format+"\n", args...)
		require.NoError(t, err)
	}
	send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	require.True(t, lines.Scan())
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for id := 1; id <= 3; id++ {
		send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"say":"s%d"}}}`, id, id)
	}
	require.NoError(t, in.Close())
	close(slow.delay)
	for range 3 {
		require.True(t, lines.Scan())
		require.Contains(t, lines.Text(), `"text":"s`)
	}
	require.NoError(t, <-ended)
}

func TestServeEndsWithItsContext(t *testing.T) {
	tools, err := tool.NewRegistry(newEcho())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	_, out := io.Pipe()
	cancel()
	require.NoError(t, mcp.Serve(ctx, tools, in, out, mcp.ServeOptions{Name: "echoes", Version: "7"}))
}

// TestServeGoesOnAfterRubbish answers lines that are no message, and then a message.
func TestServeGoesOnAfterRubbish(t *testing.T) {
	in, out, ended := serve(t, newEcho())
	answers := bufio.NewScanner(out)
	answers.Buffer(nil, 1<<20)
	ask := func(line string) map[string]any {
		t.Helper()
		_, err := io.WriteString(in, line+"\n")
		require.NoError(t, err)
		require.True(t, answers.Scan(), "%v", answers.Err())
		var got map[string]any
		require.NoError(t, json.Unmarshal(answers.Bytes(), &got))
		return got
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}`)
	for _, line := range []string{"not json", `{"jsonrpc":`, strings.Repeat("x", 17<<20), `"` + strings.Repeat("x", 17<<20) + `"`} {
		require.Equal(t, -32700.0, ask(line)["error"].(map[string]any)["code"])
		require.Equal(t, 2.0, ask("\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}`)["id"])
	}
	for _, line := range []string{
		`{}`, `[]`, `[1,2]`, `null`, `42`, `"x"`, `{"id":6,"method":"ping"}`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":7}`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
	} {
		require.Equal(t, -32600.0, ask(line)["error"].(map[string]any)["code"], line)
		require.Equal(t, 2.0, ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)["id"], line)
	}
	_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":3,"method":"ping"}`) // the last line may end without one
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.True(t, answers.Scan())
	require.Contains(t, answers.Text(), `"id":3`)
	require.NoError(t, <-ended)
}
