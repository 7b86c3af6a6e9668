package main

import (
	"encoding/json"
	"fmt"
	"go/build"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"

	"jp/conversation"
)

// model is whom the events are from.
const model = "script/fixed"

// Mean lengths of texts in bytes. With the lengths of turns they come to events
// of about 1.1 KB.
const (
	requestText   = 300
	messageText   = 350
	argumentsText = 300
	resultText    = 2900
	answerText    = 900
)

// An eventGenerator makes the events of an endless conversation: turns of one to five
// rounds of message, call and result, whose texts are Go source.
type eventGenerator struct {
	rng    *rand.Rand
	start  time.Time
	corpus string
	at     int // in corpus
	scale  float64
	seq    int
	turn   int
	queue  []*conversation.Event
}

// newMix starts a conversation. All mixes of one corpus and scale are equal.
func newMix(corpus string, scale float64) *eventGenerator {
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	return &eventGenerator{rng: rand.New(rand.NewPCG(1, 2)), start: start, corpus: corpus, scale: scale}
}

// later is the conversation at another time: its events are other objects, so that no writer finds its
// objects in the repository already.
func (m *eventGenerator) later(by time.Duration) *eventGenerator {
	m.start = m.start.Add(by)
	return m
}

func (m *eventGenerator) take(n int) []*conversation.Event {
	events := make([]*conversation.Event, n)
	for i := range events {
		if len(m.queue) == 0 {
			m.nextTurn()
		}
		events[i], m.queue = m.queue[0], m.queue[1:]
	}
	return events
}

func (m *eventGenerator) nextTurn() {
	m.turn++
	m.add(&conversation.TurnStart{Model: model, JP: "0.1.0"})
	m.add(&conversation.ChatRequest{Content: m.text(requestText)})
	calls := 1 + m.rng.IntN(5)
	for call := range calls {
		m.cycle(call + 1)
	}
	m.add(&conversation.ChatResponse{
		Call: calls + 1, Part: conversation.PartMessage, Text: m.text(answerText), CallEnd: m.ended(conversation.FinishStop),
	})
}

// cycle is a model call that asks for a tool, and the tool's result.
func (m *eventGenerator) cycle(call int) {
	id := fmt.Sprintf("toolu_%024x", m.rng.Uint64())
	m.add(&conversation.ChatResponse{Call: call, Part: conversation.PartMessage, Text: m.text(messageText)})
	arguments, err := json.MarshalIndent(map[string]string{"path": "internal/source.go", "content": m.text(argumentsText)}, "", "  ")
	if err != nil {
		panic(err) // strings are always JSON
	}
	request := m.seq
	m.add(&conversation.ToolCallRequest{
		Call: call, ID: id, Name: "fs_edit", Arguments: arguments, CallEnd: m.ended(conversation.FinishToolCalls),
	})
	m.add(&conversation.ToolCallResponse{For: request, ID: id, Name: "fs_edit", Content: m.text(resultText), DurationMS: m.rng.Int64N(900)})
}

func (m *eventGenerator) ended(why conversation.Finish) conversation.CallEnd {
	usage := &conversation.Usage{Input: m.rng.IntN(90_000), Output: m.rng.IntN(2_000), CacheRead: m.rng.IntN(80_000), CostUSD: "0.0123", DurationMS: m.rng.Int64N(9_000)}
	return conversation.CallEnd{Finish: why, Usage: usage}
}

func (m *eventGenerator) add(b conversation.Body) {
	e := &conversation.Event{Seq: m.seq, Turn: m.turn, Time: m.start.Add(time.Duration(m.seq) * 1234567890), Body: b, Model: model}
	m.queue = append(m.queue, e)
	m.seq++
}

// text is the next piece of source, of a length around the mean: many are
// short and few are long, as in real conversations.
func (m *eventGenerator) text(mean float64) string {
	const spread = 0.8
	n := int(m.scale * mean * math.Exp(spread*m.rng.NormFloat64()-spread*spread/2))
	n = min(max(n, 20), 32<<10, len(m.corpus))
	if m.at+n > len(m.corpus) {
		m.at = 0
	}
	piece := m.corpus[m.at : m.at+n]
	m.at += n
	return strings.ToValidUTF8(piece, "")
}

// readCorpus is up to limit bytes of the standard library's source.
func readCorpus(root fs.FS, limit int) (string, error) {
	var b strings.Builder
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case b.Len() >= limit:
			return fs.SkipAll
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := fs.ReadFile(root, path)
		b.Write(text)
		return err
	})
	if err == nil && b.Len() == 0 {
		err = errNoSource
	}
	return b.String(), err
}

// goSource is the standard library's source.
func goSource() fs.FS {
	root := build.Default.GOROOT
	if root == "" { // a program that was built with -trimpath does not know it
		out, _ := exec.Command("go", "env", "GOROOT").Output() // without it the first read returns the error
		root = strings.TrimSpace(string(out))
	}
	return os.DirFS(root + "/src")
}
