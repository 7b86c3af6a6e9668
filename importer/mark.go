package importer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"jp/conversation"
	"jp/gitstore"
)

// A mark is what an import has to know of an event that is there, in little memory: a
// session may have millions.
type mark struct {
	at     int64 // in nanoseconds
	turn   int32
	of     int32 // the call's seq, of a response
	typ    uint8
	finish uint8
	closed bool // it is a response that an import made at the end that the file then had
	signed bool // this user's jp wrote it
	said   content
}

// Words of marks, by their numbers.
var (
	markTypes = []conversation.Type{
		"", conversation.TypeMetadata, conversation.TypeTurnStart, conversation.TypeChatRequest, conversation.TypeChatResponse, conversation.TypeToolCallRequest,
		conversation.TypeToolStarted, conversation.TypeToolCallResponse, conversation.TypeNote, conversation.TypeTurnStopped, conversation.TypeWorkspace,
		conversation.TypeForkOrigin, conversation.TypeConfigDelta, conversation.TypePrompt, conversation.TypeInquiryRequest, conversation.TypeInquiryResponse,
		conversation.TypeTurnDiscarded, conversation.TypeTurnInterrupted, conversation.TypeResumed, conversation.TypeRestored, conversation.TypeState,
		conversation.TypeTurnDone, conversation.TypeWithheld, conversation.TypeInstructions, conversation.TypeCompaction, conversation.TypeCompactionUndone,
	}
	markFinishes = []conversation.Finish{
		"", conversation.FinishStop, conversation.FinishToolCalls, conversation.FinishLength, conversation.FinishRefusal, conversation.FinishPause,
		conversation.FinishContext, conversation.FinishFiltered,
	}
)

func markOf(e *conversation.Event, tool string) mark {
	m := mark{at: e.Time.UnixNano(), turn: int32(e.Turn), typ: uint8(max(0, slices.Index(markTypes, e.Type()))), signed: e.Signed, said: contentOf(e)}
	finish := conversation.Finish("")
	switch body := e.Body.(type) {
	case *conversation.ChatResponse:
		finish = body.Finish
	case *conversation.ToolCallRequest:
		finish = body.Finish
	case *conversation.ToolCallResponse:
		m.of, m.closed = int32(body.For), body.IsError && body.Content == outcomeUnknown(tool)
	}
	m.finish = uint8(max(0, slices.Index(markFinishes, finish)))
	return m
}

func (m mark) kind() conversation.Type {
	return markTypes[m.typ]
}

func (m mark) is(t conversation.Type) bool { return m.typ != 0 && markTypes[m.typ] == t }

func (m mark) time() time.Time { return time.Unix(0, m.at).UTC() }

// same reports whether an event stands where the one that is there does.
func (m mark) same(e *conversation.Event) bool {
	return !m.signed && m.is(e.Type()) && m.turn == int32(e.Turn) && m.at == e.Time.UnixNano()
}

// beside reports whether the event may have been added to an imported conversation without
// going on with it, or goes with another event.
func (m mark) beside() bool {
	return m.is(conversation.TypeMetadata) || m.is(conversation.TypeWorkspace) || m.is(conversation.TypeConfigDelta)
}

// here reports whether the event was made here, and not of a session.
func (m mark) here() bool { return m.signed || m.typ == 0 || m.is(conversation.TypeForkOrigin) }

// complete gives an event made anew the end of an answer that the one which is there has.
func (m mark) complete(e *conversation.Event) {
	switch body := e.Body.(type) {
	case *conversation.ChatResponse:
		body.Finish = markFinishes[m.finish]
	case *conversation.ToolCallRequest:
		body.Finish = markFinishes[m.finish]
	}
}

// marksOf reads the events up to a head. labels are those of the first one.
func marksOf(ctx context.Context, store *gitstore.Store, head conversation.Head, tool string) (marks []mark, labels map[string]string, err error) {
	for e, err := range store.Backward(ctx, head) {
		if err != nil {
			return nil, nil, fmt.Errorf("read what was imported before: %w", err)
		}
		marks = append(marks, markOf(e, tool))
		if first, ok := e.Body.(*conversation.Metadata); ok {
			labels = first.Labels
		}
	}
	slices.Reverse(marks)
	return marks, labels, nil
}

// eventAt is an event of a conversation.
func eventAt(ctx context.Context, store *gitstore.Store, head conversation.Head, seq int) (*conversation.Event, error) {
	for e, err := range store.Backward(ctx, head) {
		if err != nil {
			return nil, err
		}
		if e.Seq == seq {
			return e, nil
		}
	}
	return nil, fmt.Errorf("event %d is not there", seq)
}
