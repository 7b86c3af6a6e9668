package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlain(t *testing.T) {
	for name, tt := range map[string]struct {
		parts []string // "|": another writer writes a line
		want  string
	}{
		"as written":             {[]string{"# A\n\n**b", "**\n"}, "# A\n\n**b**\n"},
		"line breaks at the end": {[]string{"a\n", "\n\n"}, "a\n"},
		"nothing":                {[]string{""}, ""},
		"unclean":                {[]string{"a\x1b[2", "Jb\n"}, "ab\n"},
		"within a line":          {[]string{"a ", "|", "b\n"}, "a \n|\nb\n"},
		"between lines":          {[]string{"a\n", "|", "b\n"}, "a\n|\nb\n"},
		"between paragraphs":     {[]string{"a\n\n", "|", "b"}, "a\n|\n\nb\n"},
		"before it":              {[]string{"|", "a"}, "|\na\n"},
		"behind it":              {[]string{"a\n", "|"}, "a\n|\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			p := NewPlain(&out)
			for _, part := range tt.parts {
				if part == "|" {
					require.NoError(t, p.Hide())
					out.WriteString("|\n")
					continue
				}
				n, err := p.Write([]byte(part))
				require.NoError(t, err)
				require.Equal(t, len(part), n)
			}
			require.NoError(t, p.Close())
			require.Equal(t, tt.want, out.String())
		})
	}
}
