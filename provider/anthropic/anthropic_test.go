package anthropic

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

var _ provider.Provider = (*Provider)(nil)

func TestEndpoint(t *testing.T) {
	tests := []struct{ base, want string }{
		{"", "https://api.anthropic.com"},
		{"https://gate.example/anthropic/", "https://gate.example/anthropic"},
		{"http://name:password@127.0.0.1:8080?token=x#y", "http://127.0.0.1:8080"},
		{"file:///etc/passwd", ""},
	}
	for _, test := range tests {
		require.Equal(t, test.want, New(Options{BaseURL: test.base}).Endpoint(), test.base)
	}
}

func TestAccount(t *testing.T) {
	require.Empty(t, New(Options{}).Account())
	require.Equal(t, "ba7816bf", New(Options{Key: "abc"}).Account())
	require.Equal(t, "ba7816bf", New(Options{Key: " abc\n"}).Account())
}

func TestTheEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Custom: x")
	var headers http.Header
	p := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		headers = r.Header
		sending(start, stop("end_turn"))(w, r)
	})
	_, err := collect(t.Context(), p, ask())
	require.NoError(t, err)
	for _, name := range []string{"X-Api-Key", "Authorization", "X-Custom"} {
		require.Empty(t, headers.Get(name), name)
	}
	require.Equal(t, "https://api.anthropic.com", New(Options{}).Endpoint())
}

func TestTheClientIsNotChanged(t *testing.T) {
	client := &http.Client{}
	New(Options{Client: client})
	require.Nil(t, client.CheckRedirect)
}
