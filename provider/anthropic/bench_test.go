package anthropic

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"jp/provider"
)

func BenchmarkEncode(b *testing.B) {
	r := ask()
	for i := range 500 {
		id := fmt.Sprint("toolu_", i)
		r.Messages = append(r.Messages, assistant(thought(signed), text(strings.Repeat("<text> ", 300)), call(id, `{"path":"a"}`)), tools(result(id, strings.Repeat("line\n", 800), false)))
	}
	for _, again := range []bool{false, true} {
		b.Run(fmt.Sprintf("again=%v", again), func(b *testing.B) {
			var sent provider.EncodedLists[sdk.MessageParam]
			var known contents
			for b.Loop() {
				if !again {
					sent, known.newest = provider.EncodedLists[sdk.MessageParam]{}, nil
				}
				body, err := body(paramsOf(r, modelOf(r.Model), Options{}, &known), &sent)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(body.Len()))
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	var s strings.Builder
	s.WriteString(start + begin(0, `{"type":"text","text":""}`))
	for range 50000 {
		s.WriteString(delta(0, `{"type":"text_delta","text":" some words"}`))
	}
	s.WriteString(end(0) + stop("end_turn"))
	p := New(Options{Client: &http.Client{Transport: &cut{s.String(), io.EOF}}})
	for b.Loop() {
		if _, err := collect(b.Context(), p, ask()); err != nil {
			b.Fatal(err)
		}
	}
}
