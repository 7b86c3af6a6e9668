package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/config"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/internal/action"
	"jp/process"
	"jp/provider"
	"jp/turnloop"
)

func TestFailureOf(t *testing.T) {
	t.Parallel()
	asked := func(class provider.Class) error {
		return &turnloop.ProviderError{Tries: 1, Err: &provider.Error{Class: class, Provider: "script", Message: "no"}}
	}
	tests := map[string]struct {
		err  error
		exit int
		code string
	}{
		"usage":         {problem.Usage("no"), 2, "usage"},
		"wrapped":       {fmt.Errorf("do: %w", problem.Usage("no")), 2, "usage"},
		"Ctrl+C":        {&turnloop.Interrupt{Signal: "SIGINT"}, 130, "interrupted"},
		"terminated":    {&turnloop.Interrupt{Signal: "SIGTERM"}, 143, "interrupted"},
		"hung up":       {fmt.Errorf("ask: %w", &turnloop.Interrupt{Signal: "SIGHUP"}), 129, "interrupted"},
		"cancelled":     {context.Canceled, 130, "interrupted"},
		"locked":        {&process.LockedError{ID: someID, Holder: process.Holder{PID: 7}}, 4, "locked"},
		"configuration": {&config.Error{Origin: config.Origin{Name: "c.toml", Line: 3}, Text: "no"}, 2, "config"},
		"not found":     {fmt.Errorf("read: %w", conversation.ErrNotFound), 5, "not_found"},
		"bad id":        {conversation.ErrBadID, 5, "not_found"},
		"damaged":       {conversation.ErrDamaged, 6, "damaged"},
		"newer":         {conversation.ErrNewer, 2, "untrusted"},
		"full":          {&turnloop.JournalError{Seq: 3, Err: conversation.ErrNoSpace}, 1, "no_space"},
		"full disk":     {fmt.Errorf("write: %w", syscall.ENOSPC), 1, "no_space"},
		"unreadable":    {&fs.PathError{Op: "open", Path: "refs/jp", Err: syscall.EACCES}, 1, "unreadable"},
		"read-only":     {&turnloop.JournalError{Seq: 3, Err: conversation.ErrReadOnlyStore}, 1, "read_only"},
		"overloaded":    {asked(provider.ClassOverloaded), 7, "provider"},
		"no key":        {asked(provider.ClassAuth), 7, "auth"},
		"no money":      {asked(provider.ClassQuota), 7, "auth"},
		"too long":      {asked(provider.ClassContext), 7, "provider"},
		"no repository": {&gitcmd.Refusal{Err: gitcmd.ErrNotRepository, Dir: "/tmp"}, 2, "usage"},
		"locked refs":   {fmt.Errorf("delete: %w", gitstore.ErrRefsLocked), 4, "locked"},
		"anything else": {errors.New("what?"), 1, "internal"},
	}
	for name, tt := range tests {
		f := repo.ProblemOf(tt.err)
		require.Equal(t, tt.exit, f.Exit, name)
		require.Equal(t, tt.code, f.Code, name)
		require.NotEmpty(t, f.Message, name)
	}
}

func TestNoSpaceIsSaidOnce(t *testing.T) {
	full := fmt.Errorf("write x: %w", syscall.ENOSPC)
	for range 2 {
		full = fmt.Errorf("%w: %w", conversation.ErrNoSpace, full)
	}
	require.Equal(t, "event 3 was not recorded: write x: no space left on device", repo.ProblemOf(&turnloop.JournalError{Seq: 3, Err: full}).Message)
	require.Equal(t, "event 3 was not recorded: no space left", repo.ProblemOf(&turnloop.JournalError{Seq: 3, Err: conversation.ErrNoSpace}).Message)
}

func TestUnwritableSaysWhyAndNoPath(t *testing.T) {
	err := repo.Unwritable(&fs.PathError{Op: "open", Path: ".git/jp/sessions/x", Err: syscall.EROFS})
	require.Equal(t, "the repository cannot be written to: read-only file system", err.Message)
	require.Equal(t, "read_only", err.Code)
}

func TestFailureAsText(t *testing.T) {
	t.Parallel()
	f := problem.New(3, "incomplete_turn", "%s waits.", someID).Hint(action.List, "all of them").Hint(action.Ask, "ask")
	f.Details = []string{"shell_run — \x1b[31m\"Run?\""}
	var out strings.Builder
	ui.ReportProblem(f, &out, false, 0)
	require.Equal(t, `Error: jp-c17952552000-k3f9 waits.
  shell_run — "Run?"

    jp ls          all of them
    jp query "…"   ask
`, out.String())
	out.Reset()
	ui.ReportProblem(problem.Usage("no\x07pe."), &out, false, 0)
	require.Equal(t, "Error: nope.\n", out.String())
}

func TestFailureAsJSON(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	ui.ReportProblem(problem.New(5, "not_found", "none").About(someID).Hint(action.List, "all"), &out, true, 0)
	require.JSONEq(t, `{"error":{"code":"not_found","message":"none","exit":5,"conversation":"jp-c17952552000-k3f9",
		"hints":[{"command":"jp ls","text":"all"}]}}`, out.String())
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	out.Reset()
	ui.ReportProblem(problem.Usage("no"), &out, true, 0)
	require.JSONEq(t, `{"error":{"code":"usage","message":"no","exit":2,"hints":[]}}`, out.String())
	require.True(t, json.Valid([]byte(out.String())))
}

func TestASilentFailureSaysNothing(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	f := problem.Usage("said already")
	f.Silent = true
	ui.ReportProblem(f, &out, false, 0)
	ui.ReportProblem(f, &out, true, 0)
	require.Empty(t, out.String())
}
