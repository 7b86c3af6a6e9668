package anthropic

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/provider"
)

// drawn generates requests as the projection makes them.
type drawn struct {
	*rapid.T
	calls  int
	images [][]byte
}

func (d *drawn) word() string {
	return rapid.SampledFrom([]string{"a", " b\n", "<&>", "\"]}", "x\u2028", "😀", "\\u003c"}).Draw(d.T, "word")
}

func (d *drawn) chance(name string) bool { return rapid.Bool().Draw(d.T, name) }

func (d *drawn) file(id string) provider.Block {
	return provider.Block{
		Kind: provider.BlockFile, ID: id, Name: d.word(),
		MediaType: rapid.SampledFrom([]string{"image/png", "image/jpeg", "application/pdf", "text/plain", ""}).Draw(d.T, "type"),
		Data:      rapid.SampledFrom(d.images).Draw(d.T, "data"),
	}
}

func (d *drawn) asked() provider.Message {
	m := user(d.word())
	if d.chance("file") {
		m.Blocks = append([]provider.Block{d.file("")}, m.Blocks...)
	}
	return m
}

// reply is an answer and, if it calls tools, their results.
func (d *drawn) reply(calls int) []provider.Message {
	var answer, got []provider.Block
	if d.chance("thinks") {
		answer = append(answer, thought(rapid.SampledFrom([]string{signed, `{"type":"redacted_thinking","data":"x"}`, `{"type":"thinking","thinking":"x"}`}).Draw(d.T, "thinking")))
	}
	if calls == 0 || d.chance("speaks") {
		answer = append(answer, text(d.word()))
	}
	for range calls {
		d.calls++
		id := fmt.Sprintf("toolu_%d", d.calls)
		answer = append(answer, call(id, string(object([]conversation.Field{{Key: d.word(), Raw: quote(d.word())}}))))
		got = append(got, result(id, d.word(), d.chance("error")))
		if d.chance("file") {
			got = append(got, d.file(id))
		}
	}
	messages := []provider.Message{assistant(answer...)}
	if len(got) > 0 {
		messages = append(messages, tools(got...))
	}
	return messages
}

// request is a request, and whether its last answer is paused.
func (d *drawn) request() (*provider.Request, bool) {
	r := &provider.Request{
		Model:  rapid.SampledFrom([]string{oldModel, newModel, strictModel, "claude-opus-5"}).Draw(d.T, "model"),
		System: rapid.SampledFrom([]string{"", "Be brief."}).Draw(d.T, "system"), NoTools: d.chance("no tools"),
		Tools: []provider.Tool{{Name: "look", Description: d.word()}, {Name: "list"}},
	}
	turns := rapid.IntRange(1, 3).Draw(d.T, "turns")
	for turn := range turns {
		r.Messages = append(r.Messages, d.asked())
		for range rapid.IntRange(0, 2).Draw(d.T, "calls") {
			r.Messages = append(r.Messages, d.reply(rapid.IntRange(1, 2).Draw(d.T, "tools"))...)
			if d.chance("interrupt") {
				r.Messages = append(r.Messages, d.asked())
			}
		}
		if paused := turn == turns-1 && d.chance("paused"); paused || turn < turns-1 {
			r.Messages = append(r.Messages, d.reply(0)...)
			if paused {
				return r, true
			}
		}
	}
	return r, false
}

func TestWhateverIsAskedIsValid(t *testing.T) {
	images := [][]byte{picture(t, 1, asPNG), []byte("hello"), []byte("%PDF-1.7"), []byte("\x00\xff")}
	half := 0.5
	rapid.Check(t, func(t *rapid.T) {
		d := &drawn{T: t, images: images}
		r, paused := d.request()
		o := Options{Thinking: rapid.SampledFrom([]Effort{EffortAuto, EffortOff, EffortMax}).Draw(t, "effort"), Temperature: &half}
		body := bodyOf(t, r, o)
		require.NoError(t, check(body, paused), "%s", body)
		for _, m := range r.Messages[:len(r.Messages)-1] {
			for _, b := range m.Blocks {
				if b.Kind == provider.BlockReasoning && strings.Contains(string(b.Item), "signature") && o.Thinking != EffortOff && r.Model == strictModel {
					require.True(t, bytes.Contains(body, b.Item))
				}
			}
		}
	})
}
