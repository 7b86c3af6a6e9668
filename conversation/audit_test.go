package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestLocal(t *testing.T) {
	signed := func(text string, foreign ...int) []*Event {
		events := words(text).events()
		for _, e := range events {
			e.Signed = true
		}
		for _, seq := range foreign {
			events[seq].Signed = false
		}
		return events
	}
	require.False(t, Local(nil))
	require.True(t, Local(signed("T Q M. T Q")))
	require.True(t, Local(signed("T Q M. T Q", 1)), "earlier turns may be anybody's")
	require.False(t, Local(signed("T Q M. T Q", 3)))
	require.False(t, Local(signed("T Q M. T Q", 4)))
	require.False(t, Local(signed("G W", 1)))
	events := signed("T Q M. G", 0, 1, 2)
	require.False(t, Local(events))
	events[3].Body = &ForkOrigin{}
	require.False(t, Local(events), "a fork alone adopts nothing")
	events[3].Body = &ForkOrigin{Adopted: true}
	require.True(t, Local(events))
}

func TestAudit(t *testing.T) {
	require.Empty(t, Audit(words("G T Q C1. I1 A1 D1 M. T Q S").events()))
	problems := Audit(words("T Q M. D1 T Q C1. S").events())
	require.Len(t, problems, 2)
	require.Equal(t, 3, problems[0].Seq)
	require.Equal(t, 7, problems[1].Seq)
}
