package importer

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/conversation"
)

func TestExitCodesOfFailures(t *testing.T) {
	for _, test := range []struct {
		err  error
		exit int
	}{
		{errors.New("any other"), 1},
		{errChanged, 3},
		{conversation.ErrExists, 4},
		{conversation.ErrHeadMoved, 4},
	} {
		err := failure(fmt.Errorf("import a.jsonl: %w", test.err), &Report{ID: "jp-c17936100000-dlv6"})
		require.Equal(t, test.exit, repo.ProblemOf(err).Exit, test.err)
	}
}
