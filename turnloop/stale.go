package turnloop

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"jp/conversation"
	"jp/tool"
)

// Reasons of a yes that no person gave to the very question.
const (
	reasonAdvance = "approved in advance"
	reasonTurn    = "for this turn"
)

// binding is the yes that a person gave to a call's question, nil where it is run on
// another word. Such a yes holds for what the person saw: the files that the call names,
// as they were then.
func (l *Loop) binding(def *tool.Definition, call *conversation.ToolCall) *conversation.Inquiry {
	q := call.Permission()
	switch {
	case q == nil || q.Response == nil || !allowed(q.Response), q.Response.By != conversation.ByUser,
		q.Response.Reason == reasonAdvance, q.Response.Reason == reasonTurn, q.Response.Choice() == conversation.AnswerRunTurn,
		call.Started != nil, // its own run may have changed them; what is unknown of that was asked
		!def.Exclusive && l.stream.Tail().Approved.Allows(def.Name):
		return nil
	}
	return q
}

// stale reports whether somebody else changed a file that a call names since a person
// allowed it.
func (l *Loop) stale(call *conversation.ToolCall) bool {
	def := lookup(l.opts.Tools, call.Request.Name)
	if def == nil || def.Effect != tool.Changes {
		return false
	}
	q := l.binding(def, call)
	if q == nil {
		return false
	}
	named, _ := l.named(call)
	for _, e := range slices.Backward(l.stream.Events()) {
		if e.Seq <= q.Event.Seq {
			break
		}
		if touches(e, named) {
			return true
		}
	}
	return l.differ(q)
}

// digests are the files that a call of a tool which changes some names, as they are.
func (l *Loop) digests(def *tool.Definition, call *conversation.ToolCall) []conversation.NamedFile {
	if l.opts.Digest == nil || def.Effect != tool.Changes {
		return nil
	}
	named, _ := l.named(call)
	var files []conversation.NamedFile
	for _, path := range named[:fitting(named, func(path string) string { return path })] {
		if digest, ok := l.opts.Digest(path); ok {
			files = append(files, conversation.NamedFile{Path: conversation.QuotePath(path), Digest: digest})
		}
	}
	return files
}

// differ reports whether a file that a call names is not as it was when its question was
// put. What tools of this conversation changed since is no surprise.
func (l *Loop) differ(q *conversation.Inquiry) bool {
	if l.opts.Digest == nil || len(q.Request.Files) == 0 {
		return false
	}
	own := map[string]bool{}
	for _, e := range slices.Backward(l.stream.Events()) {
		if e.Seq <= q.Event.Seq {
			break
		}
		if b, ok := e.Body.(*conversation.ToolCallResponse); ok {
			for _, c := range b.Changed {
				own[c.Path] = true
			}
			for _, left := range b.LeftOut {
				own[left.Path] = true
			}
		}
	}
	for _, file := range q.Request.Files {
		path, err := conversation.UnquotePath(file.Path)
		if err != nil || own[file.Path] {
			continue
		}
		if now, ok := l.opts.Digest(realPath(l.opts.Restore, path)); !ok || now != file.Digest {
			return true
		}
	}
	return false
}

// realPath is a path of an event with the secrets of its name in the place of what stands
// for them.
func realPath(restore func(json.RawMessage) (json.RawMessage, error), path string) string {
	if restore == nil {
		return path
	}
	quoted, err := json.Marshal(path)
	if err != nil {
		return path
	}
	var real string
	if restored, err := restore(quoted); err == nil && json.Unmarshal(restored, &real) == nil {
		return real
	}
	return path
}

// touches reports whether an event says that somebody else changed one of the files. Where
// it does not list all of them it may be any. A file that is added says nothing: it may have
// been there untracked, and then is recorded first when a call that names it runs.
func touches(e *conversation.Event, named []string) bool {
	var paths []conversation.PathStat
	more := 0
	switch b := e.Body.(type) {
	case *conversation.Workspace:
		paths, more = b.Paths, b.More
	case *conversation.Resumed:
		if b.Report != nil {
			paths, more = b.Report.Changed, b.Report.More
		}
	}
	if more > 0 && len(named) > 0 {
		return true
	}
	for _, p := range paths {
		if p.Status == "A" {
			continue
		}
		changed, err := conversation.UnquotePath(p.Path)
		if err != nil {
			continue
		}
		for _, name := range named {
			if changed == name || strings.HasPrefix(changed, name+"/") || strings.HasPrefix(name, changed+"/") {
				return true
			}
		}
	}
	return false
}

// overtaken records what somebody else changed since a person allowed the call, if that is a
// file which the call names. The call is then not started, and asked for again.
func (l *Loop) overtaken(ctx context.Context, call *conversation.ToolCall, before SnapshotResult, named []string) (bool, error) {
	q := l.binding(lookup(l.opts.Tools, call.Request.Name), call)
	if q == nil {
		return false, nil
	}
	outside := l.files.drift(before)
	if outside == nil || !touches(outside, named) {
		return l.differ(q), nil // while the call waited for its turn
	}
	t := l.stream.CurrentTurn()
	t.AddRecord(outside.Body, conversation.WithTree(outside.Tree, outside.Objects...), conversation.WithGit(outside.Git))
	return true, l.build(ctx, t)
}
