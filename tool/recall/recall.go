// Package recall has the tools by which a model looks into the conversations of
// the repository: conversation_list, conversation_grep and conversation_read.
//
// Their results consist of a few elements, whose names and attributes stay as they are. Further ones may be
// added. Attributes in brackets appear only with a value.
//
//	<conversations total offset>
//	  <conversation id title events_count created_at last_event_at [archived_at] [expires_at] [current] [foreign]/>
//	  <unreadable id reason/>
//	</conversations>
//
//	<hits total>
//	  <hit id title [turn] [seq] scope is_match [foreign]>a line, cut at 400 characters</hit>
//	  <unreadable id reason/>
//	</hits>
//
//	<conversation id title [current] [foreign]>
//	  <unreadable id reason/>
//	  <turn index [incomplete]>
//	    <event kind seq timestamp [name] [is_error] [partial] [withheld] [malformed] [left_out]>content</event>
//	  </turn>
//	</conversation>
//
// The text of conversations may have any author. It is encoded so that it cannot end an element, begin one,
// or hide from its reader: it stays data. An output has at most 64 KiB. Discarded turns are left out, an
// incomplete one is marked. A result that the user withheld from the model is withheld here, too. Searches
// skip calls of these tools, and readings skip their results, unless the call asks for them: they repeat the
// text of other conversations, and each search would find the searches before it.
//
// The tools only read, without the lock of a conversation. They know the current conversation from the call,
// if it names one.
package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/tool"
)

// Group is the name under which the tools are switched on together.
const Group = "recall"

// Names are the names of the tools.
func Names() []string { return []string{"conversation_list", "conversation_grep", "conversation_read"} }

// Is reports whether a tool of this name looks into conversations: one of jp's own,
// or the same one of jp as another agent's MCP server.
func Is(name string) bool {
	if server, rest, found := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__"); found && server != "" && strings.HasPrefix(name, "mcp__") {
		name = rest
	}
	return slices.Contains(Names(), name)
}

// maxOutput is how many bytes a result has at most.
const maxOutput = 64 << 10

// margin is more than one element without content, or with a line, can take.
const margin = 4 << 10

// titleColumns is how much of a title is shown.
const titleColumns = 120

// A Journal reads conversations. It may be called concurrently.
type Journal interface {
	// List reads the data of all conversations of a scope. An unreadable one has its Err set.
	List(ctx context.Context, scope conversation.Scope) ([]conversation.Info, error)
	// Load reads the events up to a head, oldest first. If one is damaged, the events before it come with the
	// error.
	Load(ctx context.Context, at conversation.Head) ([]*conversation.Event, error)
	// Scan reads the events that a prefilter passes, and others.
	Scan(ctx context.Context, of conversation.Info, s conversation.Prefilter) ([]*conversation.Event, error)
	// Backward yields events from a head backwards.
	Backward(ctx context.Context, at conversation.Head) iter.Seq2[*conversation.Event, error]
}

// Tools returns the three tools over a journal.
func Tools(journal Journal) []tool.Tool {
	a := &archive{journal}
	return []tool.Tool{a.list(), a.grep(), a.read()}
}

// An archive is the source of the tools.
type archive struct{ Journal }

type recallTool struct {
	def *tool.Definition
	run func(context.Context, tool.Call) (tool.Result, error)
}

func (t *recallTool) Definition() *tool.Definition { return t.def }

// Run reports missing and unreadable conversations to the model. Its only error is the end of ctx.
func (t *recallTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	result, err := t.run(ctx, call)
	switch {
	case err == nil:
		result.WrittenFiles = []string{}
		return result, nil
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	}
	text := clean(err.Error())
	return tool.Result{Content: []byte(text), IsError: true, Effect: "error: " + conversation.Shorten(text, 48)}, nil
}

// define describes a tool. subject is the argument that names the object of a call.
func define(name, description, parameters, subject string) *tool.Definition {
	return &tool.Definition{
		Name: name, Description: description, Parameters: json.RawMessage(parameters),
		Effect: tool.Reads, Idempotent: true, Run: tool.Unattended, Result: tool.Unattended,
		Subject: func(arguments json.RawMessage) string {
			var fields map[string]any
			if json.Unmarshal(arguments, &fields) != nil || fields[subject] == nil {
				return ""
			}
			return conversation.Shorten(inLine(fmt.Sprint(fields[subject])), conversation.SubjectColumns)
		},
	}
}

// foreign reports whether another person is known to have written a conversation.
func (a *archive) foreign(ctx context.Context, of conversation.Info) bool {
	return of.Remote != "" || of.Tip != nil && !conversation.LocalTip(of.Tip, a.Backward(ctx, of.Head))
}

// unreadable is the element for an unreadable conversation, or the unreadable rest of one.
func (e *envelope) unreadable(of conversation.Info, why error) {
	e.empty("unreadable", attribute{"id", of.Name()}, attribute{"reason", clip(why.Error(), 0, 200)})
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// momentOf is the moment as an attribute, if there is one.
func momentOf(name string, t *time.Time) attribute {
	if t == nil {
		return attribute{}
	}
	return attribute{name, moment(*t)}
}

func titleOf(title string) attribute {
	return attribute{"title", conversation.Shorten(inLine(title), titleColumns)}
}
