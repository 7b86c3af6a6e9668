package turnloop

import (
	"context"
	"errors"
	"slices"
	"strings"

	"jp/conversation"
)

// A Resume is the input for resuming an interrupted turn.
type Resume struct {
	// Resumed describes the resume, nil if there is nothing to say.
	Resumed  *conversation.Resumed
	Words    string                // sum it up in the line that git shows; "": made of Resumed
	Approved conversation.Approval // tool runs that the user allows in advance
	Records  []*conversation.Event // jp's own events to go with it, such as another model
	// Tools says that the loop's tools are those of the turn from here on. Otherwise the
	// model is offered those that the turn began with.
	Tools bool
}

// Resume goes on with the newest turn from its recorded events. It first records file
// changes since the newest event: as the user's, or as of unknown author if a started
// tool may have made them.
func (l *Loop) Resume(ctx context.Context, r Resume) (Outcome, error) {
	err := l.reopen(ctx, r)
	var control *ControlFilesError
	switch {
	case errors.As(err, &control):
		return l.leave(ctx, err)
	case err != nil:
		return Outcome{Status: Incomplete}, err
	}
	return l.Run(ctx)
}

func (l *Loop) reopen(ctx context.Context, r Resume) error {
	tool, unseen := unseenTool(l.stream, &l.opts)
	t := l.stream.CurrentTurn()
	for _, record := range r.Records {
		t.AddRecord(record.Body)
	}
	if r.Tools {
		for _, e := range slices.Backward(l.stream.Events()) { // other messages to the model stay
			if b, ok := e.Body.(*conversation.Prompt); ok {
				l.opts.Model.System = b.System
				break
			}
		}
		prompt, err := l.prompt(ctx)
		if err != nil {
			return err
		}
		if prompt != nil { // those in force are others
			t.AddRecord(prompt.Body, conversation.WithSubject(prompt.Subject), conversation.WithPayload(prompt.Payloads[0]))
		}
	}
	at := l.opts.requestLost(l.stream.Tail(), t.Next())
	shown := controlShown(l.stream)
	at.Control = unseen || shown
	sight, err := l.files.look(ctx, at)
	if err != nil {
		return err
	}
	if unseen && l.files.git.SameWorktree(sight.Git) {
		if err := l.review(ctx, &ControlFilesError{Tool: tool, Files: l.files.controlChanged(sight), Since: true}); err != nil {
			return err
		}
	}
	if shown && l.files.git.SameWorktree(sight.Git) { // a kill may have come before the user could read them
		if files := l.files.controlChanged(sight); len(files) > 0 {
			l.opts.Observer.Noticed("Going on with files that git obeys as they are now: " + strings.Join(files, ", "))
		}
	}
	resumed := r.Resumed
	outside := l.files.drift(sight)
	lost, _ := l.stream.Tail().Lost()
	if resumed == nil && (len(r.Approved) > 0 || outside != nil && len(lost) > 0 || len(sight.LostUnseen) > 0) {
		age := l.opts.Clock.Now().Sub(l.stream.Last().Time)
		resumed = &conversation.Resumed{Phase: l.stream.Tail().Phase(), AgeMS: age.Milliseconds()}
	}
	var tree []conversation.Draft
	if outside != nil {
		tree = []conversation.Draft{conversation.WithTree(outside.Tree, outside.Objects...)}
	}
	if outside != nil && len(lost) == 0 {
		t.AddRecord(outside.Body, append(tree, conversation.WithGit(outside.Git))...)
		tree = nil
	}
	if resumed != nil {
		resumed.Approved = r.Approved
		if r.Words != "" {
			r.Words = r.Approved.Behind(r.Words)
		}
		git := sight.Git
		t.AddRecord(resumed, append(tree, conversation.WithGit(&git), conversation.WithSubject(r.Words))...)
	}
	return l.build(ctx, t)
}

