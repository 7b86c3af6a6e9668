package attach_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"jp/process/attach"
)

func TestActivities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		there := r.connect()
		tool := attach.Activity{Conversation: id, Seq: 3, Name: "shell", SinceMS: 100, Tail: "one"}
		r.Working(tool)
		require.Equal(t, "one", next[*attach.Activity](t, there).Tail)
		tool.Tail = "two"
		r.Working(tool)
		require.Equal(t, "two", next[*attach.Activity](t, there).Tail)
		r.Working(attach.Activity{Conversation: id, Seq: 4, Name: "read"})
		r.Working(attach.Activity{Conversation: "jp-c17528832001-aaaa", Seq: 3, Name: "shell"})
		r.Working(attach.Activity{Conversation: id, Seq: 4, Name: "read", Over: true})

		time.Sleep(2 * time.Second)
		late := r.connect()
		told := next[*attach.Activity](t, late)
		require.Equal(t, "two", told.Tail, "who comes later is told what is going on")
		require.Equal(t, int64(2100), told.SinceMS, "and since when")
		require.Equal(t, 3, next[*attach.Activity](t, late).Seq)
		settle(t, late)
	})
}

func TestTextsOfActivitiesFitAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		c := r.connect()
		long := strings.Repeat("\x01", attach.MaxFrame)
		r.Working(attach.Activity{Name: long, Argument: long, Hook: long, Writing: long, Tail: long, Progress: long})
		require.Less(t, len(next[*attach.Activity](t, c).Tail), 5000)
	})
}

// Activities are optional: a peer that does not read them stays connected, and gets the essential messages.
func TestAPeerThatReadsNoActivitiesStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		slow := r.connect()
		for range 10_000 { // 10 MB
			r.Working(attach.Activity{Seq: 1, Name: "shell", Tail: strings.Repeat("x", 1000)})
		}
		r.Noticed("the last")
		told := 0
		for {
			m, err := slow.Next()
			require.NoError(t, err)
			if n, ok := m.(*attach.Notice); ok {
				require.Equal(t, "the last", n.Text)
				break
			}
			told++
		}
		require.Less(t, told, 20)
	})
}

// An older jp goes on after an unknown type.
func TestWhatIsNotKnownIsIgnored(t *testing.T) {
	m, err := attach.Decode([]byte(`{"type":"activity_of_tomorrow","seq":1}`))
	require.NoError(t, err)
	require.Nil(t, m)
}
