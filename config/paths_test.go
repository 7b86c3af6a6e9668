package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/config"
)

func TestFindPaths(t *testing.T) {
	below := func(home string) config.Paths {
		return config.Paths{
			UserFile: home + "/.config/jp/config.toml", StateDir: home + "/.local/state/jp",
			DataDir: home + "/.local/share/jp", CacheDir: home + "/.cache/jp",
		}
	}
	all := []string{"XDG_CONFIG_HOME=/c", "XDG_STATE_HOME=/s", "XDG_DATA_HOME=/d", "XDG_CACHE_HOME=/k"}
	xdg := config.Paths{UserFile: "/c/jp/config.toml", StateDir: "/s/jp", DataDir: "/d/jp", CacheDir: "/k/jp"}
	cases := map[string]struct {
		environ []string
		want    config.Paths
		fails   bool
	}{
		"home":              {[]string{"HOME=/h"}, below("/h"), false},
		"xdg without home":  {all, xdg, false},
		"last value counts": {append(all, "HOME=/h", "XDG_CONFIG_HOME=/x", "XDG_CONFIG_HOME=/c"), xdg, false},
		"relative or empty": {[]string{"HOME=/h", "XDG_CONFIG_HOME=rel", "XDG_STATE_HOME=", "XDG_CACHE_HOME=./x"}, below("/h"), false},
		"nothing":           {nil, config.Paths{}, true},
		"relative home":     {[]string{"HOME=h"}, config.Paths{}, true},
		"home needed":       {all[1:], config.Paths{}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := config.FindPaths(tc.environ)
			require.Equal(t, tc.fails, err != nil)
			require.Equal(t, tc.want, got)
		})
	}
}