// controlShown reports whether the turn stopped at changed control files of git, and has no later event.
func controlShown(stream *conversation.Stream) bool {
	for _, e := range slices.Backward(newestTurn(stream)) {
		switch b := e.Body.(type) {
		case *conversation.TurnInterrupted:
			return b.ControlShown
		case *conversation.ToolStarted, *conversation.Resumed:
			return false
		}
	}
	return false
}

// unseenTool is the tool at which the turn broke off, so that the user may not know which control files of
// git it changed. It is false if there is none.
func unseenTool(stream *conversation.Stream, opts *Options) (name string, unseen bool) {
	seq := -1 // of the call that the events behind the start are about
	for _, e := range slices.Backward(newestTurn(stream)) {
		about := -1
		switch b := e.Body.(type) {
		case *conversation.ToolStarted:
			call := stream.Tail().ToolCall(b.For)
			if call == nil || b.Child != "" || seq >= 0 && seq != b.For {
				return "", false
			}
			if lookup(opts.Tools.Registry, call.Request.Name) != nil {
				if _, only := opts.named(call); only != nil {
					return "", false // it writes the files that it names
				}
			}
			return call.Request.Name, true
		case *conversation.ToolCallResponse:
			about = b.For
		case *conversation.InquiryRequest: // one about another call, or about a start to come, comes after an answer
			if b.Kind != conversation.KindToolQuestion && b.Kind != conversation.KindDeliverResult {
				return "", false
			}
			about = b.For
		case *conversation.TurnInterrupted:
			if b.ControlShown {
				return "", false
			}
		case *conversation.ChatRequest, *conversation.ChatResponse, *conversation.ToolCallRequest, *conversation.InquiryResponse,
			*conversation.Resumed, *conversation.TurnStart, *conversation.Prompt:
			return "", false
		}
		if about >= 0 {
			if seq >= 0 && seq != about {
				return "", false
			}
			seq = about
		}
	}
	return "", false
}

// UnseenControl are the control files of git that changed since a tool of the newest turn
// started, if jp ended before it told the user, else nil.
func UnseenControl(ctx context.Context, stream *conversation.Stream, opts Options) (*ControlFilesError, error) {
	tool, unseen := unseenTool(stream, &opts)
	if !unseen {
		return nil, nil
	}
	var known files
	known.follow(stream.Events())
	sight, err := opts.Files.Workspace.Look(ctx, SnapshotRequest{Tree: known.tree, Control: true})
	if err != nil || !known.git.SameWorktree(sight.Git) {
		return nil, err
	}
	if files := known.controlChanged(sight); len(files) > 0 {
		return &ControlFilesError{Tool: tool, Files: files, Since: true}, nil
	}
	return nil, nil
}

// Discard discards the newest turn: readers skip its events from now on. It first
// records file changes since the start of a tool without a result, as of unknown
// author.
func (l *Loop) Discard(ctx context.Context) error {
	if lost, _ := l.stream.Tail().Lost(); len(lost) > 0 {
		t := l.stream.CurrentTurn()
		if err := l.files.addLost(ctx, t, &l.opts, l.stream.Tail()); err != nil {
			return err
		}
		if err := l.build(ctx, t); err != nil {
			return err
		}
	}
	turn := newestTurn(l.stream)
	return l.stream.Append(l.commit(ctx), &conversation.Event{Body: &conversation.TurnDiscarded{
		FromSeq: turn[0].Seq, ToSeq: turn[len(turn)-1].Seq, By: conversation.ByUser,
	}})
}

// Replace records a request that stands for an earlier one of the turn, with the
// same attachments, without going on.
func (l *Loop) Replace(ctx context.Context, earlier *conversation.Event, request conversation.ChatRequest) error {
	request.Replaces = &earlier.Seq
	var with []conversation.Draft
	for _, a := range request.Attachments {
		if p := earlier.Payload(a.Name); p != nil {
			with = append(with, conversation.WithPayload(*p))
		}
	}
	return l.build(ctx, l.stream.CurrentTurn().AddChatRequest(request, with...))
}
