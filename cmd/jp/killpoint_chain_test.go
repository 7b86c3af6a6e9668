package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A chain is a conversation as git alone shows it. Without an id there is none.
type chain struct {
	id      string
	head    string
	commits []string
	events  []chainEvent
}

// chainEvent has the fields of an event that the tests check.
type chainEvent struct {
	Seq        int
	Type       string
	For        *int
	ToolCallID string `json:"tool_call_id"`
	IsError    bool   `json:"is_error"`
	Finish     string
}

// readChain reads the one conversation of the repository.
func (s *scene) readChain() (chain, error) {
	refs, err := s.tryGit("for-each-ref", "--format=%(objectname) %(refname:lstrip=3)", "refs/jp/conversations")
	if err != nil || refs == "" {
		return chain{}, err
	}
	if strings.Contains(refs, "\n") {
		return chain{}, fmt.Errorf("more than one conversation: %s", refs)
	}
	head, id, _ := strings.Cut(refs, " ")
	return s.chainOf(id, head)
}

// chainOf reads a conversation from its newest event.
func (s *scene) chainOf(id, head string) (chain, error) {
	c := chain{id: id, head: head}
	commits, err := s.tryGit("rev-list", "--first-parent", "--reverse", "--header", "HEAD.."+c.head)
	if err != nil {
		return c, err
	}
	for commit := range strings.SplitSeq(commits, "\x00") {
		if strings.TrimSpace(commit) == "" {
			continue
		}
		oid, rest, _ := strings.Cut(commit, "\n")
		header, _, _ := strings.Cut(rest, "\n\n")
		_, data, _ := strings.Cut(header, "\njp-data ")
		data, _, _ = strings.Cut(data, "\n")
		var e chainEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return c, fmt.Errorf("event %s: %w", oid, err)
		}
		c.commits, c.events = append(c.commits, oid), append(c.events, e)
	}
	return c, nil
}

// has returns an error unless another chain is the beginning of this one.
func (c chain) has(earlier chain) error {
	if earlier.id != "" && c.id != earlier.id {
		return fmt.Errorf("conversation %s is gone, there is %q", earlier.id, c.id)
	}
	for i, oid := range earlier.commits {
		if i >= len(c.commits) || c.commits[i] != oid {
			return fmt.Errorf("event %d (%s %s) was there and is not any more", i, earlier.events[i].Type, oid)
		}
	}
	return nil
}

// says returns an error if the chain lacks an event that jp printed. The last line may be torn.
func (c chain) says(stdout string) error {
	for line := range strings.Lines(stdout) {
		var told struct {
			Type, Conversation, Commit string
			Seq                        int
		}
		if !strings.HasSuffix(line, "\n") {
			return nil
		}
		if err := json.Unmarshal([]byte(line), &told); err != nil {
			return fmt.Errorf("printed %q: %w", line, err)
		}
		if told.Commit == "" { // no event
			continue
		}
		if told.Conversation != c.id || told.Seq >= len(c.commits) || c.commits[told.Seq] != told.Commit {
			return fmt.Errorf("event %d (%s %s) of %s was printed and is lost", told.Seq, told.Type, told.Commit, told.Conversation)
		}
	}
	return nil
}

// A chainCall is a tool call with its progress.
type chainCall struct {
	id      string
	seq     int
	started bool
	answer  *chainEvent
}

// calls are the tool calls in their order.
func (c chain) calls() (calls []*chainCall, err error) {
	bySeq := map[int]*chainCall{}
	for i := range c.events {
		e := &c.events[i]
		if e.Seq != i {
			return nil, fmt.Errorf("event %d has seq %d", i, e.Seq)
		}
		if e.Type == "tool_call_request" {
			bySeq[i] = &chainCall{id: e.ToolCallID, seq: i}
			calls = append(calls, bySeq[i])
		}
		if e.Type != "tool_started" && e.Type != "tool_call_response" {
			continue
		}
		if e.For == nil || bySeq[*e.For] == nil {
			return nil, fmt.Errorf("event %d (%s) belongs to no call", i, e.Type)
		}
		call := bySeq[*e.For]
		switch {
		case call.answer != nil:
			return nil, fmt.Errorf("event %d (%s): call %s has its response already", i, e.Type, call.id)
		case e.Type == "tool_started" && call.started:
			return nil, fmt.Errorf("event %d: call %s is started a second time", i, call.id)
		case e.Type == "tool_started":
			call.started = true
		default:
			call.answer = e
		}
	}
	return calls, nil
}

// done reports whether the last words of the model end the turn.
func (c chain) done() bool {
	for i := len(c.events) - 1; i >= 0; i-- {
		switch e := c.events[i]; e.Type {
		case "chat_response":
			return e.Finish == "stop"
		case "tool_call_request", "tool_call_response", "chat_request":
			return false
		}
	}
	return false
}

// asked reports whether the newest question has no answer.
func (c chain) asked() bool {
	open := 0
	for _, e := range c.events {
		switch e.Type {
		case "inquiry_request":
			open++
		case "inquiry_response":
			open--
		}
	}
	return open > 0
}
