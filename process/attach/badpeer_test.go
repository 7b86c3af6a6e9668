package attach_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process/attach"
)

// words are possible messages of a peer, with the answers. If bye is "", the peer stays.
var words = []struct{ name, said, bye string }{
	{"nothing", "", ""},
	{"garbage", "GET / HTTP/1.1\r\n", "invalid message"},
	{"an empty line", "\n", "invalid message"},
	{"zeros", strings.Repeat("\x00", 100) + "\n", "invalid message"},
	{"zeros without end", strings.Repeat("\x00", 2<<20), "longer than 1 MiB"},
	{"one byte more than a frame", strings.Repeat(" ", attach.MaxFrame) + "\n", "longer than 1 MiB"},
	{"a whole frame", `{"type":"weather"` + strings.Repeat(" ", attach.MaxFrame-19) + "}\n", ""},
	{"no object", `[]` + "\n", "invalid message"},
	{"null", "null\n", "invalid message"},
	{"an object without type", "{}\n", "invalid message"},
	{"a type that is a number", `{"type":7}` + "\n", "invalid message"},
	{"an unknown type", `{"type":"weather","v":"x","seq":[]}` + "\n", ""},
	{"unknown fields", `{"type":"resize","columns":1,"depth":{"a":[1]}}` + "\n", ""},
	{"a word of the server", helloLine + `{"type":"bye","reason":"x"}` + "\n", ""},
	{"a number that is text", `{"type":"answer","seq":"1"}` + "\n", "seq"},
	{"a number that is huge", `{"type":"answer","seq":` + strings.Repeat("7", 900_000) + "}\n", "number 777"},
	{"a version that is text", `{"type":"attach","v":"1"}` + "\n", "invalid message"},
	{"an object that is a list", `{"type":"attach","v":[1]}` + "\n", "invalid message"},
	{"a value of great depth", `{"type":"answer","seq":1,"value":` + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000) + "}\n", "invalid message"},
	{"half a message", `{"type":"shutdown"}`, ""},
	{"half a rune", "{\"type\":\"interrupt\",\"action\":\"\xe2\x82\"}\n", ""},
}

func TestBadPeers(t *testing.T) {
	for _, w := range words {
		t.Run(w.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, attach.Options{Shutdown: func() { require.Fail(t, "nobody wants that") }, Interrupt: func(attach.Interrupt) error { return nil }})
				other := r.attach()
				conn := r.dial()
				c, err := attach.Connect(t.Context(), conn)
				require.NoError(t, err)
				go func() { _, _ = conn.Write([]byte(w.said)) }()
				synctest.Wait()
				r.Noticed("hear")
				if w.bye == "" {
					require.Equal(t, "hear", next[*attach.Notice](t, c).Text)
					c.Close()
				} else {
					bye := next[*attach.Closing](t, c).Reason
					require.Contains(t, bye, w.bye)
					require.Less(t, len(bye), 5000)
					gone(t, c)
				}
				require.Equal(t, "hear", next[*attach.Notice](t, other).Text)
				settle(t, other)
			})
		})
	}
}

func TestAPeerThatSpeaksInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		conn := r.dial()
		c, err := attach.Connect(t.Context(), conn)
		require.NoError(t, err)
		for _, b := range []byte(`{"type":"attach","v":1}` + "\n") {
			require.False(t, r.State().Attached)
			_, err := conn.Write([]byte{b})
			require.NoError(t, err)
		}
		settle(t, c)
		require.True(t, r.State().Attached)
	})
}

func TestAPeerThatDoesNotReadIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		deaf := r.attach()
		reader := r.connect()
		e := &conversation.Event{Body: &conversation.Note{Content: "n"}, Subject: strings.Repeat("x", 1000)}
		text := strings.Repeat("x", 9000)
		for i := range 1000 { // 10 MB
			r.Streamed(delta(1, i*len(text), text))
			r.Recorded([]*conversation.Event{e})
			next[*attach.Delta](t, reader)
			next[*attach.Event](t, reader)
		}
		settle(t, reader)
		gone(t, deaf)
		require.False(t, r.State().Attached)
	})
}

