package provider

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

// growing makes the requests of every beginning of a conversation, with and without the known messages of its
// complete turns, and compares them. It returns how many messages were reused.
func growing(t require.TestingT, all []*conversation.Event, target Target, about string) (known int) {
	var complete CompleteTurns
	type sent struct {
		messages []Message
		json     string
	}
	var earlier []sent
	for n := range all {
		beginning := all[: n+1 : n+1]
		anew, none := knownMessages(beginning, target, nil)
		messages, turns := knownMessages(beginning, target, &complete)
		if !reflect.DeepEqual(anew, messages) {
			require.Equal(t, anew, messages, "%s up to %d", about, n)
		}
		if called, ended := turns.calls(messages), turns.endedCalls(beginning); !slices.Equal(none.calls(anew), called) || none.endedCalls(beginning) != ended || len(SaidIn(beginning)) != ended {
			require.Fail(t, "other calls", "%s up to %d: %q, %d", about, n, called, ended)
		}
		plain, kept := &Request{System: "s", Messages: anew}, &Request{System: "s", Messages: messages, turns: turns}
		for range 2 { // the second one uses the kept messages of the first
			if plain.Prefix() != kept.Prefix() {
				require.Fail(t, "another prefix", "%s up to %d", about, n)
			}
		}
		known += turns.begins(kept.Messages)
		data, err := json.Marshal(kept.Messages)
		require.NoError(t, err)
		earlier = append(earlier, sent{kept.Messages, string(data)})
	}
	for n, e := range earlier {
		data, err := json.Marshal(e.messages)
		require.NoError(t, err)
		require.Equal(t, e.json, string(data), "%s: a later request changed that of event %d", about, n)
	}
	return known
}

func TestKnownTurnsChangeNoRequest(t *testing.T) {
	known := 0
	for _, shape := range []struct{ before, after string }{
		{"T Q M. T Q ", " T Q M."}, {"T Q R C1+ D1 M. T Q M. T ", " X T Q"}, {"T Q M. T N ", " r Qi M. G T Q"},
	} {
		every(nil, 2, func(words []string) {
			written := shape.before + strings.Join(words, " ") + shape.after
			known += growing(t, events(written), writer, written)
		})
	}
	everyCompacted(1, func(words string) { known += growing(t, events(words), writer, words) })
	require.Greater(t, known, 1000)
}

func TestKnownTurnsOfSessions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSession(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s.step()
		}
		growing(t, s.stream.Events(), s.options.Target(), "session")
	})
}

// Only the terms under which turns were read, and the turns themselves, make them be read again.
func TestTurnsAreReadOnce(t *testing.T) {
	all := events("T Q M. T Q C1+ D1 M. T Q C1+ D1 C2+ D2 M.")
	var known CompleteTurns
	of := func(n int, target Target) *projectedTurns {
		_, turns := knownMessages(all[:n], target, &known)
		return turns
	}
	first := of(9, writer)
	for n := 10; n < len(all)-1; n++ {
		require.Same(t, first, of(n, writer), n)
	}
	require.NotSame(t, first, of(len(all), writer), "the last turn is complete")
	other := writer
	other.NoState = true
	require.NotSame(t, of(9, writer), of(9, other))
}

func TestAbsentPayloadIsLookedForAgain(t *testing.T) {
	all := events("T Q M. T Q")
	all[1].Payloads = []conversation.Payload{{Name: conversation.PayloadText, OID: "1", Bytes: 9}}
	there := false
	o := Options{Model: "test/model-1", Known: &CompleteTurns{}, Content: func(conversation.Payload) ([]byte, bool) { return []byte("The text."), there }}
	for _, want := range []string{"the rest of this text is not available: 9 bytes in all]", "The text."} {
		r, err := Build(all, o)
		require.NoError(t, err)
		require.Contains(t, r.Messages[0].Blocks[0].Text, want)
		there = true
	}
}

func TestThePrefixKnowsItsBeginning(t *testing.T) {
	all := events("T Q M. T Q M. T Q C1+ D1")
	o := Options{Model: "test/model-1", System: "one", Known: &CompleteTurns{}}
	prefix := func(o Options) string {
		r, err := Build(all, o)
		require.NoError(t, err)
		require.Equal(t, 4, r.turns.begins(r.Messages))
		return r.Prefix()
	}
	one := prefix(o)
	o.System = "two"
	require.NotEqual(t, one, prefix(o))
	o.System, o.Tools = "one", []Tool{{Name: "a"}}
	require.NotEqual(t, one, prefix(o))
	o.Tools = nil
	require.Equal(t, one, prefix(o))
}
