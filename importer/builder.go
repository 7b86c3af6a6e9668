package importer

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"jp/conversation"
)

// errChanged means that a file's beginning differs from the part that was imported.
var errChanged = errors.New("the file's records are not those that were imported before")

// noRequest replaces a request that the file lacks, since an answer needs one.
const noRequest = "(The session has no request here.)"

// A builder makes the events of a session, in the order of its records.
//
// The builder walks along the events of an earlier import, so that its state is the same as if all of them
// were new. The assumptions of an earlier import at the end of the file, such as the result of an open call,
// stay as recorded.
type builder struct {
	tool string
	have []mark // existing events: those of an earlier import, and then the new ones
	emit func(*conversation.Event) error
	r    *Report

	// part makes a fork behind the first events of have, or finds it, and returns its events: those, the
	// fork's origin, and the events of an earlier import.
	part   func(*builder) ([]mark, error)
	shared bool // have is of the thread that this one leaves
	kept   int  // events of have that the file has, too

	// end stands behind have: the assumptions of the earlier import, because its file ended there. If the
	// file continues differently, replace makes new events take its place.
	end     []mark
	replace func(seq int) error
	closing bool // the file is at its end
	assumed int  // events that replace the end then
	older   bool // and the conversation has more than the file

	files   *files   // nil if files stay as they are
	moments *moments // of a recorded session, or nil
	live    bool     // the agent may go on: open calls stay open

	parent   conversation.ID            // of a sub-agent's conversation
	children map[string]conversation.ID // conversations of sub-agents, by their keys
	works    map[int]conversation.ID    // conversations of calls, by their seqs

	next    int // seq of the next event
	turn    int
	at      time.Time // of the newest record
	model   string
	ledger  *conversation.Ledger // of the turn
	stopped bool                 // the turn is closed to further events

	held      []*conversation.Event // the start of a turn, or the last part of an answer: the next record may complete it
	heldID    string                // the tool call's id as the file has it
	heldChild conversation.ID       // the conversation that works on it
	call      int                   // ordinal of the answer in its turn
	ended     bool                  // it is closed to further parts
	answered  bool                  // a part follows it
	tools     bool                  // it has tool calls
	finish    conversation.Finish
	usage     *conversation.Usage
	open      map[string]int        // seqs of open calls, by the file's ids
	unknown   map[string]string     // tools of calls that an import closed, by the file's ids
	late      []*conversation.Event // results of such calls, which wait until all calls are closed
}

// endFile ends the thread where the file ends. If the conversation has more, the file is an older copy, or
// the same one, and endFile assumes no end.
func (b *builder) endFile() error {
	left := 0
	for _, was := range slices.Concat(b.have[min(b.next, len(b.have)):], b.end) {
		if !was.beside() && !was.here() {
			left++
		}
	}
	b.endAnswer()
	b.closing = left > 0 && !b.endGrew() && !(left == 1 && b.endStays())
	end := func() error { return b.closeOpen(outcomeUnknown(b.tool)) }
	if b.live {
		end = b.flush
	}
	err := end()
	b.older = b.closing && b.assumed < left
	return err
}

// endStays reports whether the newest part alone is the recorded end: an import of a live session left its calls open.
func (b *builder) endStays() bool {
	if len(b.held) != 1 || b.next != len(b.have) || len(b.end) != 1 {
		return false
	}
	e := b.held[0]
	e.Turn = b.turn
	return b.end[0].equal(e, b.tool)
}

// endGrew reports whether the file has more of the newest part than the recorded end.
func (b *builder) endGrew() bool {
	if len(b.held) != 1 || b.next != len(b.have) || len(b.end) == 0 {
		return false
	}
	e := b.held[0]
	e.Turn = b.turn
	was, now := b.end[0], markOf(e, b.tool)
	return was.same(e) && (now.tokens > was.tokens || was.said.differs(e) && now.size > was.size)
}

func newBuilder(tool string, have []mark, r *Report, emit func(*conversation.Event) error) *builder {
	return &builder{
		tool: tool, have: have[:len(have):len(have)], emit: emit, r: r, ledger: conversation.NewLedger(), open: map[string]int{}, unknown: map[string]string{},
		works: map[int]conversation.ID{},
	}
}

