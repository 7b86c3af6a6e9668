package ui

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestValidText(t *testing.T) {
	pieces := []string{"", "a", "é", "漢", "\xff", "\xe2\x84", "\ufffd", "\x00", " "}
	var pairs []string
	for _, first := range pieces {
		for _, second := range pieces {
			pairs = append(pairs, first+second)
		}
	}
	for _, before := range pairs {
		for _, after := range pairs {
			for _, piece := range pieces {
				hit, whole := "hit"+piece, before+"hit"+piece+after
				text, places := validText(whole, [][2]int{{len(before), len(before) + len(hit)}})
				if !utf8.ValidString(text) || string([]rune(hit)) != text[places[0][0]:places[0][1]] || utf8.ValidString(whole) && whole != text {
					require.Fail(t, "the text or the place is wrong", "of %q: %q, %v", whole, text, places)
				}
			}
		}
	}
	text, places := validText("nothing", nil)
	require.Equal(t, "nothing", text)
	require.Equal(t, [][2]int{}, places)
}
