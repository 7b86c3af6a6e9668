// Package editor is an editor of a test: a client of the Agent Client Protocol, which keeps jp's messages and
// checks each one against the published schema, if that is installed.
package editor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A Server is the jp at the other end.
type Server struct {
	In   io.WriteCloser
	Out  io.Reader
	Wait func() error // returns when jp has ended
	Kill func()       // ends jp at once
	Log  fmt.Stringer // its messages
}

// A Client is a client of jp acp.
type Client struct {
	Server

	t     *testing.T
	send  sync.Mutex    // held while a line is written
	ended chan struct{} // closed when jp's output has ended

	Mu       sync.Mutex                                          // of the next fields
	Said     []json.RawMessage                                   // all messages of jp
	Updates  []Update                                            // of all sessions, but for those of commands
	Commands json.RawMessage                                     // the newest update of the commands
	Requests map[string]func(params json.RawMessage) (any, bool) // answers jp's requests; false for silence

	changed *sync.Cond
	answers map[int]Answer
	next    int
	asked   map[int]string // methods of the client's requests, by id
	over    bool
}

// An Answer is jp's answer to a request.
type Answer struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// An Update is jp's message about a session.
type Update struct {
	Session string
	Kind    string `json:"sessionUpdate"`
	ID      string `json:"messageId"`
	Call    string `json:"toolCallId"`
	Status  string
	Title   string
	Text    string
	Raw     json.RawMessage
}

// Start talks to a jp. schema is the path of the published schema of the protocol's version 1.
func Start(t *testing.T, server Server, schema string) *Client {
	t.Helper()
	e := &Client{Server: server, t: t, ended: make(chan struct{}), answers: map[int]Answer{}, asked: map[int]string{}, Requests: map[string]func(json.RawMessage) (any, bool){}}
	e.changed = sync.NewCond(&e.Mu)
	t.Cleanup(func() {
		e.End()
		e.conforms(schema)
	})
	go e.read(server.Out)
	return e
}

// Introduce sends the client's name and abilities.
func (e *Client) Introduce(capabilities string) *Client {
	e.t.Helper()
	e.Must("initialize", `{"protocolVersion":1,"clientCapabilities":`+capabilities+`,"clientInfo":{"name":"test","version":"1"}}`)
	return e
}

func (e *Client) read(out io.Reader) {
	defer close(e.ended)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		e.take(slices.Clone(lines.Bytes()))
	}
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.over = true
	e.changed.Broadcast()
}

// take takes one message of jp.
func (e *Client) take(line []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
		Answer
	}
	if json.Unmarshal(line, &m) != nil {
		return // of a jp that was killed
	}
	e.Mu.Lock()
	defer e.Mu.Unlock()
	defer e.changed.Broadcast()
	e.Said = append(e.Said, line)
	switch {
	case m.Method == "session/update":
		var p struct {
			SessionID string
			Update    json.RawMessage
		}
		var u struct {
			Update
			Content json.RawMessage
		}
		if json.Unmarshal(m.Params, &p) != nil || json.Unmarshal(p.Update, &u) != nil {
			panic(string(line))
		}
		var text struct{ Text string }
		_ = json.Unmarshal(u.Content, &text) // of a call it is a list
		if u.Session, u.Raw, u.Text = p.SessionID, p.Update, text.Text; u.Kind == "available_commands_update" {
			e.Commands = p.Update // it comes at any time behind the answer
			return
		}
		e.Updates = append(e.Updates, u.Update)
	case m.Method != "" && m.ID != nil:
		if answer := e.Requests[m.Method]; answer != nil {
			go func() {
				if result, ok := answer(m.Params); ok {
					e.reply(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
				}
			}()
			return
		}
		go e.reply(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "no such method"}})
	case m.Method == "":
		var id int
		_ = json.Unmarshal(m.ID, &id) // null answers a message without an id
		e.answers[id] = m.Answer
	}
}

// reply answers a request of jp, unless it has ended.
func (e *Client) reply(message any) {
	line, err := json.Marshal(message)
	if err == nil {
		e.Line(string(line))
	}
}

func (e *Client) Line(text string) {
	e.send.Lock()
	defer e.send.Unlock()
	_, _ = io.WriteString(e.In, text+"\n")
}

