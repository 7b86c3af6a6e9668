package vendortest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
	"unicode/utf16"

	"jp/internal/testing/wirecheck"
)

// A Seeded answer is one that a seed chooses, and the ways in which its server sends it: reordered, repeated,
// split, cut, late, and without the optional parts of its format. The same seed gives the same answer.
type Seeded struct {
	Seed  uint64
	Reply Reply
	// Finished says that the server sends why the answer ends, so that it counts.
	Finished bool
	// Ways are the misdeeds, for reports.
	Ways []string

	kind   string   // content type
	pieces []string // as they are sent
	waits  []time.Duration
	end    How           // of the stream
	again  string        // is sent for ever behind the last piece
	every  time.Duration // that often
}

// NewSeeded is the answer that a seed chooses for a vendor.
func NewSeeded(v Vendor, seed uint64) Seeded {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, 0x6a70)), vendor: v}
	a := Seeded{Seed: seed, Reply: d.reply(seed), Finished: true, kind: "text/event-stream", end: End}
	s := style{Rough: d.rough(), model: v.Model, reply: 1, halved: d.may("characters cut in two", 2)}
	var text string
	if d.may("a whole answer as JSON", 12) {
		text, a.kind = v.speech.whole(a.Reply, s), "application/json"
		if d.IntN(3) == 0 {
			text, a.kind = s.write(event{data: text}), "text/event-stream"
		}
		if d.may("cut", 4) {
			text, a.Finished = text[:d.IntN(len(text)/2)], false
			a.end = Disconnect
		}
	} else {
		text = d.stream(&a, s)
	}
	a.cut(d, text)
	a.Ways = d.ways
	return a
}

// A draw chooses.
type draw struct {
	*rand.Rand
	vendor Vendor
	ways   []string
}

// may chooses a misdeed once in n times.
func (d *draw) may(way string, n int) bool {
	if d.IntN(n) != 0 {
		return false
	}
	d.ways = append(d.ways, way)
	return true
}

// words are texts that are hard to send.
var words = []string{
	"Grüße", "你好", "🎉", "👩‍👩‍👧", "a\tb", "\"q\"", "\\n", "\\ud83c", "<&>", "\u2028", "e\u0301", "data: x", "[DONE]", "{\"a\":1}", "1e3", "𝒳", "\u00a0", "end",
}

func (d *draw) text(most int) string {
	var all []string
	for range 1 + d.IntN(most) {
		all = append(all, words[d.IntN(len(words))])
	}
	return strings.Join(all, " ")
}

// reply is the model's intended answer.
func (d *draw) reply(seed uint64) Reply {
	r := Reply{Usage: Usage{Input: 100, Output: 20, Cached: 60}}
	if d.IntN(3) == 0 {
		r.Reasoning = "Hm, " + d.text(6)
	}
	calls := d.IntN(4)
	if calls == 0 || d.IntN(2) == 0 {
		r.Text = "So: " + d.text(12)
	}
	for i := range calls {
		arguments := string(object("path", d.text(3), "n", i, "of", fmt.Sprint(seed)))
		if d.IntN(6) == 0 {
			arguments = `{"n":12345678901234567890.10,"i":` + fmt.Sprint(i) + `}`
		}
		r.Calls = append(r.Calls, Call{ID: fmt.Sprintf("call_%d", i), Name: []string{"look", "list"}[d.IntN(2)], Arguments: arguments})
	}
	return r
}

// rough chooses legal ways to write a stream.
func (d *draw) rough() Rough {
	return Rough{
		CRLF: d.IntN(4) == 0, Comments: d.IntN(4) == 0, Pings: d.IntN(3) == 0, Unknown: d.IntN(4) == 0, Empty: d.IntN(4) == 0,
		Letters: d.IntN(4) == 0, Interleave: d.IntN(2) == 0, SplitData: d.IntN(6) == 0, NoSpace: d.IntN(4) == 0, Mark: d.IntN(8) == 0,
	}
}

