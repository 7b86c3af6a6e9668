package shell

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEditorsThatWaitForKeys(t *testing.T) {
	for command, refused := range map[string]bool{
		"vi": true, "vim a.txt": true, "/usr/bin/nvim a b": true, "view -R x": true, "ex x": true, "watch ls": true, "/usr/bin/watch -n1 ls": true,
		"vim -es -c wq a": false, "vi +q": false, "nvim --headless": false, "vim --version": false, "sh vi": false, "ed a": false, "less a": false,
	} {
		err := arguments{Argv: strings.Fields(command)}.checkKeys()
		require.Equal(t, refused, err != nil, command)
	}
	require.NoError(t, arguments{Argv: []string{"vi"}, Stdin: ":q\n"}.checkKeys())
	require.NoError(t, arguments{}.checkKeys())
}