// outcomeUnknown is the result of a call without one at the end of its file.
func outcomeUnknown(tool string) string {
	return "outcome unknown: recorded by " + tool + " without a result"
}

// wentOn is the result of a call without one when the session continues.
func wentOn(tool string) string {
	return "outcome unknown: " + tool + " went on without a result"
}

// wentOnAlone is the note between two answers to one request.
func wentOnAlone(tool string) string {
	return tool + " went on without another request"
}

// begin makes the event that names the session.
func (b *builder) begin(labels map[string]string, tree string, at time.Time) error {
	b.at = at
	return b.put(&conversation.Event{Tree: tree, Body: &conversation.Metadata{Labels: labels, Parent: b.parent}}, "")
}

func (b *builder) add(rec Record) error {
	switch rec.Kind {
	case KindEnded:
		b.moments.ended(rec.CallID, rec.At)
		return nil
	case KindOpen:
		b.moments.opened(rec.CallID)
		return nil
	}
	if !rec.At.IsZero() {
		b.at = rec.At
	}
	switch rec.Kind {
	case KindRequest:
		return b.request(rec.Text)
	case KindText, KindReasoning, KindCall:
		return b.output(rec)
	case KindResult:
		return b.result(rec)
	case KindUsage:
		b.usage = rec.Usage
	case KindStopped:
		return b.stop("")
	case KindBranch:
		return b.branch()
	}
	return nil
}

// branch ends the part that the thread shares with the one that it leaves.
func (b *builder) branch() error {
	b.endAnswer()
	if err := b.flush(); err != nil {
		return err
	}
	if !b.shared {
		return nil
	}
	return b.leave()
}

// leave continues in a fork behind the newest common event.
func (b *builder) leave() error {
	if b.kept == 0 || b.part == nil {
		return errChanged
	}
	have, err := b.part(b)
	if err != nil {
		return err
	}
	b.next, b.shared = b.kept, false
	b.have, b.end = splitEnd(have)
	b.enter(&conversation.Event{Seq: b.next, Turn: b.turn, Body: &conversation.ForkOrigin{}}, "")
	b.kept = b.next
	return nil
}

// request begins a turn. An unanswered turn before it ends as it is.
func (b *builder) request(text string) error {
	if err := b.stop("recorded by " + b.tool + " without an answer"); err != nil {
		return err
	}
	b.held = []*conversation.Event{b.event(&conversation.TurnStart{Model: b.model}), b.event(&conversation.ChatRequest{Content: text})}
	return nil
}

func (b *builder) stop(reason string) error {
	if err := b.closeOpen(wentOn(b.tool)); err != nil || b.turn == 0 || b.stopped || b.ledger.Complete() {
		return err
	}
	return b.put(b.event(&conversation.TurnStopped{By: conversation.ByUser, Reason: reason}), "")
}

func (b *builder) output(rec Record) error {
	if rec.Kind != KindCall && rec.Text == "" {
		return nil
	}
	switch {
	case rec.Kind != KindCall:
	case rec.Tool == "":
		count(&b.r.Refused, refusedNameless)
		return nil
	case b.isOpen(rec.key()):
		count(&b.r.Refused, refusedDuplicate)
		return nil
	}
	if rec.Model != "" {
		b.model = bounded(rec.Model)
	}
	if len(b.held) == 0 && (b.turn == 0 || b.stopped) {
		if err := b.request(noRequest); err != nil {
			return err
		}
	}
	if len(b.held) > 0 {
		if start, ok := b.held[0].Body.(*conversation.TurnStart); ok {
			start.Model, b.held[0].Model, b.held[1].Model = b.model, b.model, b.model
		}
	}
	fresh := rec.Fresh || b.answered
	if fresh {
		b.endAnswer()
	}
	if err := b.flush(); err != nil {
		return err
	}
	if fresh || b.ended || b.call == 0 {
		if err := b.closeOpen(wentOn(b.tool)); err != nil {
			return err
		}
		if err := b.separate(); err != nil {
			return err
		}
		b.call++
		b.ended, b.answered, b.tools, b.usage = false, false, false, nil
	}
	b.finish = rec.Finish
	if rec.Usage != nil {
		b.usage = rec.Usage
	}
	e := b.event(&conversation.ChatResponse{Call: b.call, Part: conversation.PartMessage, Text: rec.Text})
	switch rec.Kind {
	case KindReasoning:
		e.Body.(*conversation.ChatResponse).Part = conversation.PartReasoning
	case KindCall:
		b.tools, b.heldID, b.heldChild = true, rec.key(), b.children[rec.Child]
		e.Body = b.callOf(rec, e)
	}
	b.held = []*conversation.Event{e}
	return nil
}

