package chat

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/safetext"
)

// Each command is in the help, under a topic, and the help fits the screen, also with many skills. It
// has the keys if there is room.
func TestHelpRows(t *testing.T) {
	all := commands()
	for _, o := range all {
		require.Contains(t, topics, o.topic, o.name)
	}
	for range 20 {
		all = append(all, command{name: "skill", args: "TEXT", skill: true})
	}
	for size, withKeys := range map[[2]int]bool{{80, 24}: true, {80, 23}: false, {48, 30}: false, {48, 50}: true, {40, 60}: true, {40, 30}: false} {
		width, rows := size[0], size[1]
		help := helpRows(all, width, rows)
		require.LessOrEqual(t, len(help), rows-6, "%d columns:\n%s", width, strings.Join(help, "\n"))
		text := strings.Join(help, "\n") + "\n"
		for _, o := range all {
			require.Contains(t, text, "/"+o.name)
		}
		for _, key := range keys {
			if !withKeys {
				require.NotContains(t, text, key[1])
				continue
			}
			require.Contains(t, text, key[0])
			require.Contains(t, text, key[1], "nothing is cut")
		}
		require.Contains(t, text, " more\n")
		for _, row := range help {
			require.LessOrEqual(t, safetext.Columns(row), width)
		}
	}
	require.Len(t, keyRows(79), 8)
	require.Len(t, keyRows(47), 16)
}

// The text that terminals paste when a file is dropped on them.
func TestDropped(t *testing.T) {
	for text, want := range map[string]string{
		"/a/b.png":                               "/a/b.png",
		"/a/b.png ":                              "/a/b.png",
		"'/a/b c.PNG'":                           "/a/b c.PNG",
		`/a/b\ c\(1\).jpg`:                       "/a/b c(1).jpg",
		"file:///a/b%20c.webp":                   "/a/b c.webp",
		"file://localhost/a.gif":                 "/a.gif",
		"~/b.jpeg":                               "/home/me/b.jpeg",
		"b.png":                                  "",
		"/a/b.txt":                               "",
		"file://elsewhere/a.png":                 "",
		"/a/b.png\n/a/c.png":                     "",
		"see /a/b.png":                           "",
		"/" + strings.Repeat("a", 5000) + ".png": "",
	} {
		path, is := dropped(text, "/home/me")
		require.Equal(t, want != "", is, text)
		if is {
			require.Equal(t, want, path, text)
		}
	}
}
