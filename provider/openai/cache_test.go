package openai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

// TestCacheKey varies the address, the model and the configuration.
func TestCacheKey(t *testing.T) {
	tests := []struct {
		name           string
		options        Options
		model, key     string
		want, retained string
	}{
		{"OpenAI's own address", Options{}, "gpt-5.1", "jp-1", "jp-1", "24h"},
		{"an older model", Options{}, "gpt-4o", "jp-1", "jp-1", ""},
		{"a model that keeps", Options{}, "gpt-4.1-mini", "jp-1", "jp-1", "24h"},
		{"five minutes, as configured", Options{CacheLife: "5m"}, "gpt-5.1", "jp-1", "jp-1", ""},
		{"no key", Options{}, "gpt-5.1", "", "", ""},
		{"another server", Options{BaseURL: "http://localhost:8080/v1"}, "gpt-5.1", "jp-1", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &provider.Request{Model: test.model, CacheKey: test.key}
			body, err := json.Marshal(responsesParams(r, test.options))
			require.NoError(t, err)
			var got struct {
				Key       string `json:"prompt_cache_key"`
				Retention string `json:"prompt_cache_retention"`
			}
			require.NoError(t, json.Unmarshal(body, &got))
			require.Equal(t, test.want, got.Key)
			require.Equal(t, test.retained, got.Retention)
		})
	}
}
