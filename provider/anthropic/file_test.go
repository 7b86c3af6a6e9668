package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

func picture(t *testing.T, width int, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, encode(&out, image.NewGray(image.Rect(0, 0, width, 1))))
	return out.Bytes()
}

func asPNG(out *bytes.Buffer, i image.Image) error { return png.Encode(out, i) }

// shown renders one file and returns it as JSON.
func shown(t *testing.T, b provider.Block) string {
	t.Helper()
	content := said([]provider.Block{b})
	require.Len(t, content, 1)
	rendered, err := json.Marshal(content[0])
	require.NoError(t, err)
	return string(rendered)
}

func TestImages(t *testing.T) {
	small := picture(t, 2, asPNG)
	photo := picture(t, 2, func(out *bytes.Buffer, i image.Image) error { return jpeg.Encode(out, i, nil) })
	moving := picture(t, 2, func(out *bytes.Buffer, i image.Image) error { return gif.Encode(out, i, nil) })
	web := []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00")
	tests := []struct {
		name, media string
		data        []byte
		want        string // the type sent, "" if a text replaces it
	}{
		{"png", "image/png", small, "image/png"},
		{"jpeg", "image/jpeg", photo, "image/jpeg"},
		{"jpeg by its other name", "Image/JPG; q=1", photo, "image/jpeg"},
		{"gif", "image/gif", moving, "image/gif"},
		{"webp", "image/webp", web, "image/webp"},
		{"a jpeg that claims to be a png", "image/png", photo, ""},
		{"text that claims to be a png", "image/png", []byte("hello"), ""},
		{"a png that breaks off", "image/png", small[:20], ""},
		{"a format that is not taken", "image/bmp", []byte("BM123456"), ""},
		{"too wide", "image/png", picture(t, 8001, asPNG), ""},
		{"too large", "image/png", append(small[:len(small):len(small)], make([]byte, 4<<20)...), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := shown(t, provider.Block{Kind: provider.BlockFile, Name: "a.x", MediaType: test.media, Data: test.data})
			if test.want == "" {
				require.Contains(t, got, `"type":"text"`)
				require.Contains(t, got, `file \"a.x\", `+mediaType(test.media))
				require.Contains(t, got, "bytes, cannot be shown]")
				return
			}
			source := `{"type":"base64","media_type":"` + test.want + `","data":"` + base64.StdEncoding.EncodeToString(test.data) + `"}`
			require.JSONEq(t, `{"type":"image","source":`+source+`}`, got)
		})
	}
}

func TestOtherFiles(t *testing.T) {
	tests := []struct {
		name, media string
		data        string
		want        string
	}{
		{"text", "text/plain; charset=utf-8", "hello\n", `[file "n", text/plain, 6 bytes]` + "\nhello\n"},
		{"text that is not UTF-8", "text/plain", "a\xff\x00b", `[file "n", text/plain, 4 bytes]` + "\na\uFFFD\uFFFDb"},
		{"JSON", "application/json", "{}", `[file "n", application/json, 2 bytes]` + "\n{}"},
		{"a drawing", "image/svg+xml", "<svg/>", `[file "n", image/svg+xml, 6 bytes]` + "\n<svg/>"},
		{"text of no type", "", "x", `[file "n", of no known type, 1 bytes]` + "\nx"},
		{"text of a hostile type", "x]\n[file", "x", `[file "n", of no known type, 1 bytes]` + "\nx"},
		{"bytes", "application/zip", "PK\x00", `[file "n", application/zip, 3 bytes, cannot be shown]`},
		{"no PDF", "application/pdf", "hello", `[file "n", application/pdf, 5 bytes, cannot be shown]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := fileOf(provider.Block{Name: "n", MediaType: test.media, Data: []byte(test.data)})
			require.NotNil(t, f.text)
			require.Equal(t, test.want, f.text.Text)
		})
	}
	got := shown(t, provider.Block{Kind: provider.BlockFile, Name: "n", MediaType: "application/pdf", Data: []byte("%PDF-1.7")})
	require.JSONEq(t, `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjc="}}`, got)
}

func TestFilesStandInTheirResult(t *testing.T) {
	drawn := provider.Block{Kind: provider.BlockFile, ID: "1", Name: "p.png", MediaType: "image/png", Data: picture(t, 1, asPNG)}
	content := results([]provider.Block{result("1", "see", false), drawn, result("2", "none", false)})
	rendered, err := json.Marshal(content)
	require.NoError(t, err)
	var got []struct {
		Type    string
		ID      string `json:"tool_use_id"`
		Content []struct{ Type string }
	}
	require.NoError(t, json.Unmarshal(rendered, &got))
	require.Len(t, got, 2)
	require.Equal(t, []struct{ Type string }{{"text"}, {"image"}}, got[0].Content)
	require.Equal(t, "2", got[1].ID)
	require.Len(t, got[1].Content, 1)
	require.False(t, strings.Contains(string(rendered), "is_error"))
}
