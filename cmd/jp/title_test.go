package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/internal/safetext"
)

func TestCleanTitle(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"":                                     "",
		"\n\n":                                 "",
		"...":                                  "",
		"Cap the login retries":                "Cap the login retries",
		"\"Cap the login retries.\"\n\nMore.":  "Cap the login retries",
		"## Cap `retries` in auth":             "Cap `retries` in auth",
		"TITLE: Cap the login retries":         "Cap the login retries",
		"**Title:** Cap the login retries":     "Cap the login retries",
		"Cap\tthe\x1b[31m  login\x00 retries ": "Cap the login retries",
		"„Grüße an 漢字“":                        "Grüße an 漢字",
	} {
		require.Equal(t, want, cleanTitle(said), "%q", said)
	}
}

func TestCleanTitleFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		title := cleanTitle(rapid.String().Draw(t, "said"))
		require.LessOrEqual(t, safetext.Columns(title), conversation.TitleColumns)
		require.Equal(t, oneLine(title), title)
		require.Equal(t, strings.TrimSpace(title), title)
	})
}

func TestMaterialOfATitle(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", strings.Repeat("[[reply]]\nreasoning = \"Hm.\"\nmessage = \"Answer.\"\n", 3))
	long := strings.Repeat("漢", titleMaterial)
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "First "+long).exit)
	require.Zero(t, p.jp("query", "Second").exit)
	require.Zero(t, p.jp("query", "Third").exit)
	e := newEnv(&host{dir: p.dir, environ: p.environ, now: systemEnv().now}, nil, nil, os.Stderr)
	r, err := openRepo(t.Context(), e.host)
	require.NoError(t, err)
	defer r.Close()
	v, err := r.view(t.Context(), e.host, "newest")
	require.NoError(t, err)
	text := material(v.events)
	require.True(t, strings.HasPrefix(text, "The user's first request:\n\nFirst 漢"))
	require.Equal(t, titleAnswers, strings.Count(text, "Answer."))
	require.NotContains(t, text, "Second")
	require.NotContains(t, text, "Hm.")
	require.Less(t, len(text), titleMaterial+500)
	require.Empty(t, material(nil))
}
