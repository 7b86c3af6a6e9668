package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADatabaseKeepsWhatItIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	d, err := openDatabase(t.Context(), path)
	if errors.Is(err, errAbsent) {
		// The rival is a program that need not be installed.
		t.Skip(err)
	}
	require.NoError(t, err)
	require.NoError(t, d.insert([]byte("{\"text\":\"it's\"}\n")))
	require.NoError(t, d.insert([]byte("'); DROP TABLE events; --\n")))
	mode, err := d.ask("PRAGMA synchronous;")
	require.NoError(t, err)
	require.Equal(t, "2", mode, "each transaction is flushed")
	d.close()
	require.Error(t, d.insert([]byte("{}")), "nobody listens")

	again, err := openDatabase(t.Context(), filepath.Join(t.TempDir(), "none", "events.db"))
	require.Error(t, err)
	require.Nil(t, again)
}

func TestADocumentIsWrittenWhole(t *testing.T) {
	dir := t.TempDir()
	s := (&bench{corpus: corpus(t)}).rewriteSide(dir, 3)
	for want := 3; want < 6; want++ {
		require.NoError(t, s.prepare())
		require.NoError(t, s.run(t.Context()))
		text, err := os.ReadFile(filepath.Join(dir, "events-3.json"))
		require.NoError(t, err)
		var document []line
		require.NoError(t, json.Unmarshal(text, &document))
		require.Len(t, document, want)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing is left beside it")
}

func TestInsertionIsOneLine(t *testing.T) {
	for _, e := range newMix(corpus(t), 1).take(50) {
		line, err := encodeLine(e)
		require.NoError(t, err)
		require.NotContains(t, insertion(line), "\n")
		require.Zero(t, strings.Count(insertion(line), "'")%2)
	}
}
