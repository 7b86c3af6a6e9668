package vendortest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/journaltest"
	"jp/internal/testing/vendortest"
	"jp/provider/catalog"
	"jp/tool"
	"jp/turnloop"
)

// seeds is how many seeds each protocol gets; JP_SEEDS says another number, which
// make seeded does. JP_SEED is the first one.
func seeds(t *testing.T, usual int) (first, n uint64) {
	t.Helper()
	number := func(name string, usual uint64) uint64 {
		if said := os.Getenv(name); said != "" {
			n, err := strconv.ParseUint(said, 10, 64)
			require.NoError(t, err, name)
			return n
		}
		return usual
	}
	return number("JP_SEED", 1), number("JP_SEEDS", uint64(usual))
}

// protocols are the vendors by the protocol that they speak.
func protocols() map[string][]vendortest.Vendor {
	named := func(names ...string) (all []vendortest.Vendor) {
		for _, name := range names {
			all = append(all, vendortest.VendorNamed(name))
		}
		return all
	}
	return map[string][]vendortest.Vendor{
		"anthropic": named("anthropic"), "openai-responses": named("openai"), "google": named("google"), "openai-chat": named("work", "openrouter", "ollama"),
	}
}

// lastWords are the answer to the results of tools.
const lastWords = "That is all, ✓."

// A scene is a server that misbehaves once, and the tools of the turn that asks it.
type scene struct {
	vendor vendortest.Vendor
	answer vendortest.Seeded

	mu       sync.Mutex
	requests int
	again    int // answers that were asked for once more
	faults   []string
	runs     map[string]int // of tools, by name and arguments
}

// next takes a request and returns its answer: the seeded one first,
// then the same without misdeeds, or the last words behind results.
func (s *scene) next(path string, body []byte) (seeded bool, reply vendortest.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	faults, asks := s.vendor.Asks(path, body)
	if !asks {
		s.faults = append(s.faults, "a request to "+path)
	}
	for _, f := range faults {
		s.faults = append(s.faults, fmt.Sprintf("request %d: %v", s.requests, f))
	}
	switch {
	case s.requests == 1:
		return true, vendortest.Reply{}
	case bytes.Contains(body, []byte(ranMark)):
		return false, vendortest.Reply{Text: lastWords}
	}
	s.again++
	return false, s.answer.Reply
}

// RoundTrip answers in process.
func (s *scene) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	seeded, reply := s.next(r.URL.Path, body)
	if seeded {
		return s.answer.Response(r), nil
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(s.vendor.Plain(reply))),
	}, nil
}

// ServeHTTP answers over a socket.
func (s *scene) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	push := func(text string) error {
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	seeded, reply := s.next(r.URL.Path, body)
	if !seeded {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = push(s.vendor.Plain(reply)) // who asked may be gone
		return
	}
	w.Header().Set("Content-Type", s.answer.ContentType())
	if s.answer.Send(r.Context(), push) != nil {
		panic(http.ErrAbortHandler)
	}
}

// ranMark is in the result of every tool.
const ranMark = "the tool ran"

// A counted tool only reads, and counts its runs with the scene of its context.
type counted string

type sceneKey struct{}

// countedTools are the tools of all scenes: compiling their schemas takes time.
var countedTools = sync.OnceValues(func() (*tool.Registry, error) { return tool.NewRegistry(counted("look"), counted("list")) })

const countedArguments = `{"type":"object","properties":{"path":{"type":"string"},"of":{"type":"string"},"n":{"type":"number"},"i":{"type":"number"}}}`

var countedDefinitions = map[counted]*tool.Definition{"look": definition("look"), "list": definition("list")}

func definition(name string) *tool.Definition {
	return &tool.Definition{Name: name, Description: "Looks.", Parameters: json.RawMessage(countedArguments), Effect: tool.Reads, Run: tool.Unattended}
}

func (c counted) Definition() *tool.Definition { return countedDefinitions[c] }

