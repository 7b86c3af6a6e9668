package doctor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocal(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true,
		"": false, "localhost.example": false, "127.0.0.1.example": false, "10.0.0.1": false, "api.example": false,
	} {
		require.Equal(t, want, local(host), host)
	}
}
