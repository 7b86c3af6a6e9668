package sandbox_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/sandbox"
)

// Where the starter cannot be, or is not written for the machine, Go makes the namespaces.
func TestOwnLoopbackWithoutStarter(t *testing.T) {
	requireOwnLoopback(t)
	if os.Geteuid() == 0 {
		// Root needs no user namespace.
		t.Skip("only ordinary users have a starter")
	}
	start, err := sandbox.Prepare(sandbox.Rules{}, []string{"true"}, "/")
	require.NoError(t, err)
	require.NoError(t, start.Rules.Close())
	require.NotEmpty(t, start.Path)
	t.Cleanup(sandbox.WithoutStarter())
	start, err = sandbox.Prepare(sandbox.Rules{}, []string{"true"}, "/")
	require.NoError(t, err)
	require.NoError(t, start.Rules.Close())
	require.Empty(t, start.Path)
	t.Run("identity", TestIdentity)
	t.Run("services", TestServices)
	t.Run("own", TestOwnLoopback)
	t.Run("other families", TestOtherFamilies)
}