func (c counted) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	s := ctx.Value(sceneKey{}).(*scene)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[called(string(c), call.Arguments)]++
	return tool.Result{Content: []byte(ranMark)}, nil
}

// called names a call by its request, regardless of the order of arguments.
func called(name string, arguments []byte) string {
	canonical, _ := conversation.Canonical(arguments) // text other than JSON is no call of the script
	return name + " " + string(canonical)
}

// written names a call by the model's text, to the byte.
func written(name string, arguments []byte) string {
	var out bytes.Buffer
	_ = json.Compact(&out, arguments) // text other than JSON is no call of the script
	return name + " " + out.String()
}

// play runs a turn against the scene, and describes its faults.
func (s *scene) play(ctx context.Context, client *http.Client, base string) (faults []string, err error) {
	s.runs = map[string]int{}
	settings := catalog.Settings{BaseURL: base}
	if s.vendor.Name == "work" {
		settings.Dialect = "openai-chat"
	}
	found, err := catalog.Find(s.vendor.Name, settings)
	if err != nil {
		return nil, err
	}
	p := found.Open(s.vendor.Key(), catalog.Options{Client: client, Silence: time.Minute, Stall: 2 * time.Minute})
	tools, err := countedTools()
	if err != nil {
		return nil, err
	}
	stream := conversation.NewStream(nil)
	loop := turnloop.New(turnloop.Options{
		Conversation: turnloop.ConversationOptions{
			Journal: journaltest.NewMemory(),
			ID:      "jp-c17528832001-k3f9",
			Stream:  stream,
		},
		Model: turnloop.ModelOptions{
			Provider: p,
			API:      p.API,
			Endpoint: p.Endpoint,
			Account:  p.Account,
			Name:     s.vendor.Asked(),
		},
		Tools: turnloop.ToolOptions{
			Registry: tools,
		},
		Clock: turnloop.Clock{
			Wait: func(context.Context, time.Duration) error { return nil },
		},
	})
	outcome, err := loop.Start(context.WithValue(ctx, sceneKey{}, s), turnloop.Request{Chat: conversation.ChatRequest{Content: "Do it."}})
	if err != nil {
		return nil, err
	}
	return append(s.faults, s.judge(outcome, stream)...), nil
}

// judge compares a turn's outcome with the server's intention.
func (s *scene) judge(o turnloop.Outcome, stream *conversation.Stream) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	meant, wrote := map[string]bool{}, map[string]bool{}
	for _, c := range s.answer.Reply.Calls {
		meant[called(c.Name, []byte(c.Arguments))] = true
		wrote[written(c.Name, []byte(c.Arguments))] = true
	}
	for _, e := range stream.Events() {
		if b, ok := e.Body.(*conversation.ToolCallRequest); ok && !wrote[written(b.Name, b.Arguments)] {
			fault("a call that the model did not write: %s %s", b.Name, b.Arguments)
		}
	}
	for call, n := range s.runs {
		if n > 1 {
			fault("%d runs of %s", n, call)
		}
		if !meant[call] {
			fault("a run of what the model did not ask for: %s", call)
		}
	}
	calls := len(s.answer.Reply.Calls) > 0
	want := s.answer.Reply.Text
	if calls {
		want = lastWords
	}
	switch {
	case o.Status != turnloop.Complete:
		fault("the turn is %s", o.Status)
	case o.Message != want:
		fault("the answer is %q, not %q", o.Message, want)
	}
	if s.answer.Finished {
		if s.again > 0 {
			fault("a finished answer was asked for again")
		}
		if len(s.runs) != len(meant) {
			fault("%d calls ran, not %d", len(s.runs), len(meant))
		}
		if said := parts(stream, conversation.PartMessage); calls && said != s.answer.Reply.Text {
			fault("the text beside the calls is %q, not %q", said, s.answer.Reply.Text)
		}
		if thought := parts(stream, conversation.PartReasoning); thought != s.answer.Reply.Reasoning {
			fault("the reasoning is %q, not %q", thought, s.answer.Reply.Reasoning)
		}
		return faults
	}
	if !calls && s.again != 1 {
		fault("a broken answer counts, or was asked for %d times more", s.again)
	}
	if calls && s.again == 0 && len(s.runs) == 0 {
		fault("a broken answer counts")
	}
	return faults
}