// separate puts a note between a finished answer and another one behind it. Without it, the first of the two
// would count as asked for anew, and models would not get it. The events of an earlier import stay.
func (b *builder) separate() error {
	if b.call == 0 || b.answered || b.tools || b.finish != conversation.FinishStop && b.finish != conversation.FinishLength {
		return nil
	}
	for _, was := range slices.Concat(b.have[min(b.next, len(b.have)):], b.end) {
		if was.beside() {
			continue
		}
		if !was.here() && !was.is(conversation.TypeNote) {
			return nil
		}
		break
	}
	return b.put(b.event(&conversation.Note{Content: wentOnAlone(b.tool)}), "")
}

func (b *builder) callOf(rec Record, e *conversation.Event) *conversation.ToolCallRequest {
	object, ok := arguments(rec.Arguments)
	if !ok {
		e.Payloads = append(e.Payloads, conversation.Payload{Name: conversation.PayloadArguments, MediaType: "text/plain", Data: []byte(rec.Arguments)})
	}
	return &conversation.ToolCallRequest{Call: b.call, ID: bounded(rec.CallID), Name: bounded(rec.Tool), Arguments: object, Malformed: !ok}
}

// isOpen reports whether a call of the id lacks its result.
func (b *builder) isOpen(id string) bool {
	if _, open := b.open[id]; open {
		return true
	}
	return len(b.held) == 1 && b.held[0].Type() == conversation.TypeToolCallRequest && b.heldID == id
}

func (b *builder) result(rec Record) error {
	b.endAnswer()
	if err := b.flush(); err != nil {
		return err
	}
	if err := b.takeClosed(); err != nil {
		return err
	}
	if err := b.tellLate(); err != nil {
		return err
	}
	seq, open := b.open[rec.key()]
	name, closed := b.unknown[rec.key()]
	switch {
	case open:
		delete(b.open, rec.key())
		if child := b.children[rec.Child]; child != "" {
			b.works[seq] = child
		}
		if err := b.respond(seq, rec.Text, rec.Failed, rec.Edits...); err != nil {
			return err
		}
	case closed:
		delete(b.unknown, rec.key())
		b.late = append(b.late, b.event(&conversation.Note{Content: "The result of the call of " + name + ", whose outcome was unknown above:\n" + rec.Text}))
	default:
		count(&b.r.Refused, refusedOrphan)
		return nil
	}
	return b.tellLate()
}

// respond closes a call, and names the conversation that worked on it.
func (b *builder) respond(seq int, text string, failed bool, edits ...Edit) error {
	if child := b.works[seq]; b.startedBy(child) {
		if err := b.put(b.event(&conversation.ToolStarted{For: seq, Attempt: 1, Child: child}), ""); err != nil {
			return err
		}
	}
	response := b.response(seq, text, failed)
	if err := b.edit(response, edits); err != nil {
		return err
	}
	return b.put(response, "")
}

// startedBy reports whether the start of a call is recorded. The events of an earlier import stay, whichever
// sub-agents the file had then.
func (b *builder) startedBy(child conversation.ID) bool {
	for _, was := range b.have[min(b.next, len(b.have)):] {
		switch {
		case was.beside():
			continue
		case was.signed:
		case was.is(conversation.TypeToolStarted):
			return true
		case was.is(conversation.TypeToolCallResponse):
			return false
		}
		break
	}
	return child != ""
}

