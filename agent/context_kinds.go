package agent

import (
	"context"
	"strings"

	"jp/agent/repo"
	"jp/conversation"
	"jp/provider"
	"jp/provider/catalog"
)

// A ContextKind is a kind of content of a model's context, in words.
type ContextKind string

// The kinds, in the order in which users see them.
const (
	ContextSystem       ContextKind = "system and tools"
	ContextInstructions ContextKind = "instructions"
	ContextSkills       ContextKind = "skills"
	ContextMessages     ContextKind = "messages"
	ContextResults      ContextKind = "tool results"
	ContextAttachments  ContextKind = "attachments"
)

// ContextKinds are all of them.
var ContextKinds = []ContextKind{ContextSystem, ContextInstructions, ContextSkills, ContextMessages, ContextResults, ContextAttachments}

// kindsOf gives the kinds of each block of the messages, in thousandths of its tokens. The events are those
// that a request to the model is made of.
func kindsOf(ctx context.Context, r *repo.Repo, events []*conversation.Event, name string, model *catalog.Provider) [][]map[ContextKind]int {
	options := provider.Options{Model: name, API: model.API, Endpoint: model.Endpoint, Account: model.Account}
	options.Content = func(p conversation.Payload) ([]byte, bool) {
		data, ok, err := r.Store.Payload(ctx, p)
		return data, ok && err == nil
	}
	bySeq := map[int]*conversation.Event{}
	for _, e := range events {
		bySeq[e.Seq] = e
	}
	var kinds [][]map[ContextKind]int
	for _, m := range provider.ProjectSourced(events, options.Target()) {
		of := make([]map[ContextKind]int, len(m.Blocks))
		for i, b := range m.Blocks {
			more := i+1 < len(m.Blocks) && m.From[i+1] == m.From[i] // of the same event
			of[i] = kindOf(bySeq[m.From[i]], b, more)
		}
		kinds = append(kinds, of)
	}
	return kinds
}

const whole = 1000

// kindOf is the kind of a block. The words of a request are behind its attachments: more says that the event has a block behind
// this one.
func kindOf(e *conversation.Event, b provider.Block, more bool) map[ContextKind]int {
	one := func(kind ContextKind) map[ContextKind]int { return map[ContextKind]int{kind: whole} }
	if e == nil {
		return one(ContextMessages)
	}
	switch body := e.Body.(type) {
	case *conversation.TurnStart:
		return one(ContextSystem)
	case *conversation.Instructions:
		skills := 0
		for _, f := range body.Files {
			if f.Path == "skills" || f.Path == "project skills" || strings.HasPrefix(f.Path, "skill ") {
				skills += f.To - f.From
			}
		}
		share := min(whole, skills*whole/max(1, len(body.Content)))
		return map[ContextKind]int{ContextSkills: share, ContextInstructions: whole - share}
	case *conversation.ChatRequest:
		if more || b.Kind == provider.BlockFile {
			return one(ContextAttachments)
		}
	case *conversation.ToolCallResponse:
		if body.Name == "skill" {
			return one(ContextSkills)
		}
		return one(ContextResults)
	}
	return one(ContextMessages)
}
