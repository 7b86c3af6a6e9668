package script

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

// documented is the section about scripts.
func documented(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/models.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## A script\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

func TestTheDocumentedScript(t *testing.T) {
	example := regexp.MustCompile("(?s)```toml\n(.*?)```").FindStringSubmatch(documented(t))
	require.NotNil(t, example)
	p := written(t, example[1])
	chunks, err := stream(t.Context(), p, &provider.Request{})
	require.NoError(t, err)
	require.Equal(t, provider.WireName("fs_read_file"), chunks[4].Tool)
	require.Equal(t, conversation.FinishToolCalls, chunks[len(chunks)-1].Finish)
	_, err = stream(t.Context(), p, &provider.Request{Ended: 1})
	require.ErrorContains(t, err, "the script says so")
	chunks, err = stream(t.Context(), p, &provider.Request{Ended: 1, Failed: 1})
	require.NoError(t, err)
	require.Equal(t, "It is a README.", chunks[0].Text)
	chunks, err = stream(t.Context(), p, &provider.Request{Ended: 2})
	require.NoError(t, err)
	require.Equal(t, `{"ok":true}`, chunks[0].Text)
}

func TestEveryKeyIsDocumented(t *testing.T) {
	section := documented(t)
	for _, of := range []any{reply{}, toolCall{}, usage{}} {
		for field := range reflect.TypeOf(of).Fields() {
			if key := field.Tag.Get("toml"); key != "" {
				require.Regexp(t, "`"+key+"( = true)?`", section)
			}
		}
	}
	for _, class := range failures {
		require.Contains(t, section, "`"+string(class)+"`")
	}
	for _, end := range finishes {
		require.Contains(t, section, "`"+string(end)+"`")
	}
}
