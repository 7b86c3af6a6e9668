package attach_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"jp/process/attach"
)

// ways are how somebody who is attached leaves.
var ways = []struct {
	name  string
	leave func(t *testing.T, c *attach.Client)
}{
	{"detach", func(t *testing.T, c *attach.Client) {
		send(t, c, &attach.Detach{})
		require.Equal(t, "detached", next[*attach.Closing](t, c).Reason) // from here on the place is free
	}},
	{"close", func(t *testing.T, c *attach.Client) {
		require.NoError(t, c.Close())
		synctest.Wait()
	}},
}

func TestOneIsAttached(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				changes := 0
				r := newRig(t, attach.Options{Changed: func() { changes++ }})
				attached, moved := r.Attached()
				require.False(t, attached)
				first := r.attach()
				<-moved
				attached, moved = r.Attached()
				require.True(t, attached)
				require.True(t, r.State().Attached)
				require.Equal(t, 1, changes)

				second := r.connect()
				require.True(t, second.Hello().Attached)
				send(t, second, &attach.Attach{V: attach.Version})
				require.Equal(t, &attach.Closing{Reason: "another terminal is attached already"}, next[*attach.Closing](t, second))
				gone(t, second)
				select {
				case <-moved:
					require.Fail(t, "the first is still attached")
				default:
				}

				way.leave(t, first)
				<-moved
				require.False(t, r.State().Attached)
				third := r.attach()
				require.False(t, third.Hello().Attached)
				require.True(t, r.State().Attached)
				require.Equal(t, 3, changes)
			})
		})
	}
}

func TestAttachingTwiceIsAttachingOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := 0
		r := newRig(t, attach.Options{Changed: func() { changes++ }})
		c := r.attach()
		send(t, c, &attach.Attach{V: attach.Version})
		settle(t, c)
		require.Equal(t, 1, changes)
	})
}

// A peer that reads the goodbye may attach at once.
func TestThePlaceIsFreeBeforeTheGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, changed := false, make(chan bool, 2)
		r := newRig(t, attach.Options{Changed: func() {
			synctest.Wait() // all messages arrive
			changed <- told
		}})
		c := r.attach()
		heard := make(chan struct{})
		go func() {
			defer close(heard)
			next[*attach.Closing](t, c)
			told = true
		}()
		send(t, c, &attach.Detach{})
		<-changed
		require.False(t, <-changed)
		<-heard
	})
}

func TestWhoIsNotAttachedCanAnswerInterruptAndShutDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		r := newRig(t, attach.Options{
			Shutdown:  func() { close(ended) },
			Interrupt: func(i attach.Interrupt) error { return errTest(i.Action + " " + i.Text) },
			Doing:     func() attach.Status { return attach.Status{Running: true, Tool: "shell", SinceMS: 12} },
		})
		r.attach()
		c := r.connect()
		p := r.Ask(question(3))
		require.Equal(t, 3, next[*attach.Inquiry](t, c).Seq)
		send(t, c, yes(3))
		require.Equal(t, yes(3).Value, (<-p.Answer()).Value)
		send(t, c, &attach.Interrupt{})
		require.Equal(t, &attach.Status{Running: true, Tool: "shell", SinceMS: 12}, next[*attach.Status](t, c))
		send(t, c, &attach.Interrupt{Action: "reply", Text: "no"})
		require.Equal(t, &attach.Refused{Reason: "reply no"}, next[*attach.Refused](t, c))
		send(t, c, &attach.Shutdown{})
		<-ended
		require.True(t, r.State().Attached)
	})
}

type errTest string

func (e errTest) Error() string { return string(e) }

func TestAServerWithoutOptionsLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := attach.NewServer(attach.Options{}), newPipes()
		s.Serve(l)
		defer s.Close(attach.Closing{})
		r := &rig{Server: s, t: t, pipes: l}
		c := r.attach()
		send(t, c, &attach.Shutdown{})
		send(t, c, &attach.Resize{Columns: 80, Rows: 24})
		send(t, c, &attach.Interrupt{Action: "stop"})
		require.Equal(t, "there is nothing to interrupt", next[*attach.Refused](t, c).Reason)
		settle(t, c)
	})
}

func TestSay(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want attach.Message
	}{
		"kept":     {nil, &attach.Queued{Waiting: 2}},
		"refused":  {errTest("no"), &attach.Refused{Reason: "no"}},
		"too late": {attach.ErrEnding, &attach.Closing{Reason: "the turn is ending"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said := ""
				r := newRig(t, attach.Options{Say: func(text string) (int, error) {
					said = text
					return 2, c.err
				}})
				client := r.connect()
				send(t, client, &attach.Say{Text: "and then"})
				m, err := client.Next()
				require.NoError(t, err)
				require.Equal(t, c.want, m)
				require.Equal(t, "and then", said)
			})
		})
	}
}
