package compaction

import (
	"strings"

	"jp/conversation"
)

// A Fate is the effect of a compaction on an event as it is sent.
type Fate struct {
	Event *conversation.Event
	Keep  Keep
	Cited bool // an item of the summary cites it
}

// Fates tell the effect of a compaction, which need not be recorded, on each event that was sent.
func Fates(events []*conversation.Event, b *conversation.Compaction, text Reader) []Fate {
	trimmed, cited := map[int]bool{}, map[int]bool{}
	for _, seq := range b.Trimmed {
		trimmed[seq] = true
	}
	for _, item := range b.Items {
		for _, seq := range item.Cites {
			cited[seq] = true
		}
	}
	kept := map[int]Keep{}
	if b.Kind == conversation.CompactSummary {
		h := HeadOf(events, &conversation.Event{Seq: b.ToSeq + 1, Body: b}, text)
		for _, k := range h.Said {
			if !strings.HasPrefix(k.Label, "your question") {
				kept[k.Event.Seq] = k.Keep
			}
		}
		for _, e := range h.Instructions {
			kept[e.Seq] = KeepWhole
		}
		for _, k := range h.Skills {
			kept[k.Event.Seq] = k.Keep
		}
		if h.Plan != nil {
			kept[h.Plan.Event.Seq] = KeepWhole
		}
	}
	gone := discarded(events)
	var fates []Fate
	for _, e := range events {
		if e.Seq < b.FromSeq || e.Seq > b.ToSeq || gone[e.Seq] {
			continue
		}
		switch {
		case trimmed[e.Seq]:
			keep := KeepLine
			if b.Room > 0 {
				keep = KeepEnds
			}
			fates = append(fates, Fate{e, keep, false})
		case b.Kind == conversation.CompactTrim:
		case kept[e.Seq] != "":
			fates = append(fates, Fate{e, kept[e.Seq], cited[e.Seq]})
		default:
			if wasSent(e) {
				fates = append(fates, Fate{e, Summarised, cited[e.Seq]})
			}
		}
	}
	return fates
}

// wasSent reports whether events of this kind are part of a request.
func wasSent(e *conversation.Event) bool {
	switch b := e.Body.(type) {
	case *conversation.ChatResponse:
		return !b.Partial && strings.TrimSpace(b.Text) != ""
	case *conversation.Resumed:
		return b.Message != ""
	case *conversation.ChatRequest, *conversation.ToolCallRequest, *conversation.ToolCallResponse, *conversation.Note:
		return true
	}
	return false
}
