package vendortest

import (
	"fmt"
	"io"
	"net/http"
)

// answer answers one request.
func (s *Server) answer(v Vendor, w http.ResponseWriter, r *http.Request, body []byte) {
	reply, style, number := s.next(v, v.modelIn(r.URL.Path, body), body)
	if reply.Fail != nil {
		s.refuse(v, w, *reply.Fail)
		return
	}
	events, items := v.speech.events(reply, style)
	end := len(events)
	if reply.Cut != nil {
		end = reply.Cut.at(events)
	} else {
		s.whole(v, number, reply, items)
	}
	out := &stream{w: w, style: style, gate: reply.Gate, done: r.Context().Done(), closed: s.closed}
	if !out.begin() || !out.send(events[:end]) || reply.Cut == nil {
		return
	}
	switch reply.Cut.How {
	case Disconnect:
		panic(http.ErrAbortHandler)
	case Fail:
		out.send([]event{v.speech.failing()})
	case Silent:
		s.silent <- struct{}{}
		select {
		case <-out.done:
		case <-s.closed:
		}
	}
}

// refuse answers with a failure.
func (s *Server) refuse(v Vendor, w http.ResponseWriter, f Failure) {
	status, text := v.speech.refusal(f)
	w.Header().Set("Content-Type", "application/json")
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	fmt.Fprint(w, text)
}

// A stream is an answer on its way.
type stream struct {
	w      http.ResponseWriter
	style  style
	gate   <-chan struct{}
	done   <-chan struct{} // closed when the client is gone
	closed <-chan struct{}
	spoken bool // a piece of the text was sent
}

// begin sends the head. False says that the client has left.
func (o *stream) begin() bool {
	kind := o.style.Type
	if kind == "" {
		kind = "text/event-stream; charset=utf-8"
	}
	o.w.Header().Set("Content-Type", kind)
	o.w.WriteHeader(http.StatusOK)
	if o.style.Mark {
		return o.push("\ufeff")
	}
	return o.push("")
}

// send sends events, each when its gate is open.
func (o *stream) send(events []event) bool {
	for _, e := range events {
		if e.word && o.spoken && o.gate != nil && !o.wait() {
			return false
		}
		o.spoken = o.spoken || e.word
		for _, piece := range o.style.cut(o.style.write(e)) {
			if !o.push(piece) {
				return false
			}
		}
	}
	return true
}

func (o *stream) wait() bool {
	select {
	case <-o.gate:
		return true
	case <-o.done:
	case <-o.closed:
	}
	return false
}

// push sends bytes at once.
func (o *stream) push(text string) bool {
	if _, err := io.WriteString(o.w, text); err != nil {
		return false
	}
	return http.NewResponseController(o.w).Flush() == nil
}
