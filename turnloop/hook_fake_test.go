package turnloop_test

import (
	"context"
	"encoding/json"
	"sync"

	"jp/conversation"
	. "jp/turnloop"
)

// fakeHooks answer with functions, by point, and keep their input.
type fakeHooks struct {
	trace *trace
	say   map[Point]func(context.Context, HookEvent) (HookDecision, error)

	mu   sync.Mutex
	told []HookEvent
}

func (f *fakeHooks) Has(p Point) bool { return f.say[p] != nil }

func (f *fakeHooks) Run(ctx context.Context, m HookEvent) (HookDecision, error) {
	f.mu.Lock()
	f.told = append(f.told, m)
	f.mu.Unlock()
	line := "hook " + string(m.Point)
	if m.Call != nil {
		line += " " + m.Call.Request.Name
	}
	f.trace.add(line)
	return f.say[m.Point](ctx, m)
}

// hooking lets a hook of a point do something.
func (r *rig) hooking(p Point, say func(context.Context, HookEvent) (HookDecision, error)) *fakeHooks {
	hooks, _ := r.opts.Hooks.(*fakeHooks)
	if hooks == nil {
		hooks = &fakeHooks{trace: r.trace, say: map[Point]func(context.Context, HookEvent) (HookDecision, error){}}
		r.opts.Hooks = hooks
	}
	hooks.say[p] = say
	return hooks
}

// ruling lets the hook of a point always say the same.
func (r *rig) ruling(p Point, ruling HookDecision, err error) *fakeHooks {
	return r.hooking(p, func(context.Context, HookEvent) (HookDecision, error) { return ruling, err })
}

// changing is a hook that gives every call the path that it is told.
func changing(path string) HookDecision {
	arguments, _ := json.Marshal(map[string]string{"path": path})
	return HookDecision{Arguments: arguments}
}

// hookOf is the record of the hook before the i-th call of the turn.
func (r *rig) hookOf(i int) *conversation.InquiryResponse {
	q := r.opts.Conversation.Stream.Tail().ToolCalls[i].Hook()
	if q == nil {
		return nil
	}
	return q.Response
}
