package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

const (
	pngBytes = "\x89PNG\r\n\x1a\n"
	pdfBytes = "%PDF-1.7\n"
)

func TestFiles(t *testing.T) {
	for _, test := range []struct {
		claims, bytes     string
		media             string
		genuine, readable bool
		inWords           string
	}{
		{"image/png", pngBytes, "image/png", true, false, `[file "f\"" (image/png), 8 bytes, cannot be shown to this model]`},
		{"image/jpg", pngBytes, "image/jpeg", false, false, `[file "f\"" (image/jpeg), 8 bytes, cannot be shown to this model]`},
		{"", pngBytes, "image/png", true, false, `[file "f\"" (image/png), 8 bytes, cannot be shown to this model]`},
		{"image/svg+xml; charset=utf-8", "<svg/>", "image/svg+xml", false, true, "File \"f\\\"\":\n<svg/>"},
		{"application/pdf", pdfBytes, "application/pdf", true, false, `[file "f\"" (application/pdf), 9 bytes, cannot be shown to this model]`},
		{"application/pdf", "words", "application/pdf", false, false, `[file "f\"" (application/pdf), 5 bytes, cannot be shown to this model]`},
		{"application/json", "{}", "application/json", false, true, "File \"f\\\"\":\n{}"},
		{"not a type", "words", "text/plain", true, true, "File \"f\\\"\":\nwords"},
		{"text/plain", "a\x00b", "text/plain", false, false, `[file "f\"" (text/plain), 3 bytes, cannot be shown to this model]`},
	} {
		b := provider.Block{Kind: provider.BlockFile, Name: `f"`, MediaType: test.claims, Data: []byte(test.bytes)}
		require.Equal(t, test.media, b.Media(), test)
		require.Equal(t, test.genuine, b.Genuine(), test)
		require.Equal(t, test.readable, b.Readable(), test)
		require.Equal(t, test.inWords, b.InWords(), test)
	}
}

func TestEndpointsAndAccountsTellNoSecret(t *testing.T) {
	require.Equal(t, "https://a.example/v1", provider.EndpointOf("https://user:secret@a.example/v1/?key=secret#x"))
	require.Empty(t, provider.EndpointOf("\x00"))
	require.Equal(t, "2bb80d53", provider.AccountOf("secret"))
	require.Empty(t, provider.AccountOf(""))
}
