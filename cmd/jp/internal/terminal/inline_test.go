package terminal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInline(t *testing.T) {
	const blue, off = "\x1b[34;4m", "\x1b[0m"
	tests := map[string]struct{ in, plain, coloured string }{
		"emphasis":         {"*a* **b** ***c***", "*a* **b** ***c***", "\x1b[3ma" + off + " \x1b[1mb" + off + " \x1b[1;3mc" + off},
		"struck":           {"~~a~~ b", "~~a~~ b", "~~a~~ b"},
		"code":             {"`a  &amp; b`", "`a  &amp; b`", "\x1b[36ma  &amp; b" + off},
		"spaces":           {"a   b\nc", "a b c", "a b c"},
		"hard breaks":      {"a\\\nb  \nc", "a\nb\nc", "a\nb\nc"},
		"escapes":          {`\*a\* \q`, `*a* \q`, `*a* \q`},
		"entities":         {"&lt;&copy;&#8364; &nope; &", "<©€ &nope; &", "<©€ &nope; &"},
		"link":             {"[a b](http://c.d/?x&amp;y)", "a b (http://c.d/?x&y)", "a b (" + blue + "http://c.d/?x&y" + off + ")"},
		"link to itself":   {"[http://a.b](http://a.b)", "http://a.b", blue + "http://a.b" + off},
		"mail":             {"[a@b.c](mailto:a@b.c)", "a@b.c", blue + "a@b.c" + off},
		"nothing to read":  {"[](http://a.b)", "http://a.b", blue + "http://a.b" + off},
		"nowhere to go":    {"[a]()", "a", "a"},
		"bare":             {"see http://a.bc.", "see http://a.bc.", "see " + blue + "http://a.bc" + off + "."},
		"in angles":        {"<http://a.b>", "http://a.b", blue + "http://a.b" + off},
		"image":            {"![a](b.png)", "a (b.png)", "a (" + blue + "b.png" + off + ")"},
		"image in a link":  {"[![a](b)](c)", "a (b) (c)", "a (" + blue + "b" + off + ") (" + blue + "c" + off + ")"},
		"html":             {"a <b  x='y'>c</b>", "a <b  x='y'>c</b>", "a <b  x='y'>c</b>"},
		"unknown referent": {"[a][b]", "[a][b]", "[a][b]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.plain+"\n", printed(t, 80, Palette{}, test.in))
			require.Equal(t, test.coloured+"\n", printed(t, 80, Coloured(), test.in))
		})
	}
}
