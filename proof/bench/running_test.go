package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
)

// played is a program that runs a shell script.
func played(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jp")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700))
	return path
}

func TestAListHasToBeThatOfThoseThatRun(t *testing.T) {
	list := func(n int) string {
		return "echo '[" + strings.TrimSuffix(strings.Repeat(`{"status":{"pid":7}},`, n)+strings.Repeat(`{"status":{"pid":null}},`, listedProcesses-n), ",") + "]'"
	}
	dir := t.TempDir()
	require.NoError(t, listIn(t.Context(), played(t, list(listedProcesses)), dir, dir, listedProcesses))
	require.NoError(t, listIn(t.Context(), played(t, list(0)), dir, dir, 0))
	require.ErrorContains(t, listIn(t.Context(), played(t, list(3)), dir, dir, 0), fmt.Sprintf("%d conversations, 3 of them run", listedProcesses))
	require.ErrorContains(t, listIn(t.Context(), played(t, "echo '[]'"), dir, dir, 0), "0 conversations")
	require.NoError(t, listIn(t.Context(), played(t, `test "$XDG_DATA_HOME" = /elsewhere && `+list(0)), dir, "/elsewhere", 0))
}

func TestAnAttachThatShowsNothingIsNotMeasured(t *testing.T) {
	s := &stopped{repo: gitcmd.Repository{TopLevel: t.TempDir()}, jp: played(t, "echo shown; exec sleep 100")}
	require.NoError(t, s.attach(t.Context()))
	s.jp = played(t, "exit 0")
	require.ErrorContains(t, s.attach(t.Context()), "showed nothing")
}
