package journaltest_test

import (
	"context"
	"flag"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/internal/testing/journaltest"
)

// verdict takes the failures of a test in its place.
type verdict struct {
	testing.TB
	failed bool
}

func (v *verdict) Errorf(string, ...any) { v.failed = true }
func (v *verdict) Fatalf(string, ...any) { v.FailNow() }
func (v *verdict) Fail()                 { v.failed = true }
func (v *verdict) Failed() bool          { return v.failed }
func (v *verdict) Log(...any)            {}
func (v *verdict) Logf(string, ...any)   {}
func (v *verdict) FailNow() {
	v.failed = true
	runtime.Goexit()
}

// fails reports whether the machine finds something in journals.
func fails(t *testing.T, open func() conversation.Journal) bool {
	v := &verdict{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		journaltest.Machine(v, 100, func(*rapid.T) journaltest.Subject { return journaltest.Subject{Journal: open()} })
	}()
	<-done
	return v.failed
}

// blind appends behind the newest event, of any kind.
type blind struct{ *journaltest.Memory }

func (b blind) Append(ctx context.Context, id conversation.ID, _ conversation.Head, events []*conversation.Event) (conversation.Head, error) {
	head, err := b.Head(ctx, id)
	if err != nil {
		return "", err
	}
	return b.Memory.Append(ctx, id, head, events)
}

// sleepy reads the conversation as it was when it was read first.
type sleepy struct {
	*journaltest.Memory
	heads map[conversation.ID]conversation.Head
}

func (s sleepy) Head(ctx context.Context, id conversation.ID) (conversation.Head, error) {
	if head, ok := s.heads[id]; ok {
		return head, nil
	}
	head, err := s.Memory.Head(ctx, id)
	if err == nil {
		s.heads[id] = head
	}
	return head, err
}

// set gives a flag another value until the test ends.
func set(t *testing.T, name, value string) {
	t.Helper()
	before := flag.Lookup(name).Value.String()
	require.NoError(t, flag.Set(name, value))
	t.Cleanup(func() { require.NoError(t, flag.Set(name, before)) })
}

func TestMachineFindsBrokenJournals(t *testing.T) {
	set(t, "rapid.nofailfile", "true")
	set(t, "rapid.shrinktime", "0s")
	require.True(t, fails(t, func() conversation.Journal { return blind{journaltest.NewMemory()} }))
	require.True(t, fails(t, func() conversation.Journal {
		return sleepy{journaltest.NewMemory(), map[conversation.ID]conversation.Head{}}
	}))
}
