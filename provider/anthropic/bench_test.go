package anthropic

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func BenchmarkEncode(b *testing.B) {
	r := ask()
	for i := range 500 {
		id := fmt.Sprint("toolu_", i)
		r.Messages = append(r.Messages, assistant(thought(signed), text(strings.Repeat("<text> ", 300)), call(id, `{"path":"a"}`)), tools(result(id, strings.Repeat("line\n", 2000), false)))
	}
	b.ResetTimer()
	for b.Loop() {
		body := bodyOf(b, r, Options{})
		b.SetBytes(int64(len(body)))
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