// The kernel's buffer of a connection, and the peer's requests, make no difference.
func TestAPeerThatAsksAndDoesNotRead(t *testing.T) {
	r := newRig(t, attach.Options{})
	l, dial := socket(t)
	r.Serve(l)
	conn, err := dial()
	require.NoError(t, err)
	defer conn.Close()
	ask := bytes.Repeat([]byte(`{"type":"interrupt"}`+"\n"), 1000)
	for err == nil {
		_, err = conn.Write(ask) // until the server has enough
	}
	_, _ = io.Copy(io.Discard, conn)
	settle(t, r.connect())
}

// The greeting may be long. It makes no room for later messages.
func TestALongGreetingIsNoCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		worst := strings.Repeat("\x01", 1<<20) // six times as long in JSON
		r.Streamed(delta(1, 0, worst))
		c := r.connect()
		for at := 0; at < len(worst); {
			at += len(next[*attach.Delta](t, c).Text)
		}
		for range 400 {
			r.Noticed(strings.Repeat("x", 4000)) // more than waits for anybody
		}
		heard := 0
		for {
			if _, err := c.Next(); err != nil {
				break
			}
			heard++
		}
		require.Less(t, heard, 300)
	})
}

func TestTooManyPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		var peers []*attach.Client
		for range 16 {
			peers = append(peers, r.connect())
		}
		_, err := attach.Connect(t.Context(), r.dial())
		require.ErrorIs(t, err, attach.ErrGone)
		require.ErrorContains(t, err, "too many are connected")
		require.NoError(t, peers[3].Close())
		synctest.Wait()
		settle(t, r.connect())
		settle(t, peers[15])
	})
}

func TestAStormOfPeers(t *testing.T) {
	r := newRig(t, attach.Options{})
	l, dial := socket(t)
	r.Serve(l)
	for range 10_000 {
		queued(t, dial).Close()
	}
	c, err := attach.Connect(t.Context(), queued(t, dial))
	for errors.Is(err, attach.ErrGone) { // there are too many still
		c, err = attach.Connect(t.Context(), queued(t, dial))
	}
	require.NoError(t, err)
	defer c.Close()
	settle(t, c)
}

// queued dials as soon as the listener's queue has room.
func queued(t *testing.T, dial func() (net.Conn, error)) net.Conn {
	t.Helper()
	conn, err := dial()
	for errors.Is(err, syscall.EAGAIN) {
		runtime.Gosched()
		conn, err = dial()
	}
	require.NoError(t, err)
	return conn
}

func TestAListenerThatErrsGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		for range 3 {
			r.pipes.errs <- syscall.EMFILE
		}
		settle(t, r.connect())
		r.pipes.errs <- syscall.EMFILE // and can be closed meanwhile
	})
}

// broken is a listener that always fails, also when it is closed.
type broken struct{ *pipes }

// Accept implements [net.Listener].
func (broken) Accept() (net.Conn, error) { return nil, syscall.EMFILE }

func TestAListenerThatOnlyErrsDoesNotOutliveClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := attach.NewServer(attach.Options{})
		s.Serve(broken{newPipes()})
		synctest.Wait()
		s.Close(attach.Closing{})
	})
}

// After any message of a peer, the next one is greeted.
func FuzzServer(f *testing.F) {
	for _, w := range words {
		if len(w.said) < 1000 {
			f.Add([]byte(w.said))
		}
	}
	for _, m := range messages {
		line, err := attach.Encode(m)
		require.NoError(f, err)
		f.Add(line)
		f.Add(append(line, line...))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		r := newRig(t, attach.Options{})
		r.Ask(question(2))
		r.Streamed(delta(1, 0, "text"))
		conn := r.dial()
		go func() {
			_, _ = conn.Write(said)
			conn.Close()
		}()
		_, _ = io.Copy(io.Discard, conn)
		c := r.connect()
		require.Equal(t, id, c.Hello().Conversation)
		require.Equal(t, "text", next[*attach.Delta](t, c).Text)
		require.Equal(t, 2, next[*attach.Inquiry](t, c).Seq)
	})
}
