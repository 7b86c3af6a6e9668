package gitstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

func openStore(t testing.TB, dir string, opts gitstore.Options) *gitstore.Store {
	t.Helper()
	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	if opts.Key == nil {
		opts.Key = []byte("0123456789abcdef0123456789abcdef")
	}
	if opts.User == nil {
		opts.User = func() gitstore.Person { return gitstore.Person{Name: "Ada Lovelace", Email: "ada@example.com"} }
	}
	if opts.Zone == nil {
		opts.Zone = time.UTC
	}
	s, err := gitstore.Open(repo, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestJournal(t *testing.T) {
	gitenv.Isolate(t)
	journaltest.Run(t, func(t *testing.T) conversation.Journal {
		return openStore(t, gitenv.Repo(t), gitstore.Options{Durability: odb.Off})
	})
}
