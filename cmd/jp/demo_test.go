package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The demo reads none of the user's settings, and runs without a home folder.
func TestDemoEnvironment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		environ []string
		cache   bool // has one of its own
	}{
		"home":       {[]string{"HOME=/home/ada", "XDG_CONFIG_HOME=/x", "JP_CFG_MODEL=m", "GIT_DIR=/g"}, false},
		"no home":    {[]string{"PATH=/bin"}, true},
		"empty home": {[]string{"HOME="}, true},
	} {
		t.Run(name, func(t *testing.T) {
			vars := demoEnviron(c.environ, "/demo")
			require.Equal(t, c.cache, slices.Contains(vars, "XDG_CACHE_HOME=/demo/cache"))
			require.Contains(t, vars, "XDG_CONFIG_HOME=/demo/config")
			for _, gone := range []string{"XDG_CONFIG_HOME=/x", "JP_CFG_MODEL=m", "GIT_DIR=/g"} {
				require.NotContains(t, vars, gone)
			}
		})
	}
}

// On a narrow terminal the demo breaks lines between words.
func TestDemoOnANarrowTerminal(t *testing.T) {
	t.Parallel()
	s := newPlace(t).sit(48, "chat", "--demo")
	s.Wait("whole words", func() bool {
		text := strings.Join(strings.Fields(s.Scrolled()), " ")
		return strings.Contains(text, `"Login hangs when the server is down. Cap the retries and test it."`) && strings.Contains(text, "I'll cap it at three tries")
	})
}
