package gittool_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/gitenv"
)

// The configuration of a submodule can name programs that no setting disables. So git must stay out of
// submodules, whichever configuration is above them.
func TestCommitDoesNotEnterSubmodules(t *testing.T) {
	f := newFixture(t)
	f.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", gitenv.Repo(t), "sub")
	f.git("commit", "-qm", "sub")
	f.git("config", "submodule.sub.ignore", "none")
	marker := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "evil")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+marker+"'\n"), 0o755))
	f.git("-C", "sub", "config", "core.fsmonitor", program)
	f.write("sub/new", "x\n")
	require.NoFileExists(t, marker)

	require.Contains(t, f.refused("git_commit", arguments{"message": "x"}), "nothing to commit")
	require.Contains(t, f.refused("git_commit", arguments{"message": "x", "paths": []string{"README.md"}}), "nothing to commit")
	f.write("made", "x\n")
	f.done("git_commit", arguments{"message": "x", "paths": []string{"made"}})
	f.done("git_status", nil)
	require.NoFileExists(t, marker)

	plain := exec.Command("git", "commit", "-m", "x")
	plain.Dir = f.dir
	require.Error(t, plain.Run())
	require.FileExists(t, marker, "plain git enters it")
}

func TestMergeThatChangesNothingIsCommitted(t *testing.T) {
	f := newFixture(t)
	f.git("checkout", "-q", "-b", "other")
	f.git("commit", "-q", "--allow-empty", "-m", "theirs")
	f.git("checkout", "-q", "main")
	f.git("commit", "-q", "--allow-empty", "-m", "ours")
	f.git("merge", "-q", "--no-ff", "--no-commit", "other")
	require.Contains(t, f.refused("git_commit", arguments{"message": "Merge", "paths": []string{"."}}), "set staged")
	f.done("git_commit", arguments{"message": "Merge", "staged": true})
	require.NotEmpty(t, f.git("rev-parse", "HEAD^2"))
}
