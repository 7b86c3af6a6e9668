package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"jp/compaction"
	"jp/conversation"
)

// Options are the inputs of a request besides the events.
type Options struct {
	Model    string // "provider/name"
	API      string
	Endpoint string
	Account  string
	System   string          // empty: that of the newest prompt
	Tools    []Tool          // as sent, under wire names; nil: those of the newest prompt
	Schema   json.RawMessage // for the answer
	NoTools  bool            // tool calls are forbidden
	NoState  bool            // without opaque state
	// Content reads a payload. It reports false if it is absent.
	Content func(conversation.Payload) ([]byte, bool)
	// Known keeps the messages of complete turns and their JSON for the next request. It may be nil.
	Known *CompleteTurns
}

// Target is the target of a request with the options.
func (o Options) Target() Target {
	_, name, _ := strings.Cut(o.Model, "/")
	return Target{API: o.API, Model: name, Endpoint: o.Endpoint, Account: o.Account, Content: o.Content, NoState: o.NoState}
}

// Build makes the next request of a conversation from all of its events. It fails with ErrNothingToAsk if the
// model has nothing to answer, with ErrModel, and with ErrAbsent if the tools of the prompt in force cannot
// be read.
func Build(events []*conversation.Event, o Options) (*Request, error) {
	target := o.Target()
	if target.Model == "" {
		return nil, fmt.Errorf("%w: %q", ErrModel, o.Model)
	}
	system, tools, err := promptInForce(events, target, o)
	if err != nil {
		return nil, err
	}
	messages, turns := knownMessages(events, target, o.Known)
	called := turns.calls(messages)
	if !asks(messages, events) {
		return nil, ErrNothingToAsk
	}
	counted, _ := compaction.Used(events)
	return &Request{
		Model:    target.Model,
		System:   cleanText(system),
		Tools:    withStubs(tools, called),
		NoTools:  o.NoTools,
		Messages: messages,
		Schema:   o.Schema,
		CacheKey: cacheKey(events),
		Ended:    turns.endedCalls(events),
		Failed:   failedTries(events),
		Counted:  counted,
		Encoded:  o.Known.store(),
		turns:    turns,
		called:   called,
	}, nil
}

// cacheKey is made of the first event, which a fork shares.
func cacheKey(events []*conversation.Event) string {
	const size = 16
	if len(events) == 0 || len(events[0].Commit) < size {
		return ""
	}
	return "jp-" + string(events[0].Commit[:size])
}

// asks reports whether the messages end with something to answer: a user's
// text, results, or an answer that its provider paused.
func asks(messages []Message, events []*conversation.Event) bool {
	if len(messages) == 0 {
		return false
	}
	if messages[len(messages)-1].Role != conversation.RoleAssistant {
		return true
	}
	_, tail := conversation.SplitTail(events)
	return tail != nil
}

// promptInForce completes the options from the newest prompt.
func promptInForce(events []*conversation.Event, target Target, o Options) (string, []Tool, error) {
	system, tools := o.System, o.Tools
	e := newestPrompt(events)
	if e == nil {
		return system, tools, nil
	}
	if system == "" {
		system = target.text(e)
	}
	p := e.Payload(conversation.PayloadTools)
	if tools != nil || p == nil {
		return system, tools, nil
	}
	data, ok := target.content(*p)
	if !ok {
		return "", nil, fmt.Errorf("read the tools of prompt %d: %w", e.Seq, ErrAbsent)
	}
	if err := json.Unmarshal(data, &tools); err != nil {
		return "", nil, fmt.Errorf("read the tools of prompt %d: %w", e.Seq, err)
	}
	return system, tools, nil
}

func newestPrompt(events []*conversation.Event) *conversation.Event {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type() == conversation.TypePrompt {
			return events[i]
		}
	}
	return nil
}

// withStubs returns the tools, each name once, and behind them a stub for every name in the history that has
// lost its tool, in order of use.
func withStubs(tools []Tool, called []string) []Tool {
	listed := map[string]bool{}
	var all []Tool
	for _, t := range tools {
		if !listed[t.Name] {
			listed[t.Name] = true
			all = append(all, t)
		}
	}
	for _, name := range called {
		if !listed[name] {
			listed[name] = true
			all = append(all, Stub(name))
		}
	}
	return all
}

// Stub replaces a tool that the history uses, but is unavailable now.
func Stub(name string) Tool {
	return Tool{
		Name:        name,
		Description: "This tool is not available.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{}}`),
	}
}
