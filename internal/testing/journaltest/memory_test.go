package journaltest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/journaltest"
)

func TestMemory(t *testing.T) {
	journaltest.Run(t, func(*testing.T) conversation.Journal { return journaltest.NewMemory() })
}

func TestMemoryMachine(t *testing.T) {
	n := journaltest.Machine(t, row.Of(40, 200, 2000), func(*rapid.T) journaltest.Subject {
		m := journaltest.NewMemory()
		return journaltest.Subject{Journal: m, Again: func() conversation.Journal { return m }}
	})
	row.Log(t, row.Row{Class: "m", Name: "random commands, journal in memory", Points: n, Note: "each compared with lists of events"})
}

func TestMemoryFault(t *testing.T) {
	full := errors.New("disk full")
	m := journaltest.NewMemory()
	m.Fault = func(events []*conversation.Event) error {
		if events[0].Seq > 0 {
			return full
		}
		return nil
	}
	s := journaltest.NewScript(t).Turn("a").Says("b")
	head, err := m.Create(t.Context(), journaltest.ID(1), "", s.Events())
	require.NoError(t, err)
	s.Turn("c")
	_, err = m.Append(t.Context(), journaltest.ID(1), head, s.Events()[3:])
	require.ErrorIs(t, err, full)
	now, err := m.Head(t.Context(), journaltest.ID(1))
	require.NoError(t, err)
	require.Equal(t, head, now)
	require.Empty(t, s.Stream.Last().Commit)
}

func TestMemoryRefusesToExtendWhatIsNewer(t *testing.T) {
	m := journaltest.NewMemory()
	s := journaltest.NewScript(t).Turn("a").Says("b")
	head, err := m.Create(t.Context(), journaltest.ID(1), "", s.Events())
	require.NoError(t, err)
	line := `{"needs":["quorum"],"seq":3,"time":"2025-07-19T15:00:00Z","turn":1,"type":"note","v":1}`
	newer, _, err := conversation.DecodeHeader([]byte(line))
	require.NoError(t, err)
	head, err = m.Append(t.Context(), journaltest.ID(1), head, []*conversation.Event{newer})
	require.NoError(t, err)
	s.Records(&conversation.ConfigDelta{Delta: []byte(`{}`)}).Turn("c")
	_, err = m.Append(t.Context(), journaltest.ID(1), head, s.Events()[4:])
	require.ErrorIs(t, err, conversation.ErrNewer)
}

func TestMemoryForgetsAPayload(t *testing.T) {
	m := journaltest.NewMemory()
	events := journaltest.Turn(t, "a", "b")
	events[1].Payloads = []conversation.Payload{{Name: "x", Data: []byte("secret")}}
	_, err := m.Create(t.Context(), journaltest.ID(1), "", events)
	require.NoError(t, err)
	m.Forget(*events[1].Payload("x"))
	_, ok, err := m.Payload(t.Context(), *events[1].Payload("x"))
	require.NoError(t, err)
	require.False(t, ok)
}

func TestMemoryIsSafeForConcurrentUse(t *testing.T) {
	m := journaltest.NewMemory()
	_, err := m.Create(t.Context(), journaltest.ID(1), "", journaltest.Turn(t, "a", "b"))
	require.NoError(t, err)
	done := make(chan error)
	for range 4 {
		go func() {
			_, err := m.List(t.Context(), conversation.ScopeLive)
			done <- err
		}()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
}
