package safetext

import (
	"testing"

	"jp/internal/testing/safetexttest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestReveal(t *testing.T) {
	tests := map[string]struct{ in, want, output string }{
		"plain":           {in: "a\tb\nc é 漢 👩‍💻", want: "a\tb\nc é 漢 👩‍💻"},
		"a string":        {in: "echo hi \x1b]; rm -rf x; : \x07", want: "echo hi ^[]; rm -rf x; : ^G"},
		"device control":  {in: "a\x1bPq;rm x\x1b\\b", want: "a^[Pq;rm x^[\\b"},
		"colour":          {in: "\x1b[1;31mred\x1b[0m", want: "^[[1;31mred^[[0m", output: "red"},
		"concealed":       {in: "a\x1b[8mb", want: "a^[[8mb", output: "ab"},
		"cursor":          {in: "a\x1b[2Jb\x1b[31", want: "a^[[2Jb^[[31"},
		"return within":   {in: "# x\rimport os", want: "# x^Mimport os"},
		"line ends":       {in: "a\r\nb\r", want: "a\nb"},
		"two returns":     {in: "a\r\r\n", want: "a^M\n"},
		"backspace":       {in: "rm\b\bls\x7f\x00", want: "rm^H^Hls^?^@"},
		"eight bits":      {in: "a\u009b8mb\u0085", want: "a<U+009B>8mb<U+0085>"},
		"bidirectional":   {in: "a\u202eb", want: "a<U+202E>b"},
		"no UTF-8":        {in: "a\x9bb", want: "a\ufffdb"},
		"within a colour": {in: "\x1b[3\x1b[31m1m", want: "^[[3^[[31m1m", output: "^[[31m"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, Reveal(tt.in))
			output := tt.output
			if output == "" {
				output = tt.want
			}
			require.Equal(t, output, RevealOutput(tt.in))
		})
	}
}

func TestRevealedTextIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := safetexttest.Dangerous.Draw(t, "text")
		for _, shown := range []string{Reveal(text), RevealOutput(text)} {
			if err := safetexttest.Unsafe(shown); err != nil {
				t.Fatal(err)
			}
		}
	})
}