// stream is the answer as events, with misdeeds, up to its cut.
func (d *draw) stream(a *Seeded, s style) string {
	if len(a.Reply.Calls) > 0 && d.may("a call twice", 5) {
		a.Reply.Calls = append(a.Reply.Calls, a.Reply.Calls[d.IntN(len(a.Reply.Calls))])
	}
	events, _ := d.vendor.speech.events(a.Reply, s)
	events = d.vendor.speech.misdo(events, d)
	finish := -1
	for i, e := range events {
		if e.finish {
			finish = i
			break
		}
	}
	var out strings.Builder
	if s.Mark {
		out.WriteString("\ufeff")
	}
	known := 0 // bytes up to which the answer is unfinished
	for i, e := range events {
		text := s.write(e)
		if s.CRLF && d.ends(s) {
			text = strings.ReplaceAll(text, "\r\n", "\r")
		}
		out.WriteString(text)
		if i == finish {
			known = len(strings.TrimRight(out.String(), "\r\n"))
		}
	}
	text := out.String()
	switch {
	case d.may("cut before the finish", 5):
		text, a.Finished = text[:d.IntN(known)], false
		a.end = []How{Disconnect, End}[d.IntN(2)]
	case d.may("an error before the finish", 12):
		before := d.IntN(finish + 1)
		out.Reset()
		for _, e := range events[:before] {
			out.WriteString(s.write(e))
		}
		text, a.Finished = out.String()+d.complaint(s), false
	case d.may("cut behind the finish", 5):
		text = text[:known+d.IntN(len(text)-known+1)]
		a.end = []How{Disconnect, End}[d.IntN(2)]
	case d.may("it stays open", 12):
		a.end = Silent
	case d.may("comments for ever", 12):
		a.again, a.every = ": still here\n\n", time.Duration(1+d.IntN(3000))*time.Millisecond
	case d.may("pings for ever", 12):
		text = text[:known] + "\n\n"
		a.again, a.every = s.write(event{data: d.vendor.speech.alive()}), time.Duration(1+d.IntN(3000))*time.Millisecond
	case d.may("an error behind the finish", 15):
		text = text[:known] + "\n\n" + d.complaint(s)
	}
	return text
}

// ends chooses the carriage return alone as the end of lines, for all of a stream.
func (d *draw) ends(s style) bool { return s.Letters }

// complaint is an error in one of the ways in which servers report one.
func (d *draw) complaint(s style) string {
	const said = `{"code":503,"message":"the model is overloaded","type":"overloaded_error"}`
	return []string{
		s.write(d.vendor.speech.failing()),
		"error: " + said + "\n\n",
		"event: error\ndata: " + said + "\n\n",
		"event: error\ndata: overloaded, try again\n\n",
		`{"error":` + said + "}\n",
		s.write(event{data: `{"error":` + said + `}`}),
		s.write(event{data: `{"error":"overloaded"}`}),
	}[d.IntN(7)]
}

// cut splits a stream into the pieces in which it is sent, and says when.
func (a *Seeded) cut(d *draw, text string) {
	most := []int{1, 20, 200, 1000, len(text)}[d.IntN(5)]
	late := d.may("late pieces", 6)
	for len(text) > 0 {
		n := min(1+d.IntN(max(1, most)), len(text))
		n = min(max(n, len(text)/400), len(text)) // a long text takes as long as a short one
		a.pieces, text = append(a.pieces, text[:n]), text[n:]
		wait := time.Duration(0)
		if late && d.IntN(len(a.pieces)+1) == 0 {
			wait = time.Duration(d.IntN(4000)) * time.Millisecond
		}
		a.waits = append(a.waits, wait)
	}
}

// ContentType is the answer's type by the server.
func (a Seeded) ContentType() string { return a.kind }

// Send sends the answer: each piece by write, after a wait. It ends as the server
// does: with an error if the connection breaks.
func (a Seeded) Send(ctx context.Context, write func(string) error) error {
	pause := func(d time.Duration) error {
		if d == 0 {
			return nil
		}
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for i, piece := range a.pieces {
		if err := pause(a.waits[i]); err != nil {
			return err
		}
		if err := write(piece); err != nil {
			return err
		}
	}
	for a.again != "" {
		if err := pause(a.every); err != nil {
			return err
		}
		if err := write(a.again); err != nil {
			return err
		}
	}
	switch a.end {
	case Silent:
		<-ctx.Done()
		return ctx.Err()
	case Disconnect:
		return errBroken
	}
	return nil
}

var errBroken = errors.New("connection reset by peer")

// Response is the answer to a request, in process, without a network.
func (a Seeded) Response(r *http.Request) *http.Response {
	out, in := io.Pipe()
	stop := context.AfterFunc(r.Context(), func() { _ = out.CloseWithError(r.Context().Err()) })
	go func() {
		defer stop()
		err := a.Send(r.Context(), func(piece string) error {
			_, err := io.WriteString(in, piece)
			return err
		})
		_ = in.CloseWithError(err) // of nil: the end
	}()
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {a.kind}}, Body: out, Request: r, ProtoMajor: 1, ProtoMinor: 1,
	}
}