// Begin sends a request, and returns its id.
func (e *Client) Begin(method, params string) int {
	e.Mu.Lock()
	e.next++
	id := e.next
	e.asked[id] = method
	e.Mu.Unlock()
	e.Line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	return id
}

// Until waits for something that the test names.
func (e *Client) Until(what string, is func() bool) {
	e.t.Helper()
	late := time.AfterFunc(time.Minute, func() {
		e.Mu.Lock()
		defer e.Mu.Unlock()
		e.over = true
		e.changed.Broadcast()
	})
	defer late.Stop()
	e.Mu.Lock()
	defer e.Mu.Unlock()
	for !is() {
		if e.over {
			require.FailNow(e.t, "no "+what, "%s\n%s", bytes.Join(asLines(e.Said), []byte("\n")), e.Log)
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

// Response waits for the answer to a request.
func (e *Client) Response(id int) (a Answer) {
	e.t.Helper()
	e.Until(fmt.Sprintf("answer to %d", id), func() (ok bool) { a, ok = e.answers[id]; return ok })
	return a
}

// Must makes a request that succeeds.
func (e *Client) Must(method, params string) json.RawMessage {
	e.t.Helper()
	a := e.Response(e.Begin(method, params))
	require.Nil(e.t, a.Error, "%s %s: %+v", method, params, a.Error)
	return a.Result
}

// Fails makes a request that fails, with a text in its error.
func (e *Client) Fails(code int, text, method, params string) {
	e.t.Helper()
	a := e.Response(e.Begin(method, params))
	require.NotNil(e.t, a.Error, "%s %s: %s", method, params, a.Result)
	require.Equal(e.t, code, a.Error.Code, a.Error.Message)
	require.Contains(e.t, a.Error.Message, text)
}

// Opens opens a new session in a folder.
func (e *Client) Opens(dir string) string {
	e.t.Helper()
	var s struct{ SessionID string }
	require.NoError(e.t, json.Unmarshal(e.Must("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, dir)), &s))
	require.NotEmpty(e.t, s.SessionID)
	return s.SessionID
}

// Loads opens an existing session, and returns its updates.
func (e *Client) Loads(session, dir string) []Update {
	e.t.Helper()
	e.Mu.Lock()
	before := len(e.Updates)
	e.Mu.Unlock()
	e.Must("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, dir))
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return slices.Clone(e.Updates[before:])
}

// Prompts begins a prompt.
func (e *Client) Prompts(session, text string) int {
	return e.Begin("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, text))
}

// Stops waits for the end of a prompt.
func (e *Client) Stops(id int) string {
	e.t.Helper()
	a := e.Response(id)
	require.Nil(e.t, a.Error, "%+v", a.Error)
	var r struct{ StopReason string }
	require.NoError(e.t, json.Unmarshal(a.Result, &r))
	return r.StopReason
}

// Silent leaves each request for permission without an answer, and returns the requests.
func (e *Client) Silent() <-chan json.RawMessage {
	asked := make(chan json.RawMessage, 9)
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.Requests["session/request_permission"] = func(params json.RawMessage) (any, bool) {
		asked <- params
		return nil, false
	}
	return asked
}

// Chooses answers each request for permission with the first option that begins with one of these names, with "|"
// between them. Each request is told to seen.
func (e *Client) Chooses(names string, seen func(params json.RawMessage)) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.Requests["session/request_permission"] = func(params json.RawMessage) (any, bool) {
		if seen != nil {
			seen(params)
		}
		var p struct {
			Options []struct{ OptionID, Name string }
		}
		if json.Unmarshal(params, &p) != nil {
			return nil, false
		}
		id := names // an unknown option
		for _, o := range slices.Backward(p.Options) {
			if slices.ContainsFunc(strings.Split(names, "|"), func(name string) bool { return strings.HasPrefix(o.Name, name) }) {
				id = o.OptionID
			}
		}
		return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": id}}, true
	}
}

// Leaves ends jp by the end of its input.
func (e *Client) Leaves() {
	e.t.Helper()
	require.NoError(e.t, e.In.Close())
	<-e.ended
	require.NoError(e.t, e.Server.Wait(), "%s", e.Log)
}

// End ends jp at once.
func (e *Client) End() {
	e.Kill()
	<-e.ended
	_ = e.Server.Wait()
}

// Kinds are the kinds of updates, in their order, with the text of messages in one piece.
func Kinds(updates []Update) (all []string) {
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
