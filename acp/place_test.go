package acp_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/acp"
	"jp/agent/contextfiles"
	"jp/conversation"
	"jp/internal/testing/editor"
	"jp/internal/testing/front"
)

func TestMain(m *testing.M) { front.Main(m) }

// publishedSchema is the schema of the protocol, if it is installed.
const publishedSchema = "../cmd/jp/testdata/editors/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"

// A place is a repository in which editors connect to servers.
type place struct {
	*front.Scratch
	t *testing.T
}

// newPlace is a place whose model follows a script.
func newPlace(t *testing.T, script string) *place {
	t.Helper()
	p := &place{front.New(t), t}
	p.Environ = append(p.Environ, "JP_CFG_MODEL="+p.Model(script))
	return p
}

// start begins to serve an editor, in a folder.
func (p *place) start(dir string, o acp.Options) *editor.Client {
	p.t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	fromEditor, in := io.Pipe()
	out, toEditor := io.Pipe()
	log := &logged{}
	o.Host, o.Log = p.Host(), log
	o.Host.Dir = dir
	var failed error
	over := make(chan struct{})
	go func() {
		defer close(over)
		failed = acp.Serve(ctx, fromEditor, toEditor, o)
		toEditor.Close()
		fromEditor.Close() // a line that the editor still writes gets an error
	}()
	return editor.Start(p.t, editor.Server{
		In: in, Out: out, Log: log,
		Wait: func() error { <-over; return failed },
		Kill: func() { cancel(context.Canceled) },
	}, publishedSchema)
}

// connects starts a server for an editor of these capabilities.
func (p *place) connects(capabilities string, offers ...string) *editor.Client {
	p.t.Helper()
	return p.start(p.Dir, acp.Options{Offers: offers}).Introduce(capabilities)
}

// A logged keeps messages.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// tail is the interrupted turn of a session, nil if every turn is complete.
func (p *place) tail(session string) *conversation.IncompleteTurn {
	p.t.Helper()
	_, tail := conversation.SplitTail(p.Load(conversation.ID(session)))
	return tail
}

func (p *place) list() []conversation.Info {
	p.t.Helper()
	r := p.Open()
	defer r.Close()
	infos, err := r.Store.List(p.t.Context(), conversation.ScopeLive)
	require.NoError(p.t, err)
	return infos
}

// approveSkill approves a skill of the repository as it is.
func (p *place) approveSkill(name string) {
	p.t.Helper()
	r := p.Open()
	defer r.Close()
	all := contextfiles.OpenSkills(r, r.Env)
	defer all.Close()
	require.NoError(p.t, all.Approve(*all.Named(name)))
}
