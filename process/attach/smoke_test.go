package attach_test

import (
	"context"
	"encoding/json"
	"iter"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process/attach"
)

const id = conversation.ID("jp-c17528832001-k3f9")

// stored is a conversation that is read by number.
type stored []*conversation.Event

func (s stored) back(_ context.Context, head conversation.Head) iter.Seq2[*conversation.Event, error] {
	return func(yield func(*conversation.Event, error) bool) {
		at := -1
		for i, e := range s {
			if e.Commit == string(head) {
				at = i
			}
		}
		for i := at; i >= 0 && yield(s[i], nil); i-- {
		}
	}
}

func event(seq int) *conversation.Event {
	return &conversation.Event{Seq: seq, Commit: string(rune('a' + seq)), Body: &conversation.Note{Content: "n"}}
}

func listen(t *testing.T) (*net.UnixListener, func() net.Conn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	return l, func() net.Conn {
		conn, err := net.Dial("unix", path)
		require.NoError(t, err)
		return conn
	}
}

func TestFollowAndAnswer(t *testing.T) {
	log := stored{event(0), event(1)}
	s := attach.NewServer(attach.Options{Conversation: id, PID: 7, Head: "b", Seq: 1})
	l, dial := listen(t)
	s.Serve(l)
	defer s.Close(attach.Bye{Reason: "over"})
	c, err := attach.Connect(t.Context(), dial())
	require.NoError(t, err)
	defer c.Close()
	require.Equal(t, attach.Hello{V: 1, Conversation: id, Head: "b", Seq: 1, PID: 7}, c.Hello())
	require.NoError(t, c.Send(&attach.Attach{V: attach.Version}))
	f := c.Follow(-1, log.back)
	events, _, err := f.Next(t.Context())
	require.NoError(t, err)
	require.Len(t, events, 2)
	log = append(log, event(2))
	f = c.Follow(1, func(ctx context.Context, h conversation.Head) iter.Seq2[*conversation.Event, error] {
		return log.back(ctx, h)
	})
	_, _, err = f.Next(t.Context())
	require.NoError(t, err)
	s.Recorded([]*conversation.Event{log[2]})
	events, _, err = f.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, events[0].Seq)
	p := s.Post(attach.Inquiry{Conversation: id, Seq: 2, Kind: conversation.KindToolQuestion, AnswerType: conversation.AnswerType{Type: "boolean"}})
	_, m, err := f.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, m.(*attach.Inquiry).Seq)
	require.NoError(t, c.Send(&attach.Answer{Seq: 2, Outcome: conversation.OutcomeAnswered, Value: json.RawMessage("true")}))
	require.Equal(t, json.RawMessage("true"), (<-p.Answer()).Value)
	p.Withdraw()
}
