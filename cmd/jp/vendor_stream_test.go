package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/vendortest"
)

// TestRoughStreams asks servers that are as rough as they may be; their text comes out to the byte.
// Package vendortest tries each roughness by itself.
func TestRoughStreams(t *testing.T) {
	t.Parallel()
	for _, v := range vendortest.Vendors() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			for _, rough := range []vendortest.Rough{
				{Bytes: 1},
				{Bytes: 5, CRLF: true, Comments: true, Pings: true, Unknown: true, Empty: true, Letters: true, Interleave: true, NoSpace: true},
				{Bytes: 2, SplitData: true, Mark: true, Interleave: true},
			} {
				s.Be(rough)
				s.Forget()
				s.Say(working()...)
				require.Equal(t, greeting+"\n", p.asks(v, "--new", "Make it").stdout, rough)
				require.Equal(t, "ä\n", p.read("größe.txt"), rough)
				p.git("clean", "-fdq")
			}
			require.Zero(t, s.Left())
		})
	}
}

// TestAnAnswerThatBeginsAnew breaks a stream off behind words that the terminal shows. The words of
// the next try stand below.
func TestAnAnswerThatBeginsAnew(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t, vendortest.Reply{Text: "Half of an ans", Cut: &vendortest.Cut{Behind: vendortest.MarkText}},
		vendortest.Reply{Text: "Another answer."})
	term := p.sit(100, "query", "-m", vendortest.VendorNamed("work").Asked(), "Tell me")
	require.Zero(t, term.exit())
	term.WaitFor("turn 1 ")
	require.Regexp(t, `(?s)\n  Half of an ans\n.*\n  Another answer\.\nturn 1 `, term.Text())
	require.Zero(t, s.Left())
}

// TestTheFirstWordsAreShownAtOnce lets the server hold back the rest until the terminal shows the
// first words.
func TestTheFirstWordsAreShownAtOnce(t *testing.T) {
	t.Parallel()
	for _, v := range vendortest.Vendors() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			gate := make(chan struct{})
			p, s := vendorPlace(t, vendortest.Reply{Reasoning: "Hm.", Text: "Once upon a time there was an end.", Gate: gate})
			term := p.sit(100, "query", "-m", v.Asked(), "Tell me")
			for shown, word := range strings.SplitAfter("Once upon a time", " ") {
				if shown > 0 {
					gate <- struct{}{}
				}
				term.WaitForEnd(strings.TrimSpace(word))
			}
			close(gate)
			require.Zero(t, term.exit())
			term.WaitFor("\n  Once upon a time there was an end.\nturn 1 ")
			require.Zero(t, s.Left())
		})
	}
}
