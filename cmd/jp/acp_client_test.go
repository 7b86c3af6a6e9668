package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An editor is a client of jp acp.
type editor struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr bytes.Buffer
	ended  chan struct{} // closed when jp's output has ended

	mu       sync.Mutex
	changed  *sync.Cond
	said     []json.RawMessage // all messages of jp
	answers  map[int]rpcAnswer
	next     int
	asked    map[int]string // methods of the client's requests, by id
	updates  []acpUpdate
	commands json.RawMessage
	over     bool
	requests map[string]func(params json.RawMessage) (any, bool) // answers jp's requests; false: not at all
}

// An rpcAnswer is what jp answers a request.
type rpcAnswer struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// An acpUpdate is what jp tells of a session.
type acpUpdate struct {
	Session string
	Kind    string `json:"sessionUpdate"`
	ID      string `json:"messageId"`
	Call    string `json:"toolCallId"`
	Status  string
	Title   string
	Text    string
	Raw     json.RawMessage
}

// connects starts jp acp in a place, with a client of these capabilities.
func (p *workspace) connects(capabilities string, args ...string) *editor {
	p.t.Helper()
	e := startEditor(p.t, p.command(append([]string{"acp"}, args...)...))
	e.must("initialize", `{"protocolVersion":1,"clientCapabilities":`+capabilities+`,"clientInfo":{"name":"test","version":"1"}}`)
	return e
}

func startEditor(t *testing.T, cmd *exec.Cmd) *editor {
	t.Helper()
	e := &editor{t: t, cmd: cmd, ended: make(chan struct{}), answers: map[int]rpcAnswer{}, asked: map[int]string{}, requests: map[string]func(json.RawMessage) (any, bool){}}
	e.changed = sync.NewCond(&e.mu)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = &e.stderr
	e.in = in
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		e.kill()
		e.conforms()
	})
	go e.read(out)
	return e
}

func (e *editor) read(out io.Reader) {
	defer close(e.ended)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		e.take(slices.Clone(lines.Bytes()))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	e.changed.Broadcast()
}

// take takes one message of jp.
func (e *editor) take(line []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
		rpcAnswer
	}
	if json.Unmarshal(line, &m) != nil {
		return // of a jp that was killed
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.changed.Broadcast()
	e.said = append(e.said, line)
	switch {
	case m.Method == "session/update":
		var p struct {
			SessionID string
			Update    json.RawMessage
		}
		var u struct {
			acpUpdate
			Content json.RawMessage
		}
		if json.Unmarshal(m.Params, &p) != nil || json.Unmarshal(p.Update, &u) != nil {
			panic(string(line))
		}
		var text struct{ Text string }
		_ = json.Unmarshal(u.Content, &text) // of a call it is a list
		if u.Session, u.Raw, u.Text = p.SessionID, p.Update, text.Text; u.Kind == "available_commands_update" {
			e.commands = p.Update // it comes at any time behind the answer
			return
		}
		e.updates = append(e.updates, u.acpUpdate)
	case m.Method != "" && m.ID != nil:
		if answer := e.requests[m.Method]; answer != nil {
			go func() {
				if result, ok := answer(m.Params); ok {
					e.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
				}
			}()
			return
		}
		go e.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "no such method"}})
	case m.Method == "":
		var id int
		_ = json.Unmarshal(m.ID, &id) // null answers a message without an id
		e.answers[id] = m.rpcAnswer
	}
}

// send sends a message. A jp that has ended gets none.
func (e *editor) send(message any) {
	line, err := json.Marshal(message)
	if err == nil {
		e.line(string(line))
	}
}

var sending sync.Mutex

func (e *editor) line(text string) {
	sending.Lock()
	defer sending.Unlock()
	_, _ = io.WriteString(e.in, text+"\n")
}

// begin sends a request, and returns its id.
func (e *editor) begin(method, params string) int {
	e.mu.Lock()
	e.next++
	id := e.next
	e.asked[id] = method
	e.mu.Unlock()
	e.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	return id
}