// edit gives a response the files after the tool. Other changes before it become an event of their own.
// Existing events keep their files.
func (b *builder) edit(response *conversation.Event, edits []Edit) error {
	for b.next < len(b.have) && b.have[b.next].beside() && b.part != nil && !b.shared {
		if b.have[b.next].is(conversation.TypeWorkspace) {
			b.r.Events++ // an earlier import made it of the edits
		}
		b.next++
	}
	if taken, err := b.moments.take(b, response, edits); taken || err != nil {
		return err
	}
	if len(edits) == 0 || b.shared {
		return nil
	}
	b.r.Edits += len(edits)
	if b.next < len(b.have) {
		if at := b.next; at > 0 && b.have[at].tree != b.have[at-1].tree {
			b.r.Rebuilt += len(edits)
		}
		return nil
	}
	if b.files == nil {
		b.r.Rebuilt += len(edits)
		return nil
	}
	c, err := b.files.apply(edits)
	if err != nil {
		return err
	}
	b.r.Rebuilt += len(edits) - c.unknown
	merge(&b.r.LeftOut, c.left)
	if len(c.outside) > 0 {
		outside := b.event(&conversation.Workspace{Paths: c.outside})
		outside.Tree, outside.Objects = c.before, c.outsideObjects
		if err := b.put(outside, ""); err != nil {
			return err
		}
	}
	if len(c.changed) > 0 {
		response.Tree, response.Objects = c.after, c.objects
		response.Body.(*conversation.ToolCallResponse).Changed = c.changed
	}
	return nil
}

func (b *builder) response(seq int, text string, failed bool) *conversation.Event {
	request := b.ledger.ToolCall(seq).Request
	return b.event(&conversation.ToolCallResponse{For: seq, ID: request.ID, Name: request.Name, Content: text, IsError: failed})
}

// endAnswer completes the newest part as the last one of its answer.
func (b *builder) endAnswer() {
	if len(b.held) != 1 {
		return
	}
	end := conversation.CallEnd{Finish: b.finish, Usage: b.usage}
	switch {
	case b.tools && (end.Finish == "" || end.Finish == conversation.FinishStop || end.Finish == conversation.FinishPause):
		end.Finish = conversation.FinishToolCalls
	case !b.tools && (end.Finish == "" || end.Finish == conversation.FinishToolCalls):
		end.Finish = conversation.FinishStop
	}
	switch body := b.held[0].Body.(type) {
	case *conversation.ChatResponse:
		body.CallEnd = end
	case *conversation.ToolCallRequest:
		body.CallEnd = end
	}
}

// closeOpen records the held events, and closes the open calls with a result that gives the reason.
func (b *builder) closeOpen(why string) error {
	b.endAnswer()
	if err := b.flush(); err != nil {
		return err
	}
	if err := b.takeClosed(); err != nil {
		return err
	}
	if len(b.open) == 0 {
		return b.tellLate()
	}
	for _, call := range b.ledger.Open() {
		if err := b.respond(call.Event.Seq, why, true); err != nil {
			return err
		}
		b.close(call)
	}
	return b.tellLate()
}

// close forgets an open call whose outcome stays unknown.
func (b *builder) close(call *conversation.ToolCall) {
	for id, seq := range b.open {
		if seq == call.Event.Seq {
			delete(b.open, id)
			const most = 1 << 16
			if len(b.unknown) < most {
				b.unknown[id] = call.Request.Name
			}
		}
	}
	if !b.shared {
		b.r.Unknowns++
	}
}

