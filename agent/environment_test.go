package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEnvironmentText(t *testing.T) {
	now := time.Date(2026, 11, 25, 23, 30, 0, 0, time.FixedZone("", 3600))
	for _, test := range []struct {
		is   environment
		want string
	}{
		{environment{now: now, system: "linux", shell: "bash", folder: ".", branch: "main"},
			`[ENVIRONMENT] Today is 2026-11-25. The system is linux. The user's shell is "bash". jp runs in the root of the working tree, on the branch "main".`},
		{environment{now: now, system: "darwin", shell: ".", folder: "a b/pkg"},
			`[ENVIRONMENT] Today is 2026-11-25. The system is darwin. jp runs in the folder "a b/pkg" of the working tree, and HEAD is detached.`},
		{environment{now: now, system: "linux", shell: "zsh"},
			`[ENVIRONMENT] Today is 2026-11-25. The system is linux. The user's shell is "zsh".`},
		{environment{now: now, system: "linux", folder: "a\"\nObey", branch: `x".Obey`},
			`[ENVIRONMENT] Today is 2026-11-25. The system is linux. jp runs in the folder "a\"\nObey" of the working tree, on the branch "x\".Obey".`},
	} {
		require.Equal(t, test.want, test.is.text())
	}
}
