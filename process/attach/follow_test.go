package attach_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process/attach"
)

// seqs are the numbers of events.
func seqs(events []*conversation.Event) (n []int) {
	for _, e := range events {
		n = append(n, e.Seq)
	}
	return n
}

func TestFollow(t *testing.T) {
	cases := []struct {
		name    string
		durable int // at hello
		after   int
		first   []int
		live    []int // with the next event
	}{
		{"an empty conversation", 0, -1, nil, []int{0}},
		{"from the start", 3, -1, []int{0, 1, 2}, []int{3}},
		{"from within", 3, 0, []int{1, 2}, []int{3}},
		{"from the newest", 3, 2, nil, []int{3}},
		{"what is known already", 3, 3, nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, attach.Options{})
				for range c.durable {
					r.record(&conversation.Note{Content: "n"})
				}
				f := r.connect().Follow(c.after, r.log.back)
				r.log.add(&conversation.Note{Content: "durable, and not told yet"})
				events, m, err := f.Next(t.Context())
				require.NoError(t, err)
				require.Nil(t, m)
				require.Equal(t, c.first, seqs(events))

				r.Recorded(r.log.events[c.durable:])
				r.Noticed("that is all")
				events, m, err = f.Next(t.Context())
				require.NoError(t, err)
				require.Equal(t, c.live, seqs(events))
				require.Equal(t, c.live == nil, m != nil)
			})
		})
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		c := r.attach()
		f := c.Follow(-1, r.log.back)
		_, _, err := f.Next(t.Context())
		require.NoError(t, err)
		cause := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			synctest.Wait()
			cancel(cause)
		}()
		_, _, err = f.Next(ctx)
		require.ErrorIs(t, err, cause)
		send(t, c, &attach.Detach{})
		synctest.Wait()
		require.False(t, r.State().Attached, "it could still say so")
	})
}

func TestFollowSaysWhatItCannotRead(t *testing.T) {
	broken := errors.New("the disk is broken")
	cases := []struct {
		name string
		back func(r *rig, head conversation.Head, yield func(*conversation.Event, error) bool)
		want error
	}{
		{"an error", func(_ *rig, _ conversation.Head, yield func(*conversation.Event, error) bool) { yield(nil, broken) }, broken},
		{"nothing", func(*rig, conversation.Head, func(*conversation.Event, error) bool) {}, attach.ErrGap},
		{"not all", func(r *rig, _ conversation.Head, yield func(*conversation.Event, error) bool) {
			yield(r.log.events[1], nil)
		}, attach.ErrGap},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, attach.Options{})
				r.record(&conversation.Note{Content: "n"})
				r.record(&conversation.Note{Content: "n"})
				wrong := true
				f := r.connect().Follow(-1, func(ctx context.Context, head conversation.Head) iter.Seq2[*conversation.Event, error] {
					if !wrong {
						return r.log.back(ctx, head)
					}
					return func(yield func(*conversation.Event, error) bool) { c.back(r, head, yield) }
				})
				_, _, err := f.Next(t.Context())
				require.ErrorIs(t, err, c.want)
				wrong = false
				r.record(&conversation.Note{Content: "n"})
				events, _, err := f.Next(t.Context())
				require.NoError(t, err)
				require.Equal(t, []int{0, 1, 2}, seqs(events), "what could not be read comes with what follows")
			})
		})
	}
}
