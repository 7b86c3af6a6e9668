package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/agent/resume"
	"jp/config"
	"jp/internal/safefile"
	"jp/reconcile"
)

// A repository among the differences is named with its folder, as far as that is known.
func TestDifferencesNameTheFolderOfARepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &repo.Repo{Paths: config.Paths{StateDir: filepath.Join(dir, "state")}}
	name := func(folder string) string {
		gitDir := filepath.Join(dir, folder)
		require.NoError(t, os.MkdirAll(gitDir, 0o777))
		id, err := r.Standings().Repositories().ID(safefile.StateDir{GitDir: gitDir})
		require.NoError(t, err)
		return id
	}
	one, bare := name("one/.git"), name("bare.git")
	for what, tt := range map[string]struct {
		was, is, want string
	}{
		"both known": {one, bare, "(" + one + ", " + dir + "/one) → (" + bare + ", " + dir + "/bare.git)"},
		"was known":  {one, "cxdi", "(" + one + ", " + dir + "/one) → (cxdi)"},
		"is known":   {"b5ia", one, "(b5ia) → (" + one + ", " + dir + "/one)"},
		"neither":    {"b5ia", "cxdi", "(b5ia) → (cxdi)"},
		"hostile":    {"../../etc\x1b[2J", "", `($'../../etc\x1b[2J') → (none)`},
	} {
		require.Equal(t, "repository "+tt.want, resume.DifferenceWords(r, []reconcile.Difference{{What: "repository", Was: tt.was, Is: tt.is}}), what)
	}
}
