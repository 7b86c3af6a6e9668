package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	tests := map[string]struct {
		name     string
		settings Settings
		want     Vendor
		err      error
	}{
		"known": {name: "anthropic", want: Vendor{Name: "anthropic", Protocol: Anthropic, KeyEnv: []string{"ANTHROPIC_API_KEY"}}},
		"known, elsewhere": {name: "ollama", settings: Settings{BaseURL: "http://gpu:11434/v1"},
			want: Vendor{Name: "ollama", Protocol: Chat, Dialect: "ollama", BaseURL: "http://gpu:11434/v1", Keyless: true}},
		"known, with a key of another name": {name: "deepseek", settings: Settings{KeyEnv: "DS"},
			want: Vendor{Name: "deepseek", Protocol: Chat, Dialect: "deepseek", KeyEnv: []string{"DS"}}},
		"one's own": {name: "work", settings: Settings{BaseURL: "https://llm.work"},
			want: Vendor{Name: "work", Protocol: Chat, BaseURL: "https://llm.work", Keyless: true}},
		"one's own, with a key": {name: "work", settings: Settings{BaseURL: "https://llm.work", KeyEnv: "WORK", Dialect: "anthropic"},
			want: Vendor{Name: "work", Protocol: Anthropic, BaseURL: "https://llm.work", KeyEnv: []string{"WORK"}}},
		"a server's dialect": {name: "work", settings: Settings{BaseURL: "https://llm.work", Dialect: "mistral"},
			want: Vendor{Name: "work", Protocol: Chat, Dialect: "mistral", BaseURL: "https://llm.work", Keyless: true}},
		"another protocol": {name: "openai", settings: Settings{Dialect: "openai-chat"},
			want: Vendor{Name: "openai", Protocol: Chat, KeyEnv: []string{"OPENAI_API_KEY"}}},
		"of the table": {name: "groq",
			want: Vendor{Name: "groq", Protocol: Chat, BaseURL: "https://api.groq.com/openai/v1", KeyEnv: []string{"GROQ_API_KEY"}}},
		"of the table, with a dialect": {name: "moonshot",
			want: Vendor{Name: "moonshot", Protocol: Chat, Dialect: "kimi", BaseURL: "https://api.moonshot.ai/v1", KeyEnv: []string{"MOONSHOT_API_KEY"}}},
		"of the table, in Anthropic's protocol": {name: "minimax-china",
			want: Vendor{Name: "minimax-china", Protocol: Anthropic, BaseURL: "https://api.minimaxi.com/anthropic", KeyEnv: []string{"MINIMAX_API_KEY"}}},
		"of the table, with a key of another name": {name: "groq", settings: Settings{KeyEnv: "G"},
			want: Vendor{Name: "groq", Protocol: Chat, BaseURL: "https://api.groq.com/openai/v1", KeyEnv: []string{"G"}}},
		"a server of one's own with the name of the table's": {name: "groq", settings: Settings{BaseURL: "https://llm.work"},
			want: Vendor{Name: "groq", Protocol: Chat, BaseURL: "https://llm.work", Keyless: true}},
		"azure": {name: "azure", settings: Settings{BaseURL: "https://a.openai.azure.com/openai/v1"},
			want: Vendor{Name: "azure", Protocol: Chat, Dialect: "azure", BaseURL: "https://a.openai.azure.com/openai/v1", KeyEnv: []string{"AZURE_OPENAI_API_KEY"}}},
		"azure in another protocol": {name: "azure", settings: Settings{BaseURL: "https://a.openai.azure.com/openai/v1", Dialect: "openai-responses"},
			want: Vendor{Name: "azure", Protocol: Responses, BaseURL: "https://a.openai.azure.com/openai/v1", Keyless: true}},
		"azure without an address":         {name: "azure", err: ErrNoAddress},
		"its dialect without an address":   {name: "openai", settings: Settings{Dialect: "azure"}, err: ErrNoAddress},
		"of the cloud, without an address": {name: "bedrock", err: ErrUnknown},
		"asked with a subscription":        {name: "copilot", err: ErrUnknown},
		"unknown":                          {name: "work", err: ErrUnknown},
		"a wrong dialect":                  {name: "openai", settings: Settings{Dialect: "klingon"}, err: ErrDialect},
		"no address":                       {name: "openai", settings: Settings{BaseURL: "llm.work"}, err: ErrAddress},
		"another transport":                {name: "openai", settings: Settings{BaseURL: "file:///etc/passwd"}, err: ErrAddress},
	}
	for name, tc := range tests {
		v, err := Find(tc.name, tc.settings)
		require.ErrorIs(t, err, tc.err, name)
		require.Equal(t, tc.want, v, name)
	}
}

func TestAnErrorQuotesNoAddress(t *testing.T) {
	_, err := Find("work", Settings{BaseURL: "http//user:hunter2@llm"})
	require.ErrorIs(t, err, ErrAddress)
	require.NotContains(t, err.Error(), "hunter2")
}

func TestEveryDialectCanBeSpoken(t *testing.T) {
	for _, dialect := range append(Dialects(), "openai") {
		_, err := Find("work", Settings{BaseURL: "http://x", Dialect: dialect})
		require.NoError(t, err, dialect)
	}
}

func TestEveryVendorOpens(t *testing.T) {
	apis := map[Protocol]string{Anthropic: "anthropic", Responses: "openai-responses", Chat: "openai-chat", Google: "google"}
	all := vendors()
	for _, listed := range More() {
		v, err := Find(listed.Name, Settings{BaseURL: map[string]string{"azure": "https://a.openai.azure.com/openai/v1"}[listed.Name]})
		require.NoError(t, err, listed.Name)
		require.Equal(t, listed.KeyEnv, v.KeyEnv, listed.Name)
		all = append(all, v)
	}
	require.Greater(t, len(all), 40)
	for _, v := range all {
		p := v.Open("secret", Options{})
		require.Equal(t, apis[v.Protocol], p.API, v.Name)
		require.Regexp(t, `^https?://\S+$`, p.Endpoint, v.Name)
		require.Len(t, p.Account, 8, v.Name)
		require.Equal(t, p.Endpoint, v.Address(), v.Name)
		require.True(t, v.Keyless || len(v.KeyEnv) > 0, v.Name)
		require.Empty(t, v.Open("", Options{}).Account, v.Name)
	}
}

func TestNamesAreInTheOrderOfChoice(t *testing.T) {
	names := Names(map[string]Settings{"work": {}, "ollama": {}, "a": {}})
	require.Equal(t, []string{"anthropic", "openai", "google", "openrouter", "mistral", "deepseek", "kimi", "glm", "minimax", "ollama", "lmstudio", "llamacpp", "vllm", "a", "work"}, names)
}
