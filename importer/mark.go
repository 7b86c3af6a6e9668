package importer

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"jp/conversation"
	"jp/gitstore"
)

// A mark is the relevant data of an existing event, in little memory, since a session may have millions.
type mark struct {
	at     int64 // in nanoseconds
	turn   int32
	of     int32 // the call's seq, of a response
	typ    uint8
	finish uint8
	closed bool // it is a response that an import made at the end that the file then had
	signed bool // this user's jp wrote it
	said   content
	size   int32  // bytes of the text
	tokens int64  // of the answer, so far
	model  uint64 // a hash
	tree   uint64 // a hash of the name of its files' tree, 0 if it is that of the event before
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
	text, _ := e.Text()
	m.size = int32(min(len(text), math.MaxInt32))
	if e.Tree != "" {
		m.tree = maphash.String(contentSeed, e.Tree)
	}
	finish := conversation.Finish("")
	switch body := e.Body.(type) {
	case *conversation.TurnStart:
		m.model = maphash.String(contentSeed, body.Model)
	case *conversation.ChatResponse:
		finish, m.tokens, m.model = body.Finish, tokens(body.Usage), maphash.String(contentSeed, e.Model)
	case *conversation.ToolCallRequest:
		finish, m.tokens, m.model = body.Finish, tokens(body.Usage), maphash.String(contentSeed, e.Model)
	case *conversation.ToolCallResponse:
		m.of, m.closed = int32(body.For), body.IsError && body.Content == outcomeUnknown(tool)
	}
	m.finish = uint8(max(0, slices.Index(markFinishes, finish)))
	return m
}

func tokens(u *conversation.Usage) int64 {
	if u == nil {
		return 0
	}
	return int64(u.Input) + int64(u.Output)
}

// equal reports whether an event of the file equals the existing one, as far as a mark can tell.
func (m mark) equal(e *conversation.Event, tool string) bool {
	now := markOf(e, tool)
	return m.same(e) && !m.said.differs(e) && m.finish == now.finish && m.closed == now.closed && m.tokens == now.tokens && m.model == now.model
}

// splitEnd separates the end that an import had to assume because the file ended there: open calls without a
// result, and before them the newest part of an answer, or a request without one.
func splitEnd(marks []mark) (settled, end []mark) {
	n := len(marks)
	for n > 0 && marks[n-1].closed && !marks[n-1].signed {
		if n--; n > 0 && marks[n-1].is(conversation.TypeToolStarted) {
			n--
		}
	}
	last := func(t conversation.Type) bool { return n > 1 && !marks[n-1].signed && marks[n-1].is(t) }
	switch {
	case last(conversation.TypeChatResponse), last(conversation.TypeToolCallRequest):
		n--
	case last(conversation.TypeChatRequest):
		n -= 2
	}
	n = max(n, min(1, len(marks)))
	return marks[:n:n], marks[n:]
}

func (m mark) kind() conversation.Type {
	return markTypes[m.typ]
}

func (m mark) is(t conversation.Type) bool { return m.typ != 0 && markTypes[m.typ] == t }

func (m mark) time() time.Time { return time.Unix(0, m.at).UTC() }

// same reports whether an event matches the existing one.
func (m mark) same(e *conversation.Event) bool {
	return !m.signed && m.is(e.Type()) && m.turn == int32(e.Turn) && m.at == e.Time.UnixNano()
}

// beside reports whether the event may have been added to an imported conversation without
// going on with it, or goes with another event.
func (m mark) beside() bool {
	return m.is(conversation.TypeMetadata) || m.is(conversation.TypeWorkspace) || m.is(conversation.TypeConfigDelta) || m.is(conversation.TypeRestored)
}

// here reports whether the event was made here, and not from a session.
func (m mark) here() bool { return m.signed || m.typ == 0 || m.is(conversation.TypeForkOrigin) }

// complete gives a rebuilt event the existing one's end of an answer.
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
