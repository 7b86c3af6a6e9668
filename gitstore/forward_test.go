package gitstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// forward are the events of a conversation, oldest first, at most n.
func (f *fixture) forward(of conversation.Info, n int) (events []*conversation.Event, err error) {
	for e, err := range f.Forward(f.t.Context(), of) {
		if err != nil {
			return events, err
		}
		if events = append(events, e); len(events) == n {
			break
		}
	}
	return events, nil
}

func TestForwardIsLoad(t *testing.T) {
	f := newFixture(t)
	for i, n := range []int{1, 31, 32, 33, 127, 128, 129, 200} {
		info := f.chat(1+i, n)
		all := must(f.Load(t.Context(), info.Head))
		for _, most := range []int{2 * n, 2 * n, 1, n} { // first without an index
			events, err := f.again().forward(info, most)
			require.NoError(t, err)
			require.Equal(t, all[:most], events)
		}
	}
}

func TestForwardStopsAtDamage(t *testing.T) {
	f := newFixture(t)
	info := f.chat(1, 200)
	all := must(f.Load(t.Context(), info.Head))
	_, err := f.forward(info, 1)
	require.NoError(t, err)
	missing := all[200].Commit
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git/objects", missing[:2], missing[2:])))
	events, err := f.again().forward(info, len(all))
	require.ErrorIs(t, err, conversation.ErrDamaged)
	require.Equal(t, all[:193], events, "up to the entry of the index below")
}
