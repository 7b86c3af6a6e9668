package turnloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// hookedPath is the path that these tests' hook puts into the calls of some tools.
const hookedPath = "hooked.go"

// newHookedCrashRig has hooks at every point. The one before tools changes the arguments of write and read,
// and denies free. All tools check their arguments.
func newHookedCrashRig(t testingT, replies ...reply) *crashRig {
	c := newCrashRig(t, replies...)
	c.hooking(PointToolPre, func(_ context.Context, m HookEvent) (HookDecision, error) {
		if q := c.hookedCall(m.Call.Event.Seq).Hook(); q != nil {
			c.problems = append(c.problems, fmt.Sprintf("the hook is asked again about call %d", m.Call.Event.Seq))
		}
		switch m.Call.Request.Name {
		case "write", "read":
			return changing(hookedPath), nil
		case "free":
			return HookDecision{Denied: true, Reason: "no"}, nil
		}
		return HookDecision{}, nil
	})
	c.hooking(PointToolPost, func(_ context.Context, m HookEvent) (HookDecision, error) {
		if c.hookedCall(m.Call.Event.Seq).Open() {
			c.problems = append(c.problems, fmt.Sprintf("the hook is told of call %d before its result is durable", m.Call.Event.Seq))
		}
		return HookDecision{Note: "seen"}, nil
	})
	c.ruling(PointTurnStart, HookDecision{Note: "start"}, nil)
	c.ruling(PointTurnEnd, HookDecision{}, nil)
	c.ruling(PointWaiting, HookDecision{}, nil)
	for _, name := range []string{"read", "write", "free"} {
		found, _ := c.opts.Tools.Registry.Lookup(name)
		f := found.(*fakeTool)
		do := f.do
		f.do = func(ctx context.Context, call tool.Call) (tool.Result, error) {
			var arguments struct{ Path string }
			if json.Unmarshal(call.Arguments, &arguments) != nil || arguments.Path != hookedPath {
				c.mu.Lock()
				c.problems = append(c.problems, fmt.Sprintf("%s runs with %s", name, call.Arguments))
				c.mu.Unlock()
			}
			return do(ctx, call)
		}
	}
	return c
}

func (c *crashRig) hookedCall(seq int) *conversation.ToolCall {
	events := c.stored()
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type() == conversation.TypeTurnStart {
			events = events[i:]
			break
		}
	}
	return conversation.LedgerOf(events).ToolCall(seq)
}

// After any crash, no call runs with the model's arguments if a hook changed them, none runs that it denied,
// and the hook gets no question twice.
func TestACrashAtEveryAppendWithHooks(t *testing.T) {
	whole := newHookedCrashRig(t, longTurn()...)
	whole.done()
	require.Empty(t, whole.problems)
	require.Zero(t, whole.trace.count("run free"))
	require.Equal(t, 1, whole.trace.count("run write"))
	require.Equal(t, 2, whole.trace.count("run read"))
	require.Equal(t, 1, whole.trace.count("hook turn-end"))
	for _, how := range []crash{refuses, dies, silent} {
		for n := 1; n <= whole.journal.count; n++ {
			t.Run(fmt.Sprint(how, n), func(t *testing.T) {
				c := newHookedCrashRig(t, longTurn()...)
				_, err := New(c.opts).Start(c.crashAt(n, how), Request{Chat: conversation.ChatRequest{Content: "do it"}})
				if how != dies || n < whole.journal.count {
					require.ErrorIs(t, err, errDisk)
				}
				c.heal()
				c.finish()
				require.Zero(t, c.trace.count("run free"))
			})
		}
	}
}
