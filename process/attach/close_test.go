package attach_test

import (
	"net"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process/attach"
)

func TestCloseSaysGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		reader, deaf, raw := r.attach(), r.silent(), r.dial()
		bye := attach.Closing{Reason: "the turn has ended", Ended: true, Status: "complete", Exit: 3, Text: "why"}
		closed := make(chan struct{})
		go func() {
			r.Close(bye)
			close(closed)
		}()
		require.Equal(t, "text", next[*attach.Delta](t, reader).Text)
		require.Equal(t, &bye, next[*attach.Closing](t, reader))
		gone(t, reader)
		<-closed // although one never reads, and one has stopped
		gone(t, deaf)
		_, err := raw.Read(make([]byte, 1))
		require.Error(t, err)
		require.False(t, r.State().Attached)
	})
}

// silent is a client that no longer reads, with something to read.
func (r *rig) silent() *attach.Client {
	c := r.connect()
	r.Streamed(delta(1, 0, "text"))
	return c
}

func TestCloseTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		r.silent()
		go r.Close(attach.Closing{Reason: "first"})
		synctest.Wait()
		r.Close(attach.Closing{Reason: "second"}) // waits for the first, too
		synctest.Wait()
		r.Close(attach.Closing{Reason: "third"})
	})
}

func TestNothingIsServedAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		r.Close(attach.Closing{Reason: "over"})
		<-r.pipes.closed
		l := newPipes()
		r.Serve(l)
		<-l.closed
		r.record(&conversation.Note{Content: "n"})
		r.Streamed(delta(1, 0, "text"))
		r.Noticed("hi")
		r.Ask(question(1)).Withdraw()
		require.Equal(t, attach.State{}, r.State())
	})
}

func TestAServerThatNobodyCouldReachIsClosed(t *testing.T) {
	attach.NewServer(attach.Options{}).Close(attach.Closing{})
}

func TestEveryListenerIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		second := newPipes()
		r.Serve(second)
		settle(t, r.connect())
		settle(t, (&rig{Server: r.Server, t: t, pipes: second}).connect())
		r.Close(attach.Closing{})
		<-r.pipes.closed
		<-second.closed
	})
}

// late is a listener that has accepted somebody in the moment when it is closed.
type late struct{ *pipes }

// Accept implements [net.Listener].
func (l late) Accept() (net.Conn, error) {
	<-l.closed
	select {
	case conn := <-l.conns:
		return conn, nil
	default:
		return nil, net.ErrClosed
	}
}

func TestWhoComesTooLateIsToldWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := late{newPipes()}
		s := attach.NewServer(attach.Options{})
		s.Serve(l)
		mine, theirs := net.Pipe()
		go func() { l.conns <- theirs }()
		synctest.Wait()
		go s.Close(attach.Closing{Reason: "the turn has ended"})
		_, err := attach.Connect(t.Context(), mine)
		require.ErrorIs(t, err, attach.ErrGone)
		require.ErrorContains(t, err, "the turn has ended")
	})
}

// Descriptors are counted if the system shows them.
func TestNoDescriptorIsLeft(t *testing.T) {
	const shown = "/proc/self/fd"
	if _, err := os.ReadDir(shown); err != nil {
		// Open descriptors can only be counted if the system lists them.
		t.Skip("this system does not show a process's descriptors: ", err)
	}
	count := func() int {
		entries, err := os.ReadDir(shown)
		require.NoError(t, err)
		return len(entries)
	}
	session := func() {
		l, dial := socket(t)
		s := attach.NewServer(attach.Options{})
		s.Serve(l)
		var conns []net.Conn
		for range 20 { // some are too many
			conn, err := dial()
			require.NoError(t, err)
			conns = append(conns, conn)
		}
		_, err := conns[0].Write([]byte("garbage\n"))
		require.NoError(t, err)
		c, err := attach.Connect(t.Context(), conns[1])
		require.NoError(t, err)
		go s.Close(attach.Closing{Reason: "over"})
		for err == nil {
			_, err = c.Next()
		}
		s.Close(attach.Closing{})
		for _, conn := range conns {
			conn.Close()
		}
	}
	session() // descriptors that the runtime opens once
	before := count()
	session()
	require.Equal(t, before, count())
}
