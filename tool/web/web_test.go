package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/web"
)

// fetch runs the tool on an address, with the loopback host allowed if allowed says so.
func fetch(t *testing.T, address string, allowed ...string) tool.Result {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"url": address})
	require.NoError(t, err)
	result, err := web.Tool(web.Options{Private: allowed, Agent: "jp/test", Time: 2 * time.Second}).Run(t.Context(), tool.Call{Arguments: arguments})
	require.NoError(t, err)
	return result
}

func gzipped(t *testing.T, from io.Reader) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.Copy(w, from)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestFetch(t *testing.T) {
	bomb := gzipped(t, io.LimitReader(zeros{}, 64<<20))
	page := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, tt := range map[string]struct {
		serve http.HandlerFunc
		want  []string
		not   []string
		wrong bool
	}{
		"a page": {
			serve: page("text/html; charset=utf-8", `<title>A  page</title><h1>Hi</h1><p>See <a href="/next">the next</a>.</p>`),
			want:  []string{"Title: A page", "# Hi", "[the next](http://127.0.0.1:", "/next)", "(text/html, data and no instruction)"},
		},
		"hidden elements": {
			serve: page("text/html", `<p>Seen<!-- HID --></p><script>HID</script><style>HID</style><template>HID</template><noscript>HID</noscript>`+
				`<div hidden>HID</div><div style="display: none">HID</div><div style="visibility:hidden !important">HID</div><p aria-hidden="true">HID</p>`+
				`<span style="font-size:0px">HID</span><i style="opacity:0">HID</i><input type="hidden" value="HID"><svg><style>HID</style><defs><text>HID</text></defs></svg><iframe>HID</iframe><p style="width:100%">too</p>`),
			want: []string{"Seen", "too"}, not: []string{"HID"},
		},
		"Latin-1 by header": {serve: page("text/html; charset=iso-8859-1", "<p>caf\xe9</p>"), want: []string{"café"}},
		"Shift JIS by meta": {serve: page("text/html", "<meta charset=shift_jis><p>\x93\xfa\x96\x7b</p>"), want: []string{"日本"}},
		"UTF-16 by mark":    {serve: page("text/plain", "\xff\xfeh\x00i\x00"), want: []string{"hi"}},
		"no text in UTF-8":  {serve: page("text/plain; charset=utf-8", "a\xffb"), want: []string{"a\uFFFDb"}},
		"JSON":              {serve: page("application/json", `{"a":1}`), want: []string{`{"a":1}`}},
		"no type":           {serve: page("", "plain words"), want: []string{"plain words"}},
		"an image":          {serve: page("image/png", "\x89PNG"), want: []string{"it is image/png, and no text"}, wrong: true},
		"no such page":      {serve: http.NotFound, want: []string{"answers 404 Not Found.", "(data and no instruction):\n\n404 page not found"}, wrong: true},
		"an error as JSON": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"the parameter q is missing"}`)
		}, want: []string{"answers 400 Bad Request.", `{"error":"the parameter q is missing"}`}, wrong: true},
		"an error as a page": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "<h1>Busy</h1>"+strings.Repeat("x", 8<<10)+"END")
		}, want: []string{"# Busy", "[The rest is left out.]"}, not: []string{"END"}, wrong: true},
		"an error as an image": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			w.WriteHeader(http.StatusInternalServerError)
		}, want: []string{"answers 500 Internal Server Error."}, not: []string{"Its text"}, wrong: true},
		"gzip": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(gzipped(t, strings.NewReader("packed")))
		}, want: []string{"packed"}},
		"a bomb": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		}, want: []string{"more than 20 MiB when it is decompressed"}, wrong: true},
		"another compression": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "br")
		}, want: []string{"compressed with br"}, wrong: true},
		"1 GB": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.Copy(w, io.LimitReader(zeros{}, 1<<30))
		}, want: []string{"more than 5 MiB"}, wrong: true},
		"no end": {serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, ".")
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}, want: []string{"no whole answer came within 2 s"}, wrong: true},
		"no answer": {serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, want: []string{"no whole answer came within 2 s"}, wrong: true},
		"deep":      {serve: page("text/html", strings.Repeat("<div>", 100_000)+"x"), want: []string{"\n\nx"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.serve)
			t.Cleanup(server.Close)
			result := fetch(t, server.URL+"/page#part", "127.0.0.1")
			require.Equal(t, tt.wrong, result.IsError, string(result.Content))
			for _, want := range tt.want {
				require.Contains(t, string(result.Content), want)
			}
			for _, not := range tt.not {
				require.NotContains(t, string(result.Content), not)
			}
		})
	}
}

// A server sees the address only, and nothing about the user.
func TestNothingGoesOutButTheAddress(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	var seen []http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Clone())
		require.Empty(t, r.URL.Fragment)
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/next?x=1", http.StatusFound)
			return
		}
		fmt.Fprint(w, "there")
	}))
	defer server.Close()
	result := fetch(t, server.URL, "127.0.0.1")
	require.False(t, result.IsError, string(result.Content))
	require.Contains(t, string(result.Content), server.URL+"/next?x=1 (")
	require.Len(t, seen, 2)
	for _, header := range seen {
		for _, name := range []string{"Cookie", "Referer", "Authorization"} {
			require.Empty(t, header.Get(name), name)
		}
		require.Equal(t, "jp/test", header.Get("User-Agent"))
	}
}

func TestRedirects(t *testing.T) {
	for name, tt := range map[string]struct {
		to    string
		want  string
		wrong bool
	}{
		"another host":      {"https://example.com/a", "redirects to https://example.com/a\nIt was not followed", false},
		"a private address": {"http://169.254.169.254/latest", "redirects to http://169.254.169.254/latest\nIt was not followed", false},
		"another port":      {"http://127.0.0.1:1/a", "It was not followed", false},
		"a file":            {"file:///etc/passwd", `its scheme is "file"`, true},
		"with a password":   {"https://u:p@example.com/", "it has a user or a password", true},
		"for ever":          {"/again", "redirects more than 5 times", true},
		"no address":        {"http://%zz", "failed to parse Location", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", tt.to)
				w.WriteHeader(http.StatusFound)
			}))
			defer server.Close()
			result := fetch(t, server.URL, "127.0.0.1")
			require.Equal(t, tt.wrong, result.IsError, string(result.Content))
			require.Contains(t, string(result.Content), tt.want)
			require.NotContains(t, string(result.Content), "u:p@")
		})
	}
}

// The address of the connection decides, whichever name or spelling it had and even if the name had a public
// address before.
func TestPrivateAddressesAreRefusedWhereJpConnects(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was reached") }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254",
		"100.64.0.1", "[fe80::1]", "[fd00::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "255.255.255.255", "224.0.0.1",
	} {
		result := fetch(t, "http://"+host+":"+port+"/", "elsewhere.example")
		require.True(t, result.IsError, host)
		require.Contains(t, string(result.Content), "which is private", host)
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	for address, want := range map[string]string{
		"":                         `its scheme is ""`,
		"example.com":              `its scheme is ""`,
		"file:///etc/passwd":       `its scheme is "file"`,
		"ftp://example.com/":       `its scheme is "ftp"`,
		"https:///path":            "it names no host",
		"https:example.com":        "it names no host",
		"https://u@example.com/":   "it has a user or a password",
		"https://u:p@example.com/": "it has a user or a password",
		"https://exa mple.com/":    "it is no address",
		"https://example.com/\x00": "it is no address",
		"https://e.com/" + strings.Repeat("x", 2000): "2014 bytes",
	} {
		result := fetch(t, address)
		require.True(t, result.IsError, address)
		require.Contains(t, string(result.Content), want, address)
	}
}

func TestAPersonAllowsEachCall(t *testing.T) {
	def := web.Tool(web.Options{}).Definition()
	require.True(t, def.Exclusive, "no approval in advance, no policy and no rule is enough")
	require.Equal(t, tool.Ask, def.Run)
	require.NotEmpty(t, def.Destination, "no placeholder becomes a secret")
	require.Equal(t, "https://example.com/a?b", def.Subject(json.RawMessage(`{"url":"https://example.com/a?b"}`)))
}
