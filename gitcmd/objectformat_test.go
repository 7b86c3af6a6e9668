package gitcmd_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

func TestObjectFormatNamesObjectsAsGit(t *testing.T) {
	gitenv.Isolate(t)
	for format, digits := range map[gitcmd.ObjectFormat]int{gitcmd.SHA1: 40, gitcmd.SHA256: 64} {
		dir := t.TempDir()
		gitenv.Git(t, dir, "init", "-q", "--object-format="+string(format))
		g := gitcmd.New(dir, gitcmd.Options{})
		for _, kind := range []string{"blob", "tree"} {
			for _, data := range []string{"", "text\n", strings.Repeat("long", 10_000)} {
				if kind == "tree" && data != "" {
					continue
				}
				out, err := g.RunWith(t.Context(), gitcmd.Command{Args: []string{"hash-object", "-t", kind, "--stdin"}, Stdin: strings.NewReader(data)})
				require.NoError(t, err)
				name := strings.TrimSpace(string(out))
				require.Equal(t, name, format.Name(kind, []byte(data)))
				require.Len(t, name, digits)
				require.Equal(t, digits, format.Digits())
				require.True(t, format.IsName(name))
				require.Equal(t, kind == "tree", gitcmd.IsEmptyTree(name))
				require.Equal(t, kind == "blob" && data == "", gitcmd.IsEmptyBlob(name))
				require.False(t, format.IsName(strings.ToUpper(name)))
				require.False(t, format.IsName(name+"0"))
				require.False(t, gitcmd.IsObjectName(name[1:]))
			}
		}
		require.Equal(t, format.Name("tree", nil), format.EmptyTree())
	}
	require.False(t, gitcmd.SHA1.IsName(gitcmd.SHA256.EmptyTree()))
	require.False(t, gitcmd.SHA256.IsName(gitcmd.SHA1.EmptyTree()))
	require.True(t, gitcmd.IsObjectName(gitcmd.SHA256.EmptyTree()))
	require.False(t, gitcmd.ObjectFormat("sha512").Known())
	require.Equal(t, gitcmd.SHA1.EmptyTree(), gitcmd.ObjectFormat("").EmptyTree(), "the zero value is SHA-1")
}
