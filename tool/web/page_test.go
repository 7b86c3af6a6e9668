package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"jp/tool/web"
)

func TestMarkdown(t *testing.T) {
	for name, tt := range map[string]struct{ page, want string }{
		"a table":                {`<table><thead><tr><th>Version</th><th>Released</th></tr></thead><tbody><tr><td>1.2</td><td>2024</td></tr></tbody></table>`, "| Version | Released |\n|---|---|\n| 1.2 | 2024 |"},
		"without end tags":       {`<p>before <table><tr><th>A<th>B<tr><td>1<td>2|3</table>after`, "before\n\n| A | B |\n|---|---|\n| 1 | 2\\|3 |\n\nafter"},
		"thead and two bodies":   {`<table><thead><tr><th>A<th>B<tbody><tr><td>1<td>2<tbody><tr><td>3<td>4<tfoot><tr><td>5<td>6</table>`, "| A | B |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |"},
		"a caption":              {`<table><caption>Sizes</caption><tr><th>A<th>B<tr><td>1<td>2</table>`, "Sizes\n\n| A | B |\n|---|---|\n| 1 | 2 |"},
		"roles":                  {roles("div", "div", "div"), byRoles},
		"roles of spans":         {roles("section", "span", "span"), byRoles},
		"roles of a list":        {roles("ul", "li", "b"), "| **Version** | **Released** |\n|---|---|\n| **1.2** | **2024** |"},
		"roles and headings":     {roles("div", "p", "h3"), byRoles},
		"roles of links":         {`<div role=grid><div role=row><a role=gridcell href=/a>A</a><code role=gridcell>b</code></div></div>`, "| [A](https://example.com/a) | `b` |\n|---|---|"},
		"roles without ends":     {`<div role=table><div role=row><span role=cell>1<span role=cell>2</div><div role=row><span role=cell>3</span><span role=cell>4</div></div>after`, "| 1 | 2 |\n|---|---|\n| 3 | 4 |\n\nafter"},
		"a table in a role":      {`<div role=table><div role=row><div role=cell>a</div><div role=cell><table><tr><td>1<td>2</table></div></div></div>`, "a\n\n| 1 | 2 |\n|---|---|"},
		"a role in a table":      {`<table><tr><td>a<td><div role=row><span role=cell>b</span><span role=cell>c</span></div></table>`, "a\n\nb\nc"},
		"cells of no table":      {`<p><span role=cell>b</span><span role=cell>c</span>`, "b\nc"},
		"one column of a grid":   {`<div role=grid><div role=row><div role=gridcell><p>a<p>b</div></div><div role=row><div role=gridcell>c</div></div></div>`, "a\n\nb\n\nc"},
		"spans":                  {`<table><tr><th>A<th colspan=2>B<tr><td rowspan=2>r<td>1<td>x<tr><td>2<td>y</table>`, "| A | B |  |\n|---|---|---|\n| r | 1 | x |\n| r | 2 | y |"},
		"a list and code":        {"<table><tr><th>a<th>b<tr><td><ul><li>x<li>y</ul><td><pre>l1\n  l2</pre></table>", "| a | b |\n|---|---|\n| - x<br>- y | `l1`<br>`  l2` |"},
		"a table in a table":     {`<table><tr><th>a<th>b<tr><td><table><tr><td>n1<td>n2<tr><td>n3<td>n4</table><td>z</table>`, "| a | b |\n|---|---|\n| \\| n1 \\| n2 \\|<br>\\| n3 \\| n4 \\| | z |"},
		"a table in a link":      {`<a href="/x"><table><tr><th>A<th>B<tr><td>1<td>2</table></a>`, "| A | B |\n|---|---|\n| 1 | 2 |"},
		"a table for layout":     {`<table><tr><td>nav<ul><li>1<li>2</ul></td><td><h1>T</h1><p>long</p><table><tr><th>k<th>v<tr><td>1<td>2</table></td></tr></table>`, "nav\n- 1\n- 2\n\n# T\n\nlong\n\n| k | v |\n|---|---|\n| 1 | 2 |"},
		"code with line numbers": {"<table><tr><td><pre>1\n2</pre><td><pre>a\n b</pre></table>", "```\n1\n2\n```\n\n```\na\n b\n```"},
		"cells without a table":  {`<tr><td>one<td>two`, "one\ntwo"},
		"definitions":            {`<dl><dt>Term<dd>one<dd>two<dt>T2<dd>three</dl>`, "Term\n: one\n: two\nT2\n: three"},
		"lists":                  {`<ul><li>a<ul><li>b</ul><li>d<p>para</ul><ol start=9><li>x<li>y</ol><ul><li></li><li>z</ul>`, "- a\n  - b\n- d\n\n  para\n\n9. x\n10. y\n- z"},
		"quotes":                 {`<blockquote><p>q1<p>q2<blockquote>deep</blockquote></blockquote>end`, "> q1\n>\n> q2\n>\n> > deep\n\nend"},
		"marks":                  {"a <b> bold </b> b<i></i> <code>x ` y</code>, 10<sup>6</sup> <s>old</s>", "a **bold** b ``x ` y``, 10^6 ~~old~~"},
		"links":                  {`<p><a href="/x(1)"><div>A</div><h3>card</h3></a> <a href="#y">here</a> <a href="javascript:z">there</a> <img src="i.png" alt="An image">`, "[A card](https://example.com/x%281%29) here there ![An image](https://example.com/dir/i.png)"},
		"code":                   {"<pre><code class='language-go'>\nfunc main() {\n\tx := `a`\n}\n</code></pre>tail", "```go\nfunc main() {\n\tx := `a`\n}\n```\n\ntail"},
		"code with a fence":      {"<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"},
		"lines":                  {`<div>one</div><div>two<br>three<br><br>four</div><hr><h2>Head</h2><p>x`, "one\ntwo\nthree\n\nfour\n\n---\n\n## Head\n\nx"},
		"no escapes":             {`<p>my_func() *args [0] 1. &lt;b&gt;`, "my_func() *args [0] 1. <b>"},
		"hidden, badly closed":   {`<div hidden>HID<b><span></b>HID</span></div>seen<svg><style/><p>HID</svg><p>too`, "seen\n\ntoo"},
		"drawn by a script":      {`<div id="root"></div><script src=a></script><noscript>Enable it.</noscript>`, "[The page has no text: it is drawn by JavaScript, which web_fetch does not run.]\n\nEnable it."},
		"a script is awaited":    {`<div id="app">Loading…</div><script>x</script>`, "[The page has no text: it is drawn by JavaScript, which web_fetch does not run.]\n\nLoading…"},
		"text and a script":      {`<p>Loading docks of the harbour.</p><p>They are used to load and to unload ships.</p><script>x</script>`, "Loading docks of the harbour.\n\nThey are used to load and to unload ships."},
		"no text":                {`<div></div>`, "[The page has no text.]"},
		"sent elsewhere":         {`<meta http-equiv="Refresh" content="0; URL='https://example.org/new'"><p>moved</p>`, "The page redirects to https://example.org/new\nIt was not followed. Call web_fetch with it, if it is what you want.\n\nmoved"},
		"sent elsewhere, bare":   {`<meta http-equiv=refresh content="5;/next">`, "The page redirects to https://example.com/next\nIt was not followed. Call web_fetch with it, if it is what you want."},
		"read again and again":   {`<meta http-equiv=refresh content="30"><p>news`, "news"},
		"frames":                 {`<frameset><frame src=a.html title="Index  of all"><frame src="javascript:x"></frameset><noframes>HID</noframes>`, "[Index of all](https://example.com/dir/a.html)"},
		"an iframe":              {`<p>before<iframe src="/map" title=Map>HID</iframe>after<iframe src=/pixel width=1 height=1></iframe><iframe src=/x hidden></iframe><iframe src="about:blank"></iframe>`, "before\n[Map](https://example.com/map)\nafter"},
		"embedded":               {`<object data=a.pdf>HID</object><embed src=b.pdf>`, "[object](https://example.com/dir/a.pdf)\n[embed](https://example.com/dir/b.pdf)"},
		"cells by style":         {`<div style="display:table"><div style="display: table-row"><span style="display:table-cell">1</span><span style="DISPLAY:table-cell !important">2</span></div><p style="display:table-row"><b style="display:table-cell">3</b><i style="display:table-cell">4</i></p></div>`, "| 1 | 2 |\n|---|---|\n| **3** | *4* |"},
		"cells of no row":        {`a<span style="display:table-cell">b</span><span style="display:table-cell">c</span>`, "a\nb\nc"},
		"blocks by style":        {`<span style="display:block">a</span><span style="display:flex">b</span><b style="color:red">c</b><a href=/x style="display:block">d</a>`, "a\nb\n**c**\n[d](https://example.com/x)"},
		"code lines by style":    {`<pre><span style="display:block">a</span><span style="display:block">b</span></pre>`, "```\na\nb\n```"},
		"a drawing":              {`see <svg width=20><title> Build </title><style>HID</style><g><text>pass<tspan>ing</tspan></text><text>9</text></g><defs><text>HID</text></defs></svg> now`, "see ![Build: passing 9]() now"},
		"an icon":                {`<a href=/x><svg><title>GitHub</title><path d="M0"/></svg></a> <svg aria-label="Home"/><svg aria-label="Home"></svg><svg aria-hidden=true><title>HID</title></svg><svg><path/></svg>`, "[![GitHub]()](https://example.com/x) ![Home]()"},
		"sprites":                {`<svg width=0 height=0><symbol><title>HID</title></symbol><title>HID</title></svg>a`, "a"},
		"a formula":              {`<p>so <math><mrow><mi>x</mi><mo>=</mo><mfrac><mrow><mo>−</mo><mi>b</mi><mo>+</mo><msqrt><msup><mi>b</mi><mn>2</mn></msup><mo>−</mo><mn>4</mn></msqrt></mrow><mrow><mn>2</mn><mo>&#x2062;</mo><mi>a</mi></mrow></mfrac></mrow></math>.`, "so x = (− b + √(b^2 − 4))/2a."},
		"indices":                {`<math><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup><mo>(</mo><mi>y</mi><mo>)</mo></math>`, "x_i^2(y)"},
		"TeX":                    {`<p><math alttext="{\\alt}"><semantics><mrow><mi>a</mi></mrow><annotation encoding="application/x-tex">\frac{a}{b}</annotation><annotation-xml><mi>HID</mi></annotation-xml></semantics></math> and <math alttext="x^2"><mi>x</mi></math><span aria-hidden=true>HID</span>`, "$\\frac{a}{b}$ and $x^2$"},
		"TeX apart":              {`<p>a<math display=block alttext="x"><mi>y</mi></math>b`, "a\n\n$$x$$\n\nb"},
		"a matrix":               {`<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable></math>`, "1, 2; 3, 4"},
		"a base":                 {`<base href="/other/"><a href=x>y</a>`, "[y](https://example.com/other/x)"},
	} {
		t.Run(name, func(t *testing.T) {
			text, _, err := web.Markdown(t.Context(), tt.page, "https://example.com/dir/page")
			require.NoError(t, err)
			require.Equal(t, tt.want, strings.TrimSpace(text))
		})
	}
}