// parts are the texts of a kind in the first call of the model.
func parts(stream *conversation.Stream, part conversation.Part) string {
	var all []string
	for _, e := range stream.Events() {
		if b, ok := e.Body.(*conversation.ChatResponse); ok && b.Part == part && b.Call == 1 {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "")
}

// longest bounds a turn: retries of an answer that stays silent, and five seconds
// behind each finish.
const longest = 4 * time.Minute

// TestSeededServers asks servers that misbehave on purpose, in every way that their
// formats allow, in process and without a clock.
func TestSeededServers(t *testing.T) {
	first, n := seeds(t, 50)
	for protocol, vendors := range protocols() {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			ways := map[string]int{}
			for from := first; from < first+n; from += 100 {
				synctest.Test(t, func(t *testing.T) {
					for seed := from; seed < min(from+100, first+n); seed++ {
						s := &scene{vendor: vendors[seed%uint64(len(vendors))]}
						s.answer = vendortest.NewSeeded(s.vendor, seed)
						for _, way := range s.answer.Ways {
							ways[way]++
						}
						began := time.Now()
						faults, err := s.play(t.Context(), &http.Client{Transport: s}, "http://server.invalid/v1")
						if took := time.Since(began); took > longest {
							faults = append(faults, "the turn took "+took.String())
						}
						require.NoError(t, err, "seed %d of %s: %q", seed, s.vendor.Name, s.answer.Ways)
						require.Empty(t, faults, "seed %d of %s: %q", seed, s.vendor.Name, s.answer.Ways)
					}
				})
			}
			t.Logf("%s: %d seeds, 0 violations; %s", protocol, n, counts(ways))
		})
	}
}

// TestSeededServersOverSockets cuts answers at random bytes of real connections.
func TestSeededServersOverSockets(t *testing.T) {
	first, _ := seeds(t, 0)
	const n = 1000
	var names []string
	for protocol := range protocols() {
		names = append(names, protocol)
	}
	slices.Sort(names)
	ways, asked := map[string]int{}, 0
	for seed := first; asked < n; seed++ {
		vendors := protocols()[names[seed%uint64(len(names))]]
		s := &scene{vendor: vendors[seed%uint64(len(vendors))]}
		s.answer = vendortest.NewSeeded(s.vendor, seed)
		if s.answer.Waits() {
			continue // the clock is real
		}
		asked++
		for _, way := range s.answer.Ways {
			ways[way]++
		}
		server := httptest.NewServer(s)
		faults, err := s.play(t.Context(), server.Client(), server.URL+"/v1")
		server.Close()
		require.NoError(t, err, "seed %d of %s: %q", seed, s.vendor.Name, s.answer.Ways)
		require.Empty(t, faults, "seed %d of %s: %q", seed, s.vendor.Name, s.answer.Ways)
	}
	t.Logf("sockets: %d seeds, 0 violations; %s", asked, counts(ways))
}

// The same seed gives the same bytes, and every seed another answer.
func TestSeededAnswersAreTheSame(t *testing.T) {
	for _, v := range vendortest.Vendors() {
		all := map[string]bool{}
		for seed := range uint64(50) {
			sent := func() string {
				var out strings.Builder
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				a := vendortest.NewSeeded(v, seed)
				if a.Waits() {
					return fmt.Sprint(seed, a.Ways)
				}
				_ = a.Send(ctx, func(piece string) error { // its end may be an error
					out.WriteString(piece + "|")
					return nil
				})
				return out.String()
			}
			require.Equal(t, sent(), sent())
			all[sent()] = true
		}
		require.Greater(t, len(all), 45)
	}
}

func counts(ways map[string]int) string {
	var all []string
	for way, n := range ways {
		all = append(all, fmt.Sprintf("%s %d", way, n))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
