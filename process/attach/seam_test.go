package attach_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/process/attach"
)

// A viewer is somebody who looks at a turn through one client after another.
type viewer struct {
	t      testingT
	log    *journal
	client *attach.Client // nil between two
	follow *attach.Follower
	begun  bool
	seen   int // events, from 0
	call   int
	text   map[int]string // in flight, by seq
}

func (v *viewer) connect(conn net.Conn) error {
	c, err := attach.Connect(v.t.Context(), conn)
	if err != nil {
		return err
	}
	v.client, v.begun, v.call, v.text = c, false, 0, map[int]string{}
	v.follow = c.Follow(v.seen-1, v.log.back)
	return nil
}

func (v *viewer) kill() {
	if v.client != nil {
		v.client.Close()
		v.client = nil
	}
}

// read takes one step, and checks its message.
func (v *viewer) read() (attach.Message, error) {
	events, m, err := v.follow.Next(v.t.Context())
	for _, e := range events {
		require.Equal(v.t, v.seen, e.Seq, "events come once and in order")
		v.seen++
		if b, ok := e.Body.(*conversation.ChatResponse); ok && v.begun {
			require.Equal(v.t, b.Text, v.text[e.Seq], "the text before event %d is the event's", e.Seq)
		}
		delete(v.text, e.Seq)
	}
	v.begun = true
	if d, ok := m.(*attach.Delta); ok {
		v.streamed(d)
	}
	return m, err
}

// streamed puts text together, as a display does.
func (v *viewer) streamed(d *attach.Delta) {
	if d.Call != v.call {
		v.call, v.text = d.Call, map[int]string{}
	}
	require.Equal(v.t, len(v.text[d.Seq]), d.At, "text has no gaps")
	v.text[d.Seq] += d.Text
}

// A turn is a loop that streams parts and records them.
type turn struct {
	*rig
	call, marks int
	open        []string // texts of the parts that are not durable yet
}

// says streams more of a part that is open, or of a new one.
func (u *turn) says(part int, text string) {
	if part >= len(u.open) {
		part, u.open = len(u.open), append(u.open, "")
	}
	d := attach.Delta{Seq: len(u.log.events) + part, Call: u.call, Part: conversation.PartMessage, At: len(u.open[part]), Text: text}
	u.open[part] += text
	u.Streamed(d)
}

// records makes the first parts durable, or a note if none is open.
func (u *turn) records(n int) {
	if len(u.open) == 0 {
		u.record(&conversation.Note{Content: "n"})
		return
	}
	var events []*conversation.Event
	for range min(n, len(u.open)) {
		events = append(events, u.log.add(&conversation.ChatResponse{Call: u.call, Part: conversation.PartMessage, Text: u.open[0]}))
		u.open = u.open[1:]
	}
	u.Recorded(events)
}

// retries makes the call again.
func (u *turn) retries() { u.call, u.open = u.call+1, nil }

// show lets a viewer read so many steps, at most those that there are now.
func (u *turn) show(v *viewer, steps int) {
	if v.client == nil {
		require.NoError(u.t, v.connect(u.dial()))
	}
	u.marks++
	mark := fmt.Sprint("mark ", u.marks)
	u.Noticed(mark)
	for range steps {
		m, err := v.read()
		require.NoError(u.t, err)
		if n, ok := m.(*attach.Notice); ok && n.Text == mark {
			u.shown(v)
			return
		}
	}
}

// shown requires that a viewer who has read everything knows everything.
func (u *turn) shown(v *viewer) {
	require.Equal(u.t, len(u.log.events), v.seen)
	for i, text := range u.open {
		require.Equal(u.t, text, v.text[v.seen+i])
	}
}

func TestNothingIsLostOrToldTwiceBetweenClients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := &turn{rig: newRig(t, attach.Options{}), call: 1}
		viewers := make([]*viewer, 3)
		for i := range viewers {
			viewers[i] = &viewer{t: t, log: &u.log}
			t.Cleanup(viewers[i].kill)
		}
		one := rapid.SampledFrom(viewers)
		t.Repeat(map[string]func(*rapid.T){
			"stream": func(t *rapid.T) {
				u.says(rapid.IntRange(0, 2).Draw(t, "part"), rapid.StringN(1, 8, -1).Draw(t, "text"))
			},
			"record": func(t *rapid.T) { u.records(rapid.IntRange(1, 3).Draw(t, "parts")) },
			"retry":  func(*rapid.T) { u.retries() },
			"read":   func(t *rapid.T) { u.show(one.Draw(t, "viewer"), rapid.IntRange(1, 12).Draw(t, "steps")) },
			"kill":   func(t *rapid.T) { one.Draw(t, "viewer").kill() },
		})
		for _, v := range viewers {
			u.show(v, 1<<20)
		}
	})
}

// The loop speaks from one goroutine while peers come, answer and go as they like.
func TestPeersComeAndGoWhileTheLoopSpeaks(t *testing.T) {
	const events = 300
	r := newRig(t, attach.Options{})
	l, dial := socket(t)
	r.Serve(l)
	var peers sync.WaitGroup
	for i := range uint64(4) {
		v := &viewer{t: t, log: &r.log}
		peers.Go(func() { v.watch(rand.New(rand.NewPCG(1, i)), events, dial) })
	}
	done := make(chan struct{})
	for range 2 {
		peers.Go(func() { keepAnswering(t, done, dial) })
	}
	u := &turn{rig: r, call: 1}
	for i := range events {
		u.says(0, "some ")
		u.says(0, "text")
		u.records(1)
		if i%20 == 0 {
			q := r.Ask(question(i))
			require.Equal(t, "true", string((<-q.Answer()).Value))
			q.Withdraw()
		}
	}
	close(done)
	peers.Wait()
}

// watch looks on through short connections until it has seen so many events.
func (v *viewer) watch(random *rand.Rand, events int, dial func() (net.Conn, error)) {
	for v.seen < events {
		conn, err := dial()
		if err != nil || v.connect(conn) != nil {
			continue // too many at once
		}
		err = nil
		for steps := random.IntN(40); steps > 0 && v.seen < events && err == nil; steps-- {
			_, err = v.read()
		}
		v.kill()
	}
}

// keepAnswering attaches, answers the questions, and leaves, over and over.
func keepAnswering(t *testing.T, done <-chan struct{}, dial func() (net.Conn, error)) {
	for {
		select {
		case <-done:
			return
		default:
		}
		conn, err := dial()
		if err != nil {
			continue
		}
		c, err := attach.Connect(t.Context(), conn)
		if err != nil {
			continue
		}
		_ = c.Send(&attach.Attach{V: attach.Version})
		_ = c.Send(&attach.Interrupt{})
		for answered := false; !answered; {
			m, err := c.Next()
			if q, ok := m.(*attach.Inquiry); ok {
				_ = c.Send(&attach.Answer{Seq: q.Seq, Outcome: conversation.OutcomeAnswered, Value: []byte("true")})
			}
			_, status := m.(*attach.Status)
			answered = status || err != nil
		}
		_ = c.Send(&attach.Detach{})
		c.Close()
	}
}
