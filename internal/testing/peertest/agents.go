// Package peertest runs the agents that make peers installs against a scripted model.
package peertest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Program is the path of an installed agent. Without it the test skips.
func Program(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "export", "testdata", "peers", "node_modules", ".bin", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed; it comes from npm: make peers", name)
	return ""
}

// Settings are the files of the agents in a home, as their users have them who trust a folder.
func Settings(name, folder, url string) map[string]string {
	switch name {
	case "claude":
		return map[string]string{
			".claude/settings.json": `{"hooks":{}}`,
			".claude.json": text(object{
				"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": object{"approved": []string{"x"}},
				"projects": object{folder: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
			}),
		}
	case "codex":
		return map[string]string{".codex/config.toml": fmt.Sprintf(`model = "gpt-5.5"
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "%s/v1"
wire_api = "responses"
env_key = "LOCALKEY"
[projects.%q]
trust_level = "trusted"
`, url, folder)}
	}
	mock := object{"attachment": true, "modalities": object{"input": []string{"text", "image"}, "output": []string{"text"}}}
	return map[string]string{
		".config/opencode/opencode.json": text(object{
			"$schema":    "https://opencode.ai/config.json", // opencode adds it
			"autoupdate": false, "model": "local/mock", "permission": object{"bash": "allow", "edit": "allow", "external_directory": "allow"},
			"provider": object{"local": object{"npm": "@ai-sdk/openai-compatible", "options": object{"baseURL": url + "/v1", "apiKey": "x"}, "models": object{"mock": mock}}},
		}),
		// With any plugin opencode waits until npm has installed this package. It is there.
		".config/opencode/package-lock.json":       `{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"1"}}}}`,
		".config/opencode/node_modules/.gitignore": "*\n",
	}
}

// Configure writes an agent's settings into a home.
func Configure(t testing.TB, name, home, folder, url string) {
	t.Helper()
	for file, content := range Settings(name, folder, url) {
		file = filepath.Join(home, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
}

// Environ tells the agents to use the model at an address, and no other server.
func Environ(url string) []string {
	return []string{
		"LOCALKEY=x", "IS_SANDBOX=1", "ANTHROPIC_API_KEY=x", "ANTHROPIC_BASE_URL=" + url, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
	}
}
