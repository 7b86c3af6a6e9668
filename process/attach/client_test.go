package attach_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"jp/process/attach"
)

// andEnd says something and hangs up.
func andEnd(text string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Write([]byte(text))
		conn.Close()
	}
}

// greetings are possible first messages of a process.
var greetings = []struct {
	name   string
	server func(net.Conn)
	want   error // nil: it succeeds
	words  string
}{
	{"hello", func(c net.Conn) { _, _ = c.Write([]byte(helloLine)) }, nil, ""},
	{"hello in bytes", func(c net.Conn) {
		for i := range len(helloLine) {
			_, _ = c.Write([]byte(helloLine[i : i+1]))
		}
	}, nil, ""},
	{"a word that it does not know first", func(c net.Conn) { _, _ = c.Write([]byte(`{"type":"weather"}` + "\n" + helloLine)) }, nil, ""},
	{"silence", func(net.Conn) {}, attach.ErrGone, "timeout"},
	{"half a hello and silence", func(c net.Conn) { _, _ = c.Write([]byte(helloLine[:40])) }, attach.ErrGone, "timeout"},
	{"half a hello and the end", andEnd(helloLine[:40]), attach.ErrGone, ""},
	{"a hello that ends without a newline", andEnd(strings.TrimSpace(helloLine)), attach.ErrGone, ""},
	{"the end", andEnd(""), attach.ErrGone, ""},
	{"goodbye", andEnd(`{"type":"bye","reason":"too many"}` + "\n"), attach.ErrGone, "too many"},
	{"another word", andEnd(`{"type":"notice","text":"hi"}` + "\n"), attach.ErrGarbled, "no hello comes first"},
	{"no message", andEnd("SSH-2.0\n"), attach.ErrGarbled, "SSH"},
	{"a line without end", andEnd(strings.Repeat(" ", 2<<20)), attach.ErrTooLong, ""},
	{"another version", andEnd(`{"type":"hello","v":2,"pid":7}` + "\n"), &attach.VersionError{Theirs: 2}, "version 2 of the attach protocol, this jp version 1"},
}

func TestConnect(t *testing.T) {
	for _, c := range greetings {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mine, theirs := net.Pipe()
				defer mine.Close()
				defer theirs.Close()
				go c.server(theirs)
				client, err := attach.Connect(t.Context(), mine)
				if c.want == nil {
					require.NoError(t, err)
					require.Equal(t, attach.Hello{V: 1, Conversation: id, Head: "c00004", Seq: 4, PID: 7, Attached: true}, client.Hello())
					return
				}
				var version *attach.VersionError
				if errors.As(err, &version) {
					require.Equal(t, c.want, version)
				} else {
					require.ErrorIs(t, err, c.want)
					require.Nil(t, client)
					_, err := mine.Write([]byte("x"))
					require.ErrorIs(t, err, io.ErrClosedPipe, "the connection was taken over")
				}
				require.ErrorContains(t, err, c.words)
			})
		})
	}
}

// The patience of Connect does not limit later messages.
func TestALongSilenceBehindHelloIsNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		c := r.connect()
		<-time.After(time.Hour) // of the bubble's clock
		r.Noticed("at last")
		require.Equal(t, "at last", next[*attach.Notice](t, c).Text)
		settle(t, c)
	})
}

func TestConnectEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine, theirs := net.Pipe()
		defer theirs.Close()
		cause := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			synctest.Wait()
			cancel(cause)
		}()
		client, err := attach.Connect(ctx, mine)
		require.ErrorIs(t, err, cause)
		require.Nil(t, client)
		_, err = theirs.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
	})
}

// Only the number in a hello of another version has a meaning.
func TestAServerOfAnotherVersionCanBeShutDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine, theirs := net.Pipe()
		defer theirs.Close()
		go func() {
			_, _ = theirs.Write([]byte(`{"type":"hello","v":7,"seq":"four","head":["a","b"],"pid":7}` + "\n"))
		}()
		c, err := attach.Connect(t.Context(), mine)
		require.Equal(t, &attach.VersionError{Theirs: 7}, err)
		defer c.Close()
		require.Equal(t, 7, c.Hello().V)
		go func() { _ = c.Send(&attach.Shutdown{}) }()
		line := make([]byte, 100)
		n, err := theirs.Read(line)
		require.NoError(t, err)
		require.JSONEq(t, `{"type":"shutdown"}`, string(line[:n]))
	})
}

func TestAClientOfAnotherVersionIsSentAway(t *testing.T) {
	for _, line := range []string{`{"type":"attach","v":2}`, `{"type":"attach","v":2,"type":"attach"}`, `{"type":"attach"}`} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, attach.Options{})
			conn := r.dial()
			c, err := attach.Connect(t.Context(), conn)
			require.NoError(t, err)
			_, err = conn.Write([]byte(line + "\n"))
			require.NoError(t, err)
			bye := next[*attach.Closing](t, c)
			require.Contains(t, bye.Reason, "this process speaks version 1 of the attach protocol, the client version ")
			gone(t, c)
			require.False(t, r.State().Attached)
		})
	}
}

func TestSendToWhoDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine, theirs := net.Pipe()
		defer theirs.Close()
		go func() { _, _ = theirs.Write([]byte(helloLine)) }()
		c, err := attach.Connect(t.Context(), mine)
		require.NoError(t, err)
		go func() { _, _ = theirs.Read(make([]byte, 5)) }() // and too late for the rest
		require.ErrorIs(t, c.Send(&attach.Detach{}), attach.ErrGone)
		read := make(chan []byte)
		go func() {
			rest, _ := io.ReadAll(theirs)
			read <- rest
		}()
		require.ErrorIs(t, c.Send(&attach.Shutdown{}), attach.ErrGone)
		require.ErrorIs(t, c.Send(&attach.Interrupt{Text: strings.Repeat("x", attach.MaxFrame)}), attach.ErrTooLong)
		c.Close()
		require.Empty(t, <-read, "nothing can follow half a message")
	})
}

func TestAMessageThatTheEndCutsIsNoMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Write([]byte(helloLine + `{"type":"notice","te`))
			theirs.Close()
		}()
		c, err := attach.Connect(t.Context(), mine)
		require.NoError(t, err)
		defer c.Close()
		gone(t, c)
	})
}
