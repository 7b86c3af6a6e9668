package live

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process/attach"
	"jp/turnloop"
)

// pipeListener is a listener without a file system.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	conn, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l pipeListener) Close() error { close(l); return nil }

func (pipeListener) Addr() net.Addr { return &net.UnixAddr{} }

// waitingQuestion lets a question wait without a terminal, and gives a client that
// was greeted.
func waitingQuestion(t *testing.T, limit time.Duration, longer func() bool) (c *attach.Client, ended <-chan error) {
	id := conversation.ID("jp-c17528832001-k3f9")
	d := &questions{
		id: id, server: attach.NewServer(attach.Options{Conversation: id, Seq: -1}), limit: limit, longer: longer,
		reached: func() bool { return true }, waiting: func(turnloop.Question) {},
	}
	listener := make(pipeListener)
	d.server.Serve(listener)
	t.Cleanup(func() { d.server.Close(attach.Closing{Reason: "over"}) })
	request := &conversation.ToolCallRequest{ID: "1", Name: "fs_create_file"}
	inquiry := &conversation.Inquiry{
		Event: &conversation.Event{Seq: 3}, Call: &conversation.ToolCall{Event: &conversation.Event{Seq: 2}, Request: request},
		Request: &conversation.InquiryRequest{Kind: conversation.KindRunTool},
	}
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		_, err := d.Await(ctx, turnloop.Question{Inquiry: inquiry})
		done <- err
	}()
	mine, theirs := net.Pipe()
	listener <- theirs
	c, err := attach.Connect(ctx, mine)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c, done
}

func stillWaits(ended <-chan error, after time.Duration) bool {
	time.Sleep(after) // of the bubble's clock
	synctest.Wait()
	select {
	case <-ended:
		return false
	default:
		return true
	}
}

func TestTheWaitOfAQuestionEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		limit  time.Duration
		longer func() bool
		ends   bool
	}{
		"foreground":               {30 * time.Second, nil, true},
		"without another terminal": {30 * time.Second, func() bool { return false }, true},
		"with another terminal":    {30 * time.Second, func() bool { return true }, false},
		"for ever":                 {0, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, ended := waitingQuestion(t, tt.limit, tt.longer)
				require.True(t, stillWaits(ended, 29*time.Second))
				require.Equal(t, tt.ends, !stillWaits(ended, time.Hour))
			})
		})
	}
}

func TestWhoIsAttachedMayThink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, ended := waitingQuestion(t, 30*time.Second, nil)
		require.True(t, stillWaits(ended, 29*time.Second))
		require.NoError(t, c.Send(&attach.Attach{V: attach.Version}))
		require.True(t, stillWaits(ended, time.Hour))
		require.NoError(t, c.Close())
		require.True(t, stillWaits(ended, 29*time.Second), "the time begins anew when they leave")
		require.False(t, stillWaits(ended, 2*time.Second))
	})
}
