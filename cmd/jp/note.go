package main

import (
	"slices"

	"jp/conversation"
	"jp/reconcile"
)

// note is what the model has to be told at the start of a turn: that an earlier
// one was taken back, or ended in a refusal, whose tools had changed files. It
// is nil where there is nothing to tell, or where it was told.
func (q *query) note() *conversation.Event {
	var last conversation.Turn
	for last = range conversation.Turns(q.stream.Events()) {
	}
	if len(last.Events) == 0 {
		return nil
	}
	ledger := last.Ledger()
	call := ledger.LastCall()
	refused := call != nil && call.Finish == conversation.FinishRefusal
	if !ledger.Discarded && !refused {
		return nil
	}
	paths := changedBy(last)
	if len(paths) == 0 {
		return nil
	}
	return &conversation.Event{Body: &conversation.Note{Content: reconcile.DiscardNote(last.Number, paths)}}
}

// changedBy are the files that a turn's tools changed, or may have changed.
func changedBy(t conversation.Turn) []string {
	paths := map[string]bool{}
	for _, e := range t.Events {
		switch b := e.Body.(type) {
		case *conversation.ToolCallResponse:
			for _, c := range b.Changed {
				paths[c.Path] = true
			}
		case *conversation.Resumed:
			if b.Report != nil {
				for _, c := range b.Report.Changed {
					paths[c.Path] = true
				}
			}
		}
	}
	var sorted []string
	for p := range paths {
		sorted = append(sorted, p)
	}
	slices.Sort(sorted)
	return sorted
}
