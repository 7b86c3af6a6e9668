package conversation

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// An exchanged event is an event with all the content of its commit and its payloads, as one JSON value that
// names no object.
type exchanged struct {
	Header   json.RawMessage    `json:"header"` // see [EncodeHeader]
	Subject  string             `json:"subject,omitempty"`
	Text     string             `json:"text,omitempty"`
	Base64   []byte             `json:"text_base64,omitempty"` // a text in another encoding than UTF-8
	Author   string             `json:"author,omitempty"`
	Model    string             `json:"model,omitempty"`
	Provider json.RawMessage    `json:"provider,omitempty"`
	Commit   string             `json:"commit,omitempty"`
	Tree     string             `json:"tree,omitempty"`
	Payloads []exchangedPayload `json:"payloads,omitempty"`
}

type exchangedPayload struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data"` // base64
}

// EncodeExchange returns the event as one line of JSON that another repository can read. The
// content of its payloads is in their Data; one without Data is left out.
func EncodeExchange(e *Event) ([]byte, error) {
	text, has := e.Text()
	span := NoText
	if has {
		span = Span{Len: len(text)}
	}
	bare := *e
	bare.Payloads = slices.DeleteFunc(slices.Clone(e.Payloads), func(p Payload) bool { return p.Data == nil || storesText(p.Name) })
	x := exchanged{Subject: e.Subject, Author: e.Author, Model: e.Model, Provider: e.Provider, Commit: e.Commit, Tree: e.Tree}
	for _, p := range bare.Payloads {
		x.Payloads = append(x.Payloads, exchangedPayload{p.Name, p.MediaType, base64.StdEncoding.EncodeToString(p.Data)})
	}
	if x.Text = text; !utf8.ValidString(text) {
		x.Text, x.Base64 = "", []byte(text)
	}
	header, err := EncodeHeader(&bare, span)
	if err != nil {
		return nil, err
	}
	x.Header = header
	return json.Marshal(x)
}

// storesText reports whether a payload has the whole of a text in the event itself.
func storesText(name string) bool { return name == PayloadText || name == PayloadProvider }

// DecodeExchange reads the output of [EncodeExchange]. Commit and tree are those of the repository that the
// event is from. References to missing payloads are dropped.
func DecodeExchange(line []byte) (*Event, error) {
	var x exchanged
	if err := json.Unmarshal(line, &x); err != nil {
		return nil, err
	}
	header, err := Canonical(x.Header)
	if err != nil {
		return nil, err
	}
	e, span, err := DecodeHeader(header)
	if err != nil {
		return nil, err
	}
	if e.Opaque() || isUnknownBody(e.Body) {
		return nil, errors.New("it was written by a newer jp")
	}
	text := x.Text
	if x.Base64 != nil {
		text = string(x.Base64)
	}
	if _, has := e.Text(); has != (span.At >= 0) || !has && text != "" {
		return nil, fmt.Errorf("%w: a %s with the text of another type", ErrDamaged, e.Type())
	}
	if text != "" {
		e.SetText(text)
	}
	if len(x.Provider) > 0 {
		if err := CheckJSON(x.Provider); err != nil {
			return nil, fmt.Errorf("provider state: %w", err)
		}
		e.Provider = x.Provider
	}
	e.Payloads = nil
	for _, p := range x.Payloads {
		data, err := base64.StdEncoding.DecodeString(p.Data)
		if err != nil {
			return nil, fmt.Errorf("payload %.40q: %w", p.Name, err)
		}
		if p.Name == "" || storesText(p.Name) || e.Payload(p.Name) != nil {
			return nil, fmt.Errorf("%w: payload %.40q", ErrDamaged, p.Name)
		}
		e.Payloads = append(e.Payloads, Payload{Name: p.Name, MediaType: p.MediaType, Data: append([]byte{}, data...)})
	}
	without := func(list []Attachment) []Attachment {
		return slices.DeleteFunc(slices.Clone(list), func(a Attachment) bool { return e.Payload(a.Name) == nil })
	}
	switch b := e.Body.(type) {
	case *ChatRequest:
		b.Attachments = without(b.Attachments)
	case *ToolCallResponse:
		b.Attachments = without(b.Attachments)
	}
	e.Subject, e.Author, e.Model, e.Commit, e.Tree = x.Subject, x.Author, x.Model, x.Commit, x.Tree
	return e, nil
}

func isUnknownBody(b Body) bool {
	_, unknown := b.(*Unknown)
	return unknown
}

// Detach makes an event of another repository's conversation one that stands behind by events
// of a copy: it maps the numbers, and drops names of objects, processes and conversations there.
func (e *Event) Detach(by int) {
	was := e.Seq
	if e.Was == nil {
		e.Was = &was
	}
	e.Seq += by
	e.Git, e.Commit, e.Tree, e.Objects = nil, "", "", nil
	e.Body.fields(shifter{by: by})
	switch b := e.Body.(type) {
	case *TurnStart:
		b.Approved, e.Subject = nil, ""
	case *Resumed:
		b.Approved = nil
	case *ToolStarted:
		b.PGID, b.Child, b.ControlFiles = 0, "", nil
	case *ToolCallResponse:
		b.Changed, b.Shared, b.Unrecorded, b.UnrecordedMore = nil, nil, nil, 0
	case *InquiryRequest:
		b.Files = nil
	case *Metadata:
		b.Parent, b.ExpiresAt = "", nil
	case *ForkOrigin:
		b.Adopted, b.CheckedOut, b.WrittenFor = false, false, ""
	case *Restored, *TurnDone: // their lines name numbers
		e.Subject = ""
	case *Compaction:
		b.Trimmed, b.Items = slices.Clone(b.Trimmed), slices.Clone(b.Items)
		for i := range b.Trimmed {
			b.Trimmed[i] += by
		}
		for i, item := range b.Items {
			b.Items[i].Cites = slices.Clone(item.Cites)
			for j := range b.Items[i].Cites {
				b.Items[i].Cites[j] += by
			}
		}
	}
}

// shifter adds to the numbers of other events.
type shifter struct {
	silent
	by int
}

func (s shifter) seq(_ string, p *int) { *p += s.by }

func (s shifter) ref(_ string, p **int) {
	if *p != nil {
		n := **p + s.by
		*p = &n
	}
}
