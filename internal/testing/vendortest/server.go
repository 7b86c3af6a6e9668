package vendortest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"jp/internal/testing/wirecheck"
)

// A Request is one that came in.
type Request struct {
	Vendor string
	Model  string
	Body   []byte
	Whole  bool // it was answered to the end
	Side   bool // a structured answer was asked for, beside the conversation
}

// A Server answers requests by its script. It may be used concurrently.
type Server struct {
	*httptest.Server
	t      testing.TB
	closed chan struct{}
	silent chan struct{}

	mu       sync.Mutex
	rough    Rough
	script   []Reply
	answered int
	requests []Request
	items    map[string][]json.RawMessage // by vendor
	given    map[string][]string          // ids of calls, by vendor
	loose    bool
	strict   bool
	always   *Reply
	gave     map[string][]string // ids of calls, by vendor, in another's conversation
	refused  []string
}

// New starts a server with a script. It ends with the test.
func New(t testing.TB, script ...Reply) *Server {
	s := &Server{
		t: t, script: script, closed: make(chan struct{}), silent: make(chan struct{}, 1000), items: map[string][]json.RawMessage{},
		given: map[string][]string{},
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		close(s.closed)
		s.Close()
	})
	return s
}

// Env is the environment of a jp that asks this server instead of the [Vendors], and
// of more that are named.
func (s *Server) Env(more ...Vendor) []string {
	var environ []string
	for _, v := range append(Vendors(), more...) {
		setting := "JP_CFG_PROVIDERS__" + strings.ToUpper(v.Name) + "__"
		environ = append(environ, setting+"BASE_URL="+s.URL+v.base)
		if v.Name == "work" {
			environ = append(environ, setting+"DIALECT=openai-chat", setting+"API_KEY_ENV="+v.keyEnv)
		}
		if v.dialect != "" {
			environ = append(environ, setting+"DIALECT="+v.dialect, setting+"API_KEY_ENV="+v.keyEnv)
		}
		if v.keyEnv != "" {
			environ = append(environ, v.keyEnv+"="+v.Key())
		}
	}
	return environ
}

// Say appends replies to the script.
func (s *Server) Say(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// Be makes the server rough from the next request on.
func (s *Server) Be(r Rough) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rough = r
}

// Loose gives up the rules that need the answers which a client received: for tests in which these are
// unknown.
func (s *Server) Loose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loose = true
}

// Forget begins another conversation: earlier answers need not go back.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.items)
	clear(s.given)
}

// Requests are those that came in, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left is the number of replies of the script that are still to come.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.script) - s.answered
}

// Items are the parts of a vendor's whole answers that have to go back unchanged, oldest first.
func (s *Server) Items(vendor string) []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.items[vendor])
}

// FellSilent is received from once for each stream that became silent.
func (s *Server) FellSilent() <-chan struct{} { return s.silent }

// AppendOnly fails the test if a request has lost or changed something that an earlier one to the same model
// had before an answer. Requests at the given numbers may begin anew.
func (s *Server) AppendOnly(anew ...int) {
	s.t.Helper()
	last := map[string]Request{}
	for i, now := range s.Requests() {
		v := VendorNamed(now.Vendor)
		if slices.Contains(anew, i) {
			clear(last)
		}
		if before, asked := last[now.Vendor+now.Model]; asked && !now.Side {
			for _, fault := range wirecheck.AppendOnly(v.speech.format(), before.Body, now.Body) {
				s.t.Errorf("request %d, to %s: %v\n%s\n%s", i, now.Vendor, fault, before.Body, now.Body)
			}
		}
		if now.Whole && !now.Side {
			last[now.Vendor+now.Model] = now
		}
	}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // who asked is gone
	}
	for _, v := range every() {
		switch {
		case r.Method == http.MethodPost && v.asked(r.URL.Path):
			if !s.refuses(w, v, s.judge(v, r, body)) {
				s.answer(v, w, r, body)
			}
			return
		case r.Method == http.MethodGet && r.URL.Path == v.base+v.lists:
			s.fault(v, "", v.keyFaults(r, nil))
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, v.speech.models(v.Model))
			return
		}
	}
	s.t.Errorf("nobody speaks at %s %s", r.Method, r.URL)
	http.NotFound(w, r)
}

// fault fails the test.
func (s *Server) fault(v Vendor, body string, faults []string) {
	for _, f := range faults {
		s.t.Errorf("a request to %s: %s\n%.4000s", v.Name, f, body)
	}
}

// judge checks a request, and fails the test for a broken rule, unless the server is strict: then it refuses
// the request.
func (s *Server) judge(v Vendor, r *http.Request, body []byte) []wirecheck.Violation {
	faults := v.keyFaults(r, body)
	broken := v.speech.judge(body, v.modelIn(r.URL.Path, body), s.known(v))
	s.mu.Lock()
	strict := s.strict
	s.mu.Unlock()
	for _, violation := range broken {
		if !strict {
			faults = append(faults, violation.String())
		}
	}
	if r.Header.Get("Content-Type") != "application/json" {
		faults = append(faults, "the content type is "+r.Header.Get("Content-Type"))
	}
	s.fault(v, string(body), faults)
	return broken
}

// known is a vendor's knowledge of its own answers.
type known struct {
	received []json.RawMessage // items that may and must go back, nil if unknown
	given    []string          // ids of calls
}

func (s *Server) known(v Vendor) known {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loose {
		return known{given: s.gave[v.Name]}
	}
	return known{append([]json.RawMessage{}, s.items[v.Name]...), slices.Clone(s.given[v.Name])}
}

// next takes the next reply, and keeps the request.
func (s *Server) next(v Vendor, model string, body []byte) (Reply, style, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{Vendor: v.Name, Model: model, Body: body})
	if s.always != nil {
		s.answered++
		return *s.always, style{Rough: s.rough, model: model, reply: s.answered}, len(s.requests) - 1
	}
	if s.answered >= len(s.script) {
		s.t.Errorf("request %d, to %s, is not in the script:\n%.2000s", len(s.requests), v.Name, body)
		return Reply{Fail: &Failure{Kind: BadRequest}}, style{}, len(s.requests) - 1
	}
	reply := s.script[s.answered]
	s.answered++
	s.requests[len(s.requests)-1].Side = reply.Data != ""
	return reply, style{Rough: s.rough, model: model, reply: s.answered}, len(s.requests) - 1
}

// whole notes that a request was answered to the end.
func (s *Server) whole(v Vendor, number int, reply Reply, items []json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[number].Whole = true
	if !s.requests[number].Side {
		s.items[v.Name] = append(s.items[v.Name], items...)
		for _, c := range reply.Calls {
			s.given[v.Name] = append(s.given[v.Name], c.ID)
		}
	}
}