// hostile are pages that make a converter slow or large.
func hostile() map[string]string {
	const size = 1 << 20
	fill := func(before, unit string) string { return before + strings.Repeat(unit, size/len(unit)) }
	numbered := func(before, unit string, n int) string {
		var b strings.Builder
		b.WriteString(before)
		for i := range n {
			fmt.Fprintf(&b, unit, i)
		}
		return b.String()
	}
	return map[string]string{
		"marks":                fill("<p>", "*_`["),
		"formulas in formulas": fill("<math>", "<mfrac><mi>x</mi>"),
		"parts of a formula":   fill("<math><mfrac>", "<mrow><mi>x</mi></mrow>"),
		"one long part":        fill("<math><mfrac>"+strings.Repeat("<mrow>", 400), "<mi>x</mi>"),
		"texts of drawings":    fill("", "<svg><text>a"),
		"backticks":            fill("<code>", "`"),
		"runs of backticks":    fill("<pre>", "`x"),
		"entities":             fill("<p>", "&CounterClockwiseContourIntegra"),
		"angles":               fill("", "<"),
		"lines":                fill("<p>", "\n"),
		"comments":             fill("", "<!--"),
		"scripts":              fill("<script><!--", "<script"),
		"titles":               fill("", "<title>"),
		"quotes":               fill(strings.Repeat("<blockquote>", 300), "a<br>"),
		"quotes in quotes":     fill("", "<blockquote>a"),
		"lists":                fill(strings.Repeat("<ul><li>", 200), "a<br>"),
		"lists in lists":       fill("", "<ul><li><ol><li>"),
		"items":                fill("<ul>", "<li>a"),
		"items in no list":     fill("<li><ul>"+strings.Repeat("<y>", 500), "<li></li>"),
		"headings":             fill("", "<h1>a"),
		"links":                fill("", "<a href=x>y</a>"),
		"links in links":       fill("", "<a href=x>"),
		"links from far":       fill("<base href=https://e.example/"+strings.Repeat("a", 1900)+"/>", "<a href=x>y</a>"),
		"paragraphs in links":  fill("<p>"+strings.Repeat("<a>", 500), "<div></div>"),
		"bold":                 fill("", "<b>"),
		"fonts":                fill(numbered("", "<font a=%d>", 500), "<p>a"),
		"definitions":          fill("<dl>", "<dt>a<dd>b"),
		"breaks":               fill("<pre>", "a<br>"),
		"rows":                 fill("<table>", "<tr><td>a<td>b"),
		"empty rows":           fill("<table>", "<tr>"),
		"cells":                fill("<table><tr>", "<td>a"),
		"cells, then rows":     "<table><tr>" + strings.Repeat("<td>a", 50_000) + strings.Repeat("<tr><td>b", 50_000),
		"spans":                fill("<table>", "<tr><td colspan=1000 rowspan=1000>a<td rowspan=1000>"+strings.Repeat("x", 79)),
		"a span":               "<table><tr><td colspan=999999999 rowspan=999999999>a<td>b<tr><td>c",
		"tables in tables":     fill("", "<table><tr><td>a"),
		"wide cells, nested":   strings.Repeat("<table><tr><td>a<td>", 10) + strings.Repeat("|", size),
		"bold in no cell":      fill("<table>", "<b>a"),
		"attributes":           numbered("<p", " a%d=b", size/10),
		"a style":              fill("<p style='", "a:b;") + "'>x",
		"open elements":        fill(strings.Repeat("<x>", 511), "</x><x>"),
		"ends without starts":  fill("<x>"+strings.Repeat("<y>", 510), "</z></div></p>"),
		"hidden":               fill("", "<p hidden>"),
	}
}

