package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/conversation"
)

// A Call is one use of a model.
type Call struct {
	Conversation conversation.ID    `json:"conversation"`
	Seq          int                `json:"seq"`
	Commit       string             `json:"commit"` // the same in a fork that shares the event
	Time         time.Time          `json:"time"`
	Model        string             `json:"model"`
	Branch       string             `json:"branch,omitempty"`
	Usage        conversation.Usage `json:"usage"`
}

// Calls are the calls of a conversation. An event that a slice copied counts in its source alone.
func Calls(id conversation.ID, events []*conversation.Event) (calls []Call) {
	branch := ""
	for _, e := range events {
		if e.Git != nil && e.Git.Branch != "" {
			branch = e.Git.Branch
		}
		u := of(e)
		if u == nil || e.Was != nil {
			continue
		}
		model := e.Model
		switch b := e.Body.(type) {
		case *conversation.Compaction:
			model = cmp.Or(b.Model, model)
		case *conversation.Metadata:
			model = cmp.Or(b.Model, model)
		}
		calls = append(calls, Call{Conversation: id, Seq: e.Seq, Commit: e.Commit, Time: e.Time, Model: model, Branch: branch, Usage: *u})
	}
	return calls
}

// of is the usage that an event records. A delegate's usage is in its own conversation.
func of(e *conversation.Event) *conversation.Usage {
	switch b := e.Body.(type) {
	case *conversation.ChatResponse:
		return b.Usage
	case *conversation.ToolCallRequest:
		return b.Usage
	case *conversation.ToolCallResponse:
		if b.Name != "delegate" {
			return b.Usage
		}
	case *conversation.InquiryResponse:
		return b.Usage
	case *conversation.Compaction:
		return b.Usage
	case *conversation.Metadata:
		return b.Usage
	}
	return nil
}

// A Sum is the usage of calls of one kind. Cost is a decimal number of US dollars, of the calls whose price
// is known.
type Sum struct {
	Key        string `json:"key"`
	Calls      int    `json:"calls"`
	Input      int    `json:"input"`
	Output     int    `json:"output"`
	CacheRead  int    `json:"cache_read"`
	CacheWrite int    `json:"cache_write"`
	CostUSD    string `json:"cost_usd"`
	Unpriced   int    `json:"unpriced_calls"`
}

// Cached is the part of the input that came from a cache, in percent.
func (s Sum) Cached() int {
	if s.Input == 0 {
		return 0
	}
	return s.CacheRead * 100 / s.Input
}

func (s *Sum) add(u conversation.Usage) {
	s.Calls++
	s.Input += u.Input
	s.Output += u.Output
	s.CacheRead += u.CacheRead
	s.CacheWrite += u.CacheWrite
	if u.CostUSD == "" {
		s.Unpriced++
		return
	}
	if s.CostUSD == "" {
		s.CostUSD = u.CostUSD
		return
	}
	s.CostUSD = conversation.AddDecimals(s.CostUSD, u.CostUSD)
}

// By are the ways to group calls.
var By = []string{"day", "model", "conversation", "branch"}

// Group sums calls up, and all of them. Days are those of a place.
func Group(calls []Call, by string, place *time.Location) (sums []Sum, total Sum) {
	at := map[string]int{}
	total.Key = "total"
	for _, c := range calls {
		key := ""
		switch by {
		case "day":
			key = c.Time.In(place).Format(time.DateOnly)
		case "model":
			key = c.Model
		case "conversation":
			key = string(c.Conversation)
		case "branch":
			key = cmp.Or(c.Branch, "(none)")
		}
		i, had := at[key]
		if !had {
			i = len(sums)
			at[key] = i
			sums = append(sums, Sum{Key: key})
		}
		sums[i].add(c.Usage)
		total.add(c.Usage)
	}
	slices.SortFunc(sums, func(a, b Sum) int { return strings.Compare(a.Key, b.Key) })
	return sums, total
}

// A Miss is a call that read less from the cache than the call before it had sent.
type Miss struct {
	Conversation conversation.ID `json:"conversation"`
	Seq          int             `json:"seq"`
	Time         time.Time       `json:"time"`
	Model        string          `json:"model"`
	Input        int             `json:"input"`
	CacheRead    int             `json:"cache_read"`
	Why          string          `json:"why"`
}

// leastCached is the smallest beginning of a request that providers cache, in tokens.
const leastCached = 1024

// Misses are the calls of a conversation that a cache could have served better, each with the reason from its
// events. Models without reported caches have none.
func Misses(id conversation.ID, events []*conversation.Event) (misses []Miss) {
	var before *conversation.Event // with the use of the call before
	reason := ""
	caches := map[string]bool{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.Prompt:
			if before != nil {
				reason = "the tools or the system prompt changed"
			}
		case *conversation.Compaction, *conversation.CompactionUndone:
			reason = "the conversation was compacted, or that was undone"
		case *conversation.TurnDiscarded:
			reason = "a turn was discarded"
		case *conversation.ChatResponse, *conversation.ToolCallRequest:
			u := of(e)
			if u == nil {
				continue
			}
			_ = b
			caches[e.Model] = caches[e.Model] || u.CacheRead > 0 || u.CacheWrite > 0
			if before != nil && caches[e.Model] && of(before).Input >= leastCached && u.CacheRead*2 < of(before).Input {
				misses = append(misses, Miss{Conversation: id, Seq: e.Seq, Time: e.Time, Model: e.Model, Input: u.Input, CacheRead: u.CacheRead, Why: why(before, e, reason)})
			}
			before, reason = e, ""
		}
	}
	return misses
}

func why(before, e *conversation.Event, reason string) string {
	gap := e.Time.Sub(before.Time)
	switch {
	case before.Model != e.Model:
		return fmt.Sprintf("the model changed from %s", before.Model)
	case reason != "":
		return reason
	case gap > time.Hour:
		return "more than an hour passed"
	case gap > 5*time.Minute:
		return "more than 5 minutes passed"
	}
	return "unknown: jp sent the same beginning"
}
