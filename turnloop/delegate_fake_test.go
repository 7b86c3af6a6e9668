package turnloop_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// resumes lets the tool work in a conversation of its own.
func (f *fakeTool) resumes() *fakeTool {
	f.def.Resumes = true
	return f
}

// A family is a rig whose tool delegate runs a loop of its own in the same
// journal, with tools and a model of its own.
type family struct {
	*rig
	delegate *fakeTool
	model    *model // the child's
	tools    []*fakeTool
	runs     map[int]int // of the child's changing tools, by seq
	Child    conversation.ID
}

// newFamily has a parent that delegates once, and a child that reads, says its
// state, writes twice and answers.
func newFamily(t testingT) *family {
	f := &family{runs: map[int]int{}}
	f.delegate = changes("delegate").resumes().asking().doing(f.work)
	f.rig = newRig(t, []*fakeTool{reads("read"), f.delegate},
		once(hasContent("I delegate"), calls("read", "_1", "{}"), calls("delegate", "_2", "{}"), calls("read", "_3", "{}"), ends(conversation.FinishToolCalls)),
		answers("All done."))
	f.answering(quoted("run"))
	count := func(_ context.Context, call tool.Call) (tool.Result, error) {
		f.runs[call.Seq]++
		return tool.Result{Content: []byte("written")}, nil
	}
	state := reads("update_state").doing(func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Content: []byte("kept"), Records: []conversation.Body{&conversation.WorkState{Plan: "write"}}}, nil
	})
	f.tools = []*fakeTool{reads("read"), state, changes("write").doing(count), changes("ask").asking().doing(count)}
	f.model = &model{trace: f.trace, replies: []reply{
		asksFor("read", "update_state"), asksFor("write", "ask"), answers("The child is done."),
	}}
	return f
}

// childOptions are those of a loop over the child, as the journal has it.
func (f *family) childOptions(id conversation.ID) Options {
	var all []tool.Tool
	for _, t := range f.tools {
		t.trace = f.trace
		all = append(all, t)
	}
	registry, err := tool.NewRegistry(all...)
	require.NoError(f.t, err)
	opts := f.opts
	opts.Conversation.ID, opts.Conversation.Head, opts.Conversation.Stream, opts.Tools.Registry, opts.Model.Provider = id, "", conversation.NewStream(nil), registry, f.model
	if events := f.child(id); len(events) > 0 {
		opts.Conversation.Head, opts.Conversation.Stream = conversation.Head(events[len(events)-1].Commit), conversation.JoinTail(conversation.SplitTail(events))
	}
	return opts
}

// child are the events of the child, if any.
func (f *family) child(id conversation.ID) []*conversation.Event {
	head, err := f.journal.Head(f.t.Context(), id)
	if err != nil {
		return nil
	}
	events, err := f.journal.Load(f.t.Context(), head)
	require.NoError(f.t, err)
	return events
}

func (f *family) work(ctx context.Context, call tool.Call) (tool.Result, error) {
	if f.Child != "" && f.Child != call.Child {
		return tool.Result{}, fmt.Errorf("the child was %s and is %s", f.Child, call.Child)
	}
	f.Child = call.Child
	loop := New(f.childOptions(call.Child))
	run := loop.Run
	if loop.Head() == "" {
		run = func(ctx context.Context) (Outcome, error) {
			return loop.Start(ctx, Request{Chat: conversation.ChatRequest{Content: "work"}})
		}
	}
	o, err := run(ctx)
	switch {
	case err != nil:
		return tool.Result{}, err
	case o.Status == Waiting:
		return tool.Result{}, &WaitingError{Inquiry: o.Waiting}
	case o.Status != Complete:
		return tool.Result{}, errors.New("unexpected end " + string(o.Status))
	}
	return tool.Result{Content: []byte(o.Message), Usage: &o.Usage, WrittenFiles: []string{}}, nil
}