// Work is counted in place of time: the machine may be slow.
func TestHostilePages(t *testing.T) {
	for name, page := range hostile() {
		text, work, err := web.Markdown(t.Context(), page, "https://example.com/")
		require.NoError(t, err, name)
		require.LessOrEqual(t, work, 3*web.MostWork, name)
		require.LessOrEqual(t, len(text), web.MostText+2000, name)
	}
}

// A conversion ends with its context. It reads the context a bounded number of times.
func TestConversionIsCancelled(t *testing.T) {
	for name, page := range hostile() {
		if !strings.ContainsAny(page[len(page)/2:], "<") {
			continue // it is one token
		}
		ctx := &ending{Context: t.Context(), left: 100}
		_, _, err := web.Markdown(ctx, page, "https://example.com/")
		if err == nil {
			require.Positive(t, ctx.left, name)
			continue
		}
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

func FuzzMarkdown(f *testing.F) {
	f.Add(`<table><tr><td rowspan=3>a<td><table><tr><th>b</table><ul><li>c<pre>d`)
	f.Add(`<a href="x"><b><p>a</b><code>b<div>c</code></a><blockquote><dl><dt>d<dd>e</blockquote>f`)
	f.Add(`<svg><title>a</svg><select><option>b<noscript>c</noscript><dialog open>d<li>e`)
	f.Fuzz(func(t *testing.T, page string) {
		page = strings.ToValidUTF8(page, "")
		text, work, err := web.Markdown(t.Context(), page, "https://example.com/")
		require.NoError(t, err)
		require.True(t, utf8.ValidString(text))
		require.LessOrEqual(t, work, 3*web.MostWork)
	})
}

const byRoles = "| Version | Released |\n|---|---|\n| 1.2 | 2024 |"

// roles is a table of other elements.
func roles(table, row, cell string) string {
	part := func(name, role, text string) string {
		return "<" + name + " role=" + role + ">" + text + "</" + name + ">"
	}
	line := func(role, a, b string) string { return part(row, "row", part(cell, role, a)+part(cell, role, b)) }
	return part(table, "table", part("div", "rowgroup", line("columnheader", "Version", "Released"))+part("div", "rowgroup", line("cell", "1.2", "2024")))
}