// wait waits for something that the test names.
func (e *editor) wait(what string, is func() bool) {
	e.t.Helper()
	late := time.AfterFunc(time.Minute, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.over = true
		e.changed.Broadcast()
	})
	defer late.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for !is() {
		if e.over {
			require.FailNow(e.t, "no "+what, "%s\n%s", bytes.Join(asLines(e.said), []byte("\n")), &e.stderr)
		}
		e.changed.Wait()
	}
}

func asLines(messages []json.RawMessage) (lines [][]byte) {
	for _, m := range messages {
		lines = append(lines, m)
	}
	return lines
}

// answer waits for the answer to a request.
func (e *editor) answer(id int) (a rpcAnswer) {
	e.t.Helper()
	e.wait(fmt.Sprintf("answer to %d", id), func() (ok bool) { a, ok = e.answers[id]; return ok })
	return a
}

// must makes a request that succeeds.
func (e *editor) must(method, params string) json.RawMessage {
	e.t.Helper()
	a := e.answer(e.begin(method, params))
	require.Nil(e.t, a.Error, "%s %s: %+v", method, params, a.Error)
	return a.Result
}

// fails makes a request that fails, with a text in its error.
func (e *editor) fails(code int, text, method, params string) {
	e.t.Helper()
	a := e.answer(e.begin(method, params))
	require.NotNil(e.t, a.Error, "%s %s: %s", method, params, a.Result)
	require.Equal(e.t, code, a.Error.Code, a.Error.Message)
	require.Contains(e.t, a.Error.Message, text)
}

// opens opens a new session in a folder.
func (e *editor) opens(dir string) string {
	e.t.Helper()
	var s struct{ SessionID string }
	require.NoError(e.t, json.Unmarshal(e.must("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, dir)), &s))
	require.NotEmpty(e.t, s.SessionID)
	return s.SessionID
}

// loads opens a session that there is, and returns what it is told of it.
func (e *editor) loads(session, dir string) []acpUpdate {
	e.t.Helper()
	e.mu.Lock()
	before := len(e.updates)
	e.mu.Unlock()
	e.must("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, dir))
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.updates[before:])
}

// prompts begins a prompt.
func (e *editor) prompts(session, text string) int {
	return e.begin("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, text))
}

// stops waits for the end of a prompt.
func (e *editor) stops(id int) string {
	e.t.Helper()
	a := e.answer(id)
	require.Nil(e.t, a.Error, "%+v", a.Error)
	var r struct{ StopReason string }
	require.NoError(e.t, json.Unmarshal(a.Result, &r))
	return r.StopReason
}

// chooses answers each request for permission with the option of that name. Each is told to seen.
func (e *editor) chooses(name string, seen func(params json.RawMessage)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests["session/request_permission"] = func(params json.RawMessage) (any, bool) {
		if seen != nil {
			seen(params)
		}
		var p struct {
			Options []struct{ OptionID, Name string }
		}
		if json.Unmarshal(params, &p) != nil {
			return nil, false
		}
		for _, o := range p.Options {
			if o.Name == name {
				return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": o.OptionID}}, true
			}
		}
		return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": name}}, true // not offered
	}
}

// leaves ends jp by the end of its input.
func (e *editor) leaves() {
	e.t.Helper()
	require.NoError(e.t, e.in.Close())
	<-e.ended
	require.NoError(e.t, e.cmd.Wait(), "%s", &e.stderr)
}

// kill ends jp at once.
func (e *editor) kill() {
	_ = e.cmd.Process.Kill()
	<-e.ended
	_ = e.cmd.Wait()
}

// kinds are what updates are, in their order, with the text of messages in one piece.
func kinds(updates []acpUpdate) (all []string) {
	last := ""
	for _, u := range updates {
		key := u.Kind + " " + u.ID
		if u.ID != "" && key == last {
			all[len(all)-1] += u.Text
			continue
		}
		last = key
		all = append(all, u.Kind+" "+u.Status+u.Text)
	}
	return all
}
