package gitstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// maintenance are git's maintenance commands, those that a user runs and those that git runs itself.
var maintenance = map[string][]string{
	"pack refs":             {"pack-refs", "--all"},
	"repack":                {"repack", "-adq"},
	"collect garbage":       {"gc", "-q", "--prune=now"},
	"prune packed":          {"prune-packed", "-q"},
	"pack only what is new": {"repack", "-dq"},
}

// After all operations, and all of git's own maintenance between them, the journal equals a list of events.
func TestJournalMachine(t *testing.T) {
	gitenv.Isolate(t)
	n := journaltest.Machine(t, row.Of(4, 20, 120), func(rt *rapid.T) journaltest.Subject {
		dir := gitenv.Repo(t)
		repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
		require.NoError(rt, err)
		open := func() conversation.Journal {
			s, err := gitstore.Open(repo, gitstore.Options{
				Durability: odb.Off, Zone: time.UTC, Key: []byte("0123456789abcdef0123456789abcdef"),
				User: func() gitstore.Person { return gitstore.Person{Name: "Ada Lovelace", Email: "ada@example.com"} },
			})
			require.NoError(rt, err)
			rt.Cleanup(func() { require.NoError(rt, s.Close()) })
			return s
		}
		beside := map[string]func(){
			"delete the sidecars": func() { require.NoError(rt, os.RemoveAll(filepath.Join(dir, ".git", "jp", "cache"))) },
		}
		for what, args := range maintenance {
			beside[what] = func() { gitenv.Git(t, dir, args...) }
		}
		// git repack leaves commits in the commit graph that it has removed.
		rt.Cleanup(func() { gitenv.Git(t, dir, "-c", "core.commitGraph=false", "fsck", "--strict", "--no-dangling") })
		return journaltest.Subject{Journal: open(), Again: open, Beside: beside}
	})
	row.Log(t, row.Row{Class: "m", Name: "random commands, git journal", Points: n, Note: "gc, repack, pack-refs and other handles in between"})
}
