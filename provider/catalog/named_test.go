package catalog

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

func TestErrorsNameTheProviderAsItIsSet(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		w.Write([]byte(`{"error":{"message":"no"}}`))
	}))
	defer s.Close()
	request := &provider.Request{Model: "m", Messages: []provider.Message{
		{Role: conversation.RoleUser, Blocks: []provider.Block{{Kind: provider.BlockText, Text: "Hello"}}},
	}}
	for _, dialect := range []string{"anthropic", "google", "openai-chat", "openai-responses"} {
		v, err := Find("work", Settings{BaseURL: s.URL, Dialect: dialect})
		require.NoError(t, err)
		p := v.Open("k", Options{})
		_, listed := p.Models(t.Context())
		var asked error
		for _, err := range p.Stream(t.Context(), request) {
			asked = err
		}
		for _, err := range []error{listed, asked} {
			var failure *provider.Error
			require.ErrorAs(t, err, &failure, dialect)
			require.Equal(t, "work", failure.Provider, dialect)
		}
	}
}
