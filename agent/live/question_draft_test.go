package live

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsAskedOfAnEditorsText(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":               {"", ""},
		"only the rest":         {"\n\n" + Scissors + "\n# x\n", ""},
		"a heading":             {"# Title\ntext\n" + Scissors + "\n# x\n", "# Title\ntext"},
		"below the line":        {"a\n" + Scissors + "\n# x\nb\n", "a\nb"},
		"the line is gone":      {"a\n# b\n", "a\n# b"},
		"lines of another kind": {"a\r\n" + Scissors + "\r\n# x\r\n", "a"},
	} {
		require.Equal(t, tt.want, Asked(tt.text), name)
	}
}