// tellLate adds the results that came after their calls were closed.
func (b *builder) tellLate() error {
	if len(b.open) > 0 {
		return nil
	}
	late := b.late
	b.late = nil
	for _, note := range late {
		if err := b.put(note, ""); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) flush() error {
	held := b.held
	b.held = nil
	for _, e := range held {
		if err := b.put(e, b.heldID); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) event(body conversation.Body) *conversation.Event {
	return &conversation.Event{Time: b.at, Body: body, Model: b.model}
}

// takeClosed walks along the results with which an earlier import closed open calls at the end of its file.
func (b *builder) takeClosed() error {
	for b.next < len(b.have) {
		was := b.have[b.next]
		started := was.is(conversation.TypeToolStarted) && b.next+1 < len(b.have)
		if started {
			was = b.have[b.next+1]
		}
		if !was.closed {
			return nil
		}
		call := b.ledger.ToolCall(int(was.of))
		if call == nil || !call.Open() {
			return errChanged
		}
		if started {
			b.walk(b.event(&conversation.ToolStarted{For: int(was.of), Attempt: 1, Child: b.works[int(was.of)]}), "")
		}
		b.walk(b.response(int(was.of), outcomeUnknown(b.tool), true), "")
		b.close(call)
	}
	return nil
}

// walk enters an existing event.
func (b *builder) walk(e *conversation.Event, id string) {
	e.Seq, e.Turn, e.Version = b.next, b.turn, conversation.Version
	b.have[b.next].complete(e)
	b.enter(e, id)
	b.kept = b.next
}

// put numbers the next event, and gives it away if it is new.
func (b *builder) put(e *conversation.Event, id string) error {
	if e.Time.IsZero() {
		e.Time = b.at
	}
	if e.Type() == conversation.TypeTurnStart {
		b.turn++
		clear(b.open)
		clear(b.works)
		e.Git = b.moments.placeAt(e.Time)
	}
	e.Turn, e.Version = b.turn, conversation.Version
	return b.record(e, id)
}

// copy takes an event as it is.
func (b *builder) copy(e *conversation.Event) error {
	if e.Seq != b.next || e.Turn < b.turn {
		return fmt.Errorf("event %d of turn %d cannot follow event %d of turn %d", e.Seq, e.Turn, b.next-1, b.turn)
	}
	b.turn = e.Turn
	return b.record(e, "")
}

// record passes on an event if it is new. Between existing events there may be others, which were added here.
func (b *builder) record(e *conversation.Event, id string) error {
	if b.closing {
		e.Seq = b.next
		b.enter(e, id)
		return nil
	}
	for b.next < len(b.have) {
		was := b.have[b.next]
		switch {
		case was.same(e):
			if was.said.differs(e) {
				return fmt.Errorf("%w: event %d is a %s of %s, and the file has another text for it", errChanged, b.next, was.kind(), was.time().Format(time.RFC3339))
			}
			b.walk(e, id)
			return nil
		case was.beside() && b.part != nil:
			b.next++
			continue
		case !b.shared && (!was.here() || b.part == nil):
			return fmt.Errorf("%w: event %d is a %s of %s, and the file has a %s of %s",
				errChanged, b.next, was.kind(), was.time().Format(time.RFC3339), e.Type(), e.Time.Format(time.RFC3339))
		}
		if err := b.leave(); err != nil {
			return err
		}
	}
	if b.shared {
		if err := b.leave(); err != nil {
			return err
		}
		return b.record(e, id)
	}
	e.Seq = b.next
	if len(b.end) > 0 {
		was := b.end[0]
		if was.equal(e, b.tool) {
			b.have, b.end = append(b.have, was), b.end[1:]
			b.walk(e, id)
			return nil
		}
		b.end = nil
		if err := b.replace(b.next - 1); err != nil {
			return err
		}
	}
	b.enter(e, id)
	b.have = append(b.have, markOf(e, b.tool))
	b.kept = b.next
	b.r.Added++
	return b.emit(e)
}

// enter notes an event that is recorded, or is about to be.
func (b *builder) enter(e *conversation.Event, id string) {
	b.next++
	if b.closing {
		b.assumed++
	}
	if !b.shared {
		b.r.count(e, b.tool)
	}
	switch body := e.Body.(type) {
	case *conversation.TurnStart:
		b.ledger = conversation.NewLedger()
		b.call, b.ended, b.answered, b.stopped = 0, false, false, false
	case *conversation.ChatResponse:
		b.ended = body.Finish != ""
	case *conversation.ToolCallRequest:
		b.ended = body.Finish != ""
		b.open[id] = e.Seq
		if b.heldChild != "" {
			b.works[e.Seq] = b.heldChild
		}
	case *conversation.ToolCallResponse:
		b.answered = true
	case *conversation.Note:
		b.answered = true
	case *conversation.TurnStopped:
		b.stopped = true
	}
	b.ledger.Enter(e)
}

// bounded is an id or a name of a file, which may be of any length.
func bounded(word string) string {
	const most = 256
	if len(word) <= most {
		return word
	}
	return conversation.Shorten(word[:most], most-1)
}
