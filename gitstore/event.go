package gitstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

// maxEvent is the greatest size of an event with all of its payload, in bytes.
const maxEvent = 50 << 20

// A parsedCommit is one event of a chain as it is stored.
type parsedCommit struct {
	oid       odb.OID
	event     *conversation.Event
	parent    odb.OID
	committed time.Time
	seq       int    // -1 if the commit does not say
	plain     bool   // it never was an event
	state     []byte // the summary as stored, nil if absent
}

// summary decodes the conversation's summary in the event's commit, nil if there is none that can be used.
func (l *parsedCommit) summary() *conversation.Summary {
	if l.state == nil {
		return nil
	}
	sum, err := conversation.DecodeSummary(l.state)
	if err != nil {
		return nil
	}
	return &sum
}

// tip is an event as a conversation's newest, nil if its summary is unreliable.
func (l *parsedCommit) tip() *tip {
	sum := l.summary()
	if sum == nil || !l.event.Signed {
		return nil
	}
	return &tip{event: l.event, committed: l.committed, summary: *sum}
}

// encoder makes commits of events.
type encoder struct {
	format gitcmd.ObjectFormat
	user   Person
	mac    *signer
	zone   *time.Location
	home   *conversation.Home // of the events; nil if it is not recorded
}

// basis is the commit that an event builds on.
type basis struct {
	parent    odb.OID
	tree      odb.OID
	committed time.Time
	summary   conversation.Summary
	needs     []string // of the event there
}

// encode makes the event's commit, and sets the event's fields that follow from it.
func (enc *encoder) encode(e *conversation.Event, on basis) (odb.Object, basis, error) {
	msg := compose(e)
	if err := enc.addTextPayload(e, msg); err != nil {
		return odb.Object{}, on, err
	}
	data, err := conversation.EncodeHeader(e, msg.span)
	if err != nil {
		return odb.Object{}, on, err
	}
	if len(data) > maxData {
		return odb.Object{}, on, fmt.Errorf("%s %d: %w: its fields take %d bytes", e.Type(), e.Seq, conversation.ErrTooLarge, len(data))
	}
	next := basis{tree: on.tree, summary: on.summary.Next(e)}
	if e.Tree != "" {
		next.tree = odb.OID(e.Tree)
	}
	c := &commit{
		tree: next.tree, author: author(e, enc.user), authored: e.Time.In(enc.zone),
		committer: enc.committer(), committed: laterOf(e.Time, on.committed).In(enc.zone),
		data: data, provider: providerHeader(e), message: msg.bytes,
	}
	if on.parent != "" {
		c.parents = []odb.OID{on.parent}
	}
	if c.state, err = stateHeader(next.summary); err != nil {
		return odb.Object{}, on, err
	}
	e.Signed = enc.mac.can() && (e.Was == nil || e.Signed)
	var object []byte
	if e.Home = nil; e.Signed {
		e.Home, c.home = enc.home, homeHeader(enc.home)
		object = enc.mac.encode(c)
	} else {
		object = c.encode()
	}
	next.parent, next.committed = odb.HashObject(enc.format, "commit", object), c.committed
	e.Tree, e.Commit, e.Author, e.Subject = string(c.tree), string(next.parent), c.author.Name, msg.subject
	return odb.Object{Kind: "commit", OID: next.parent, Data: object}, next, nil
}

