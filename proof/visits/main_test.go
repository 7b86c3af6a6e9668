package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVisitsOf(t *testing.T) {
	calls := []call{{"cmd/jp/a.go", "one"}, {"cmd/jp/a.go", "two"}, {"agent/repo/b.go", "three"}, {"cmd/jp/a.go", "one"}, {"agent/c.go", "four"}}
	all := visitsOf(calls, scopes[2].has)
	require.Equal(t, []visit{
		{"cmd/jp/a.go", []string{"one", "two"}}, {"agent/repo/b.go", []string{"three"}}, {"cmd/jp/a.go", []string{"one"}}, {"agent/c.go", []string{"four"}},
	}, all)
	require.Equal(t, []visit{{"cmd/jp/a.go", []string{"one", "two"}}, {"agent/c.go", []string{"four"}}}, visitsOf(calls, scopes[0].has), "calls elsewhere end no visit")
}

func TestInstrument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(path, []byte("package p\n\nimport \"fmt\"\n\ntype T struct{}\n\nfunc (T) Create() { fmt.Println() }\n\nfunc f() {}\n"), 0o600))
	text, n, err := instrument(path, "agent/a.go")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Contains(t, string(text), `func f() { visits.Enter("agent/a.go", "f");}`)
	require.Contains(t, string(text), `package p; import "jp/internal/visits"`)
	text, n, err = instrument(path, "gitstore/a.go")
	require.NoError(t, err)
	require.Equal(t, 1, n, "only what records events ends the trace")
	require.Contains(t, string(text), `Create() { visits.Stop(); fmt.Println() }`)
}
