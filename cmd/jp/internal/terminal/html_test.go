package terminal

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

func TestHTML(t *testing.T) {
	for text, want := range map[string]string{
		"**three** `<b>`":                         "<p><strong>three</strong> <code>&lt;b&gt;</code></p>\n",
		"a <b>c</b>":                              "<p>a &lt;b&gt;c&lt;/b&gt;</p>\n",
		"<script>\nowned()\n</script>":            "<pre>&lt;script&gt;\nowned()\n&lt;/script&gt;</pre>\n",
		"[a](javascript:owned())":                 "<p>a (javascript:owned())</p>\n",
		"[a](data:text/html,x)":                   "<p>a (data:text/html,x)</p>\n",
		"[a](/b)":                                 "<p>a (/b)</p>\n",
		"[a](https://x.example/?\"'<)":            "<p><a rel=\"noopener noreferrer nofollow\" href=\"https://x.example/?%22&#39;%3C\">a</a></p>\n",
		"![a](https://x.example/1.png)":           "<p><a rel=\"noopener noreferrer nofollow\" href=\"https://x.example/1.png\">image: a</a></p>\n",
		"https://x.example":                       "<p><a rel=\"noopener noreferrer nofollow\" href=\"https://x.example\">https://x.example</a></p>\n",
		"<javascript:owned()>":                    "<p>javascript:owned() (javascript:owned())</p>\n",
		"<a@x.example>":                           "<p><a rel=\"noopener noreferrer nofollow\" href=\"mailto:a@x.example\">a@x.example</a></p>\n",
		"|a|\n|:-:|\n|1|":                         "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n</tr>\n</tbody>\n</table>\n",
		"```go\"><script>\n</pre>\n```":           "<pre><code>&lt;/pre&gt;\n</code></pre>\n",
		"```go\nfunc a() { return \"<b>\" }\n```": "<pre><code><span class=\"kw\">func</span> <span class=\"na\">a</span>() { <span class=\"kw\">return</span> <span class=\"st\">&#34;&lt;b&gt;&#34;</span> }\n</code></pre>\n",
		"[a]: javascript:x \"t\"\n\n[a]":          "<p>a (javascript:x)</p>\n",
		"a\nb":                                    "<p>a<br>\nb</p>\n",
		strings.Repeat("> ", 300) + "a<b>":        "<pre>" + strings.Repeat("&gt; ", 300) + "a&lt;b&gt;</pre>",
	} {
		require.Equal(t, want, NewHTML().Markdown(text), "%q", text)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add("<script>owned()</script> [a](javascript:x) ![b](//c) <a href=x onclick=y> **c** |d|\n|-|\n")
	f.Fuzz(func(t *testing.T, text string) {
		began := time.Now()
		root, err := html.Parse(strings.NewReader(NewHTML().Markdown(text)))
		require.NoError(t, err)
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			require.NotContains(t, []string{"script", "iframe", "svg", "img", "object", "embed", "base", "form", "link", "meta", "style"}, n.Data)
			for _, a := range n.Attr {
				switch a.Key {
				case "href":
					require.Regexp(t, `^(?i:https?://|mailto:)`, a.Val)
				default:
					require.Contains(t, []string{"rel", "class", "start"}, a.Key)
				}
			}
		}
		require.Less(t, time.Since(began), 10*time.Second)
	})
}

// Code keeps its text, in each language and in none.
func FuzzHTMLCode(f *testing.F) {
	for _, name := range []string{"a.go", "b.py", "Makefile", "c.json", "d"} {
		f.Add(name, "func a() { return \"<b>\" }\n\n// é &amp; \n")
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\r\x00") {
			t.Skip("a page has neither")
		}
		root, err := html.Parse(strings.NewReader("<body><pre>\n" + NewHTML().Code(name, text) + "</pre>"))
		require.NoError(t, err)
		var b strings.Builder
		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				b.WriteString(n.Data)
			}
		}
		require.Equal(t, text, b.String())
	})
}
