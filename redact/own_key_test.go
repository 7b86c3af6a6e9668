package redact

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOwnValues(t *testing.T) {
	r := New([]byte("a key"))
	r.AddSecret("correct-horse-battery")
	r.AddSecret("correct-horse-battery")
	r.AddSecret("ollama")
	r.AddSecret("")
	tests := map[string]struct{ in, want string }{
		"alone":               {"correct-horse-battery", `^\[secret:provider-key:[0-9a-f]{16}\]$`},
		"within":              {"xcorrect-horse-batteryx", `^x\[secret:provider-key:[0-9a-f]{16}\]x$`},
		"twice":               {"correct-horse-battery correct-horse-battery", `^(\[secret:provider-key:[0-9a-f]{16}\]) \[secret:provider-key:[0-9a-f]{16}\]$`},
		"beside another":      {"correct-horse-battery " + pat(1), `^\[secret:provider-key:[0-9a-f]{16}\] \[secret:github-pat:[0-9a-f]{16}\]$`},
		"a part":              {"correct-horse", `^correct-horse$`},
		"one that is a word":  {"ollama runs", `^ollama runs$`},
		"a name for it":       {`api_key = "correct-horse-battery"`, `^api_key = "\[secret:provider-key:[0-9a-f]{16}\]"$`},
		"nothing of the like": {"nothing", `^nothing$`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, _ := r.Redact("", tt.in)
			require.Regexp(t, tt.want, out)
			again, more := r.Redact("", out)
			require.Equal(t, out, again)
			require.Empty(t, more)
		})
	}
}
