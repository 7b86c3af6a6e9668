package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsAskedOfAnEditorsText(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":               {"", ""},
		"only the rest":         {"\n\n" + scissors + "\n# x\n", ""},
		"a heading":             {"# Title\ntext\n" + scissors + "\n# x\n", "# Title\ntext"},
		"below the line":        {"a\n" + scissors + "\n# x\nb\n", "a\nb"},
		"the line is gone":      {"a\n# b\n", "a\n# b"},
		"lines of another kind": {"a\r\n" + scissors + "\r\n# x\r\n", "a"},
	} {
		require.Equal(t, tt.want, asksOf(tt.text), name)
	}
}
