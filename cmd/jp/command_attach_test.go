package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An attached terminal shows the running command, and answers as the process's own terminal does.
func TestACommandAsksWhoeverIsAttached(t *testing.T) {
	t.Parallel()
	p := ownPlace(t, asksFirst)
	p.edits(`{"path":"c.txt"}`)
	p.question(`{"type":"select","options":["red","blue"]}`, "")
	out := p.jp("query", "--detach", "--policy", "queue", "--cfg", "tools.own.result=ask", "--cfg", "tools.own.timeout=90s",
		"-m", "script/../one.toml", "Go")
	require.Zero(t, out.exit, out.stderr)
	s := p.sit(100, "attach")
	s.prompted()
	require.Contains(t, s.Text(), "  runs bin/own\n")
	require.Contains(t, s.Text(), " · at most 90 s\n")
	s.Type("e")
	s.WaitFor("own c.txt asks: Which?")
	s.promptedAgain(2)
	s.Type("2")
	s.WaitFor("Give it to the model?")
	s.promptedAgain(3)
	require.Contains(t, s.Text(), `  {"it":"blue"}`)
	s.Type("n")
	require.Zero(t, s.exit())
	calls := p.calls()
	require.Len(t, calls, 2)
	for _, call := range calls {
		require.Contains(t, call, `"arguments":{"path":"c.txt"}`)
	}
	answers := p.ofType("inquiry_response")
	said := make([]string, len(answers))
	for i, a := range answers {
		said[i] = a["answer"].(string)
		require.Equal(t, "user", a["by"])
	}
	require.Equal(t, "edit blue withhold", strings.Join(said, " "))
	require.Zero(t, p.jp("verify").exit)
}
