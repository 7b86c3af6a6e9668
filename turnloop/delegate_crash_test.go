package turnloop_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	. "jp/turnloop"
)

// crashing lets the family's process be ended at an append of either
// conversation.
func (f *family) crashing() *crashRig { return &crashRig{rig: f.rig} }

// finish goes on with the parent to its end, and judges both conversations.
func (f *family) finish() {
	f.reload()
	loop := New(f.opts)
	run := loop.Run
	if f.opts.Conversation.Stream.Len() == 0 {
		run = func(ctx context.Context) (Outcome, error) {
			return loop.Start(ctx, Request{Chat: conversation.ChatRequest{Content: "do it"}})
		}
	}
	o, err := run(f.t.Context())
	require.NoError(f.t, err)
	require.Equal(f.t, Complete, o.Status)
	f.check()
	for _, result := range f.results() {
		if result.Name == "delegate" {
			require.Equal(f.t, "The child is done.", result.Content, "the child's answer is the parent's result")
		}
	}
	child := f.child(f.Child)
	require.Empty(f.t, conversation.Audit(child))
	_, tail := conversation.SplitTail(child)
	require.Nil(f.t, tail)
	for seq, n := range f.runs {
		require.Equal(f.t, 1, n, "the child's call %d", seq)
	}
	f.requireTold(child)
}

// requireTold checks that the child's model was told of each of its calls either
// the result or that its outcome is unknown.
func (f *family) requireTold(child []*conversation.Event) {
	for _, e := range child {
		b, ok := e.Body.(*conversation.ToolCallResponse)
		if ok && (b.Name == "write" || b.Name == "ask") {
			require.True(f.t, b.Content == "written" && f.runs[b.For] == 1 || strings.Contains(b.Content, "unknown"), b.Content)
		}
	}
}

func TestACrashAtEveryAppendOfParentAndChild(t *testing.T) {
	whole := newFamily(t)
	whole.done()
	require.Greater(t, whole.journal.count, 25)
	for _, how := range []crash{refuses, dies, silent} {
		for n := 1; n <= whole.journal.count; n++ {
			t.Run(fmt.Sprint(how, n), func(t *testing.T) {
				f := newFamily(t)
				c := f.crashing()
				_, _ = New(f.opts).Start(c.crashAt(n, how), Request{Chat: conversation.ChatRequest{Content: "do it"}})
				c.heal()
				require.Empty(t, c.problems)
				f.finish()
			})
		}
	}
}

func TestParentAndChildSurviveAnyCrashes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFamily(rt)
		c := f.crashing()
		for range rapid.IntRange(2, 4).Draw(rt, "crashes") {
			ctx := c.crashAt(rapid.IntRange(1, 20).Draw(rt, "at"), crash(rapid.IntRange(0, 2).Draw(rt, "how")))
			f.reload()
			if f.opts.Conversation.Stream.Len() == 0 {
				_, _ = New(f.opts).Start(ctx, Request{Chat: conversation.ChatRequest{Content: "do it"}})
			} else {
				_, _ = New(f.opts).Run(ctx)
			}
			c.heal()
		}
		f.finish()
	})
}

// TestAChildThatWasFinishedByItself cuts both conversations at each append, and
// lets the child be gone on with alone first.
func TestAChildThatWasFinishedByItself(t *testing.T) {
	whole := newFamily(t)
	whole.done()
	for n := 1; n <= whole.journal.count; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			f := newFamily(t)
			c := f.crashing()
			_, _ = New(f.opts).Start(c.crashAt(n, dies), Request{Chat: conversation.ChatRequest{Content: "do it"}})
			c.heal()
			if f.Child != "" && len(f.child(f.Child)) > 0 {
				o, err := New(f.childOptions(f.Child)).Run(t.Context())
				require.NoError(t, err)
				require.Equal(t, Complete, o.Status)
			}
			f.finish()
		})
	}
}