// Asks reports whether a request asks the vendor for an answer, and gives the rules
// that its body breaks.
func (v Vendor) Asks(path string, body []byte) (faults []wirecheck.Violation, asks bool) {
	at := strings.Index(path, strings.Split(v.asks, "MODEL")[0])
	if at < 0 {
		return nil, false
	}
	return v.speech.judge(body, v.Model, known{}), true
}

// halfBase begins the code points that stand for halves of characters while an answer is made: a private
// plane that the tests' texts never use.
const halfBase = 0x100000

// halves cuts a piece within the characters that have two halves.
func halves(piece string) (all []string) {
	var open strings.Builder
	for _, r := range piece {
		high, low := utf16.EncodeRune(r)
		if high == '\uFFFD' {
			open.WriteRune(r)
			continue
		}
		open.WriteRune(halfBase + high)
		all = append(all, open.String())
		open.Reset()
		open.WriteRune(halfBase + low)
	}
	if open.Len() > 0 {
		all = append(all, open.String())
	}
	return all
}

// escapedHalves writes the stand-ins for halves of characters as escapes.
func escapedHalves(data string) string {
	if !strings.ContainsFunc(data, isHalf) {
		return data
	}
	var out strings.Builder
	for _, r := range data {
		if isHalf(r) {
			fmt.Fprintf(&out, `\u%04x`, r-halfBase)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

func isHalf(r rune) bool { return r >= halfBase+0xD800 && r <= halfBase+0xDFFF }

// without is a JSON value without a field, in any of its objects. Values without such a field stay as they
// are, to the byte.
func without(value, field string) string {
	if !strings.Contains(value, `"`+field+`"`) {
		return value
	}
	var fields map[string]json.RawMessage
	var elements list
	if json.Unmarshal([]byte(value), &fields) == nil {
		delete(fields, field)
		for name, inner := range fields {
			fields[name] = json.RawMessage(without(string(inner), field))
		}
		return string(encode(fields))
	}
	var raw []json.RawMessage
	if json.Unmarshal([]byte(value), &raw) != nil {
		return value
	}
	for _, inner := range raw {
		elements = append(elements, json.RawMessage(without(string(inner), field)))
	}
	return string(encode(elements))
}

// repeat sends some of the events that choose says twice.
func (d *draw) repeat(events []event, way string, choose func(event) bool) []event {
	if !d.may(way, 4) {
		return events
	}
	var all []event
	for _, e := range events {
		all = append(all, e)
		if choose(e) && d.IntN(2) == 0 {
			all = append(all, e)
		}
	}
	return all
}

// drop leaves out all of the events that choose says.
func (d *draw) drop(events []event, way string, choose func(event) bool) []event {
	if !d.may(way, 4) {
		return events
	}
	var all []event
	for _, e := range events {
		if !choose(e) {
			all = append(all, e)
		}
	}
	return all
}

// forget leaves fields out of all events.
func (d *draw) forget(events []event, fields ...string) []event {
	for _, field := range fields {
		if !d.may("no "+field, 5) {
			continue
		}
		for i := range events {
			if events[i].data != "[DONE]" && !events[i].comment {
				events[i].data = without(events[i].data, field)
			}
		}
	}
	return events
}

// Plain is a reply as the vendor streams it without faults.
func (v Vendor) Plain(r Reply) string {
	s := style{model: v.Model, reply: 2}
	events, _ := v.speech.events(r, s)
	var out strings.Builder
	for _, e := range events {
		out.WriteString(s.write(e))
	}
	return out.String()
}

// Waits reports whether the server waits before it has sent everything, or stays
// on the line.
func (a Seeded) Waits() bool {
	for _, wait := range a.waits {
		if wait > 0 {
			return true
		}
	}
	return a.end == Silent || a.again != ""
}
