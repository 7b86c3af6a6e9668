package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/config"
)

const profiles = `
model = "user/m"
[parameters]
reasoning = "low"
[tools.shell_run]
run = "unattended"
[tools.fs_delete_file]
run = "skip"
[profiles.review]
model = "review/m"
instructions = "Only review."
parameters.reasoning = "high"
tools.shell_run.enable = false
tools.git_commit.run = "skip"
policy.detached = "deny"
[profiles.slow]
parameters.reasoning = "max"
policy.timeout = "5m"
`

// TestProfileIsALayer varies the layer of a key, and the profile with another value.
func TestProfileIsALayer(t *testing.T) {
	said := []map[string]any{{"parameters": map[string]any{"reasoning": "off"}}}
	tests := []struct {
		name      string
		given     []string
		overrides []string
		deltas    []map[string]any
		reasoning string
		model     string
		detached  string
		inUse     []string
		lasting   map[string]any
	}{
		{name: "none", reasoning: "low", model: "user/m"},
		{name: "given", given: []string{"review"}, reasoning: "high", model: "review/m", detached: "deny", inUse: []string{"review"},
			lasting: map[string]any{"model": "review/m", "parameters": map[string]any{"reasoning": "high"}, "tools": map[string]any{"shell_run": map[string]any{"enable": false}}}},
		{name: "two given", given: []string{"review", "slow"}, reasoning: "max", model: "review/m", detached: "deny", inUse: []string{"review", "slow"},
			lasting: map[string]any{"model": "review/m", "parameters": map[string]any{"reasoning": "max"}, "tools": map[string]any{"shell_run": map[string]any{"enable": false}}}},
		{name: "given above the conversation", given: []string{"slow"}, deltas: said, reasoning: "max", model: "user/m", inUse: []string{"slow"},
			lasting: map[string]any{"parameters": map[string]any{"reasoning": "max"}}},
		{name: "the conversation says it already", given: []string{"slow"}, deltas: []map[string]any{{"parameters": map[string]any{"reasoning": "max"}}}, reasoning: "max", model: "user/m", inUse: []string{"slow"}, lasting: map[string]any{}},
		{name: "default, below the conversation", overrides: []string{"profile=review"}, deltas: said, reasoning: "off", model: "review/m", detached: "deny", inUse: []string{"review"}},
		{name: "default, and another", overrides: []string{"profile=review"}, given: []string{"slow"}, reasoning: "max", model: "review/m", detached: "deny", inUse: []string{"review", "slow"},
			lasting: map[string]any{"parameters": map[string]any{"reasoning": "max"}}},
		{name: "--cfg above all", given: []string{"review"}, overrides: []string{"parameters.reasoning=medium"}, reasoning: "medium", model: "review/m", detached: "deny", inUse: []string{"review"},
			lasting: map[string]any{"model": "review/m", "parameters": map[string]any{"reasoning": "high"}, "tools": map[string]any{"shell_run": map[string]any{"enable": false}}}},
		{name: "changed by --cfg", given: []string{"slow"}, overrides: []string{"profiles.slow.parameters.reasoning=off"}, reasoning: "off", model: "user/m", inUse: []string{"slow"},
			lasting: map[string]any{"parameters": map[string]any{"reasoning": "off"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			opts := layers(t, profiles, "")
			opts.Profiles, opts.Overrides, opts.Deltas = test.given, test.overrides, test.deltas
			c, r := load(t, opts)
			require.Equal(t, test.reasoning, c.Parameters.Reasoning)
			require.Equal(t, test.model, c.Model)
			require.Equal(t, test.detached, c.Policy.Detached)
			require.Equal(t, test.inUse, r.Profiles)
			if test.lasting != nil {
				require.Equal(t, test.lasting, r.Lasting)
			} else {
				require.Empty(t, r.Lasting)
			}
		})
	}
}

// TestSecurityKeysOfAProfileDoNotLast shows that a profile changes permissions for the process only.
func TestSecurityKeysOfAProfileDoNotLast(t *testing.T) {
	opts := layers(t, profiles, "")
	opts.Profiles = []string{"review"}
	c, r := load(t, opts)
	require.Equal(t, "skip", c.Tools["git_commit"].Run)
	require.NotContains(t, r.Lasting, "policy")
	require.NotContains(t, r.Lasting["tools"], "git_commit")
	require.Equal(t, config.LayerProfile, r.Origins["policy.detached"].Layer)
	require.Positive(t, r.Origins["policy.detached"].Line, "where it is written")
	require.Equal(t, 30*time.Second, c.Policy.Timeout, "what the profile does not say stays")
}

func TestWrongProfiles(t *testing.T) {
	opts := layers(t, profiles, "")
	opts.Profiles = []string{"nothing"}
	_, _, err := config.Load(opts)
	require.ErrorIs(t, err, config.ErrProfile)
	require.EqualError(t, err, `-p: there is no profile "nothing" (there are plan, edits, auto, review, slow)`)

	_, _, err = config.Load(layers(t, "\nprofile = \"nothing\"", ""))
	require.ErrorIs(t, err, config.ErrProfile)
	require.ErrorContains(t, err, "user.toml:2: there is no profile")

	for _, name := range []string{"plan", "edits"} {
		_, _, err = config.Load(layers(t, "profiles."+name+".model = \"a/b\"", ""))
		require.ErrorContains(t, err, "profiles."+name+" is a profile of jp's own")
	}
	_, _, err = config.Load(layers(t, "profiles.x.tools.y.command = [\"z\"]", ""))
	require.ErrorContains(t, err, "unknown key")
}

// TestNoWorkspaceHasProfiles varies the key and the trust.
func TestNoWorkspaceHasProfiles(t *testing.T) {
	for _, text := range []string{`profile = "edits"`, `profiles.mine.policy.detached = "deny"`, `profiles.mine.model = "a/b"`, `profiles.mine.instructions = "Obey."`} {
		opts := layers(t, "profile = \"mine\"\n[profiles.mine]\nmodel = \"mine/m\"", text)
		for _, opts := range []config.Options{opts, trusting(opts)} {
			c, r := load(t, opts)
			require.Equal(t, "mine/m", c.Model, text)
			require.Equal(t, "mine", c.Profile)
			require.Len(t, inertKeys(r, config.ReasonPrivate), 1, text)
		}
	}
	c, r := load(t, config.Options{Deltas: []map[string]any{{"profile": "edits"}}})
	require.Empty(t, c.Profile)
	require.Empty(t, r.Profiles)
}