func (enc *encoder) committer() Person {
	if enc.user.Name == "" && enc.user.Email == "" {
		return jpPerson
	}
	return enc.user.addressed().clean()
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// stateHeader is the summary's header, or none if it would be too large. Readers then walk the chain.
func stateHeader(s conversation.Summary) ([]byte, error) {
	if s.Exceeds(maxState) { // else a reply with very many calls is written again with each of its events
		return nil, nil
	}
	line, err := conversation.EncodeSummary(s)
	if err != nil || len(line) > maxState {
		return nil, err
	}
	return line, nil
}

func providerHeader(e *conversation.Event) []byte {
	if e.Payload(conversation.PayloadProvider) != nil {
		return nil
	}
	return e.Provider
}

// homeHeader says for which conversation an event is.
func homeHeader(h *conversation.Home) []byte {
	if h == nil {
		return nil
	}
	return fmt.Appendf(nil, "%s %s", h.Repo, h.ID)
}

// parseHome reads the home of an event of this user's, nil if it has none. The events of one conversation
// share theirs.
func (r *commitReader) parseHome(header []byte) *conversation.Home {
	if header == nil {
		return nil
	}
	if known := r.lastHome.Load(); known != nil && known.header == string(header) {
		return &known.home
	}
	repo, id, _ := strings.Cut(string(header), " ")
	read := &parsedHome{header: string(header), home: conversation.Home{Repo: repo, ID: conversation.ID(id)}}
	r.lastHome.Store(read)
	return &read.home
}

// A parsedHome is a home with the header that it was read from.
type parsedHome struct {
	header string
	home   conversation.Home
}

// addTextPayload stores a text as payload if the message cannot hold it exactly.
func (enc *encoder) addTextPayload(e *conversation.Event, msg message) error {
	if msg.lossy || msg.cut {
		text, _ := e.Text()
		setPayload(e, conversation.PayloadText, "text/plain", []byte(text))
	}
	e.Lossy = msg.lossy
	if len(e.Provider) == 0 { // a copy may have dropped it
		e.Payloads = slices.DeleteFunc(slices.Clone(e.Payloads), func(p conversation.Payload) bool {
			return p.Name == conversation.PayloadProvider
		})
	} else {
		line, err := conversation.Compact(e.Provider)
		if err != nil {
			return fmt.Errorf("provider state of %s %d: %w", e.Type(), e.Seq, err)
		}
		e.Provider = line
		if len(line) > maxProvider {
			setPayload(e, conversation.PayloadProvider, "application/json", line)
		}
	}
	size := len(msg.bytes)
	for i := range e.Payloads {
		p := &e.Payloads[i]
		if p.Data != nil || p.OID == "" {
			enc.fillPayload(p)
		}
		size += len(p.Data)
	}
	if size > maxEvent {
		return fmt.Errorf("%s %d: %w: %d MiB, and %d is the most", e.Type(), e.Seq, conversation.ErrTooLarge, size>>20, maxEvent>>20)
	}
	return nil
}

// setPayload adds a payload of jp's own, or replaces the event's payload of that name.
func setPayload(e *conversation.Event, name, mediaType string, data []byte) {
	p := conversation.Payload{Name: name, MediaType: mediaType, Data: data}
	if old := e.Payload(name); old != nil {
		*old = p
		return
	}
	e.Payloads = append(e.Payloads, p)
}

func (enc *encoder) fillPayload(p *conversation.Payload) {
	sum := sha256.Sum256(p.Data)
	p.OID, p.Bytes, p.SHA256 = string(odb.HashObject(enc.format, "blob", p.Data)), int64(len(p.Data)), hex.EncodeToString(sum[:])
}

// decode reads an event from the commit that holds it, without its payload.
func (r *commitReader) decode(oid odb.OID, object []byte) (*parsedCommit, error) {
	c, err := parseCommit(object)
	if err != nil {
		return &parsedCommit{oid: oid, parent: c.parent(), seq: -1}, fmt.Errorf("%w: %w", conversation.ErrDamaged, err)
	}
	l := &parsedCommit{oid: oid, parent: c.parent(), committed: c.committed, seq: -1, state: c.state}
	if c.data == nil {
		err := notAnEvent(c)
		l.plain = errors.Is(err, errNotEvent)
		return l, err
	}
	if len(c.data) > maxData || len(c.state) > maxState || len(c.provider) > maxProvider {
		return l, fmt.Errorf("%w: a header is too large", conversation.ErrDamaged)
	}
	e, span, err := conversation.DecodeHeader(c.data)
	if err != nil {
		return l, err
	}
	l.seq = e.Seq
	if len(c.tree) != len(oid) || c.parent() != "" && len(c.parent()) != len(oid) {
		return l, fmt.Errorf("%w: it names objects of another format", conversation.ErrDamaged)
	}
	if len(c.parents) > 1 {
		return l, fmt.Errorf("%w: an event has %d parents", conversation.ErrDamaged, len(c.parents))
	}
	if err := setText(e, c.message, span); err != nil {
		return l, err
	}
	if c.provider != nil {
		if err := conversation.CheckJSON(c.provider); err != nil {
			return l, fmt.Errorf("%w: provider state: %w", conversation.ErrDamaged, err)
		}
		e.Provider = bytes.Clone(c.provider)
	}
	e.Author, e.Tree, e.Commit = c.author.Name, string(c.tree), string(oid)
	e.Model = modelOf(e, c)
	if e.Signed = r.mac.signed(c, object); e.Signed {
		e.Home = r.parseHome(c.home)
	} else if repo, handed := r.handed.has(oid, c); handed {
		home := *r.parseHome(c.home)
		home.Repo = repo
		e.Signed, e.Handed, e.Home = true, true, &home
	}
	l.event = e
	return l, nil
}

// setText gives a decoded event its text and its subject from the message. If a newer jp wrote the message,
// its layout is unknown, and only the subject is set.
func setText(e *conversation.Event, msg []byte, span conversation.Span) error {
	subject, text, err := readText(msg, e, span)
	if err != nil && e.Version > conversation.Version {
		line, _, _ := bytes.Cut(msg, []byte{'\n'})
		e.Subject = string(line)
		return nil
	}
	if err != nil {
		return err
	}
	e.Subject = subject
	if span.At >= 0 {
		e.SetText(text)
	}
	return nil
}

// notAnEvent is the error of a commit that is not the expected event.
func notAnEvent(c *commit) error {
	if hasTrailers(c.message) {
		return ErrStripped
	}
	return fmt.Errorf("%w: %w", conversation.ErrDamaged, errNotEvent)
}

// modelOf is the model that an event's author line names; of a tool's only its
// name, without the provider's.
func modelOf(e *conversation.Event, c *commit) string {
	switch e.Role() {
	case conversation.RoleAssistant:
		return c.author.Name
	case conversation.RoleTool:
		if model, ok := strings.CutPrefix(c.author.Email, "tool+"); ok {
			return strings.TrimSuffix(model, "@jp.invalid")
		}
	}
	return ""
}
