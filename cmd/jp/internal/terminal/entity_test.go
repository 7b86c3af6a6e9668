package terminal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResolve(t *testing.T) {
	for in, want := range map[string]string{
		"a &amp; b":       "a & b",
		"&amp;lt;":        "&lt;",
		"&#65;&#x42;":     "AB",
		"&#27;[m":         "\ufffd[m",
		"&#x0000001b;":    "\ufffd",
		"&#0;":            "\ufffd",
		"&amp;#27;":       "\ufffd",
		"&#38;amp;#x9d;":  "\ufffd",
		"&amp;amp;#65;":   "&amp;#65;",
		"&Tab;&NewLine;":  "\ufffd\ufffd",
		"&rlm;a":          "<U+200F>a",
		"&#99999999999;":  "&#99999999999;",
		"&ampx; &amp &;&": "&ampx; &amp &;&",
		`\&amp; \\ \`:     `&amp; \ \`,
		"&copy;&copy;":    "©©",
		"&NotEqualTilde;": "≂̸",
		"no entity":       "no entity",
	} {
		require.Equal(t, want, resolve(in), in)
	}
}
