package terminal

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"jp/cmd/jp/internal/terminal/highlight"
)

// HTML renders Markdown of a model, and code, for a page. The text may be hostile: HTML in it is text, images are
// links, and links go to the web or to a mailbox only. It colours code as long as its time for that lasts.
type HTML struct {
	markdown goldmark.Markdown
	time     *highlight.Time
}

// NewHTML returns an HTML, whose time for colours begins now.
func NewHTML() *HTML {
	r := &HTML{time: highlight.NewTime()}
	r.markdown = goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), extension.Strikethrough, extension.Linkify),
		goldmark.WithRenderer(renderer.NewRenderer(renderer.WithNodeRenderers(
			util.Prioritized(goldhtml.NewRenderer(goldhtml.WithHardWraps()), 1000),
			util.Prioritized(safeNodes{r}, 100),
		))),
	)
	return r
}

// Markdown renders a text.
func (r *HTML) Markdown(text string) string {
	var out bytes.Buffer
	if nestsDeeply(text) || r.markdown.Convert([]byte(text), &out) != nil {
		return "<pre>" + html.EscapeString(text) + "</pre>"
	}
	return out.String()
}

// Code renders lines of a file, with the colours of the language that its name tells.
func (r *HTML) Code(file, text string) string { return r.code(highlight.OfFile(file), text) }

// htmlClasses are those of the kinds of code in the style of a page.
var htmlClasses = map[highlight.Kind]string{
	highlight.Keyword: "kw", highlight.String: "st", highlight.Number: "nu", highlight.Comment: "co", highlight.Name: "na",
	highlight.Added: "add", highlight.Removed: "del", highlight.Heading: "file",
}

func (r *HTML) code(language *highlight.Language, text string) string {
	if language == nil || text == "" {
		return html.EscapeString(text)
	}
	text, ended := strings.CutSuffix(text, "\n")
	var b strings.Builder
	for i, parts := range highlight.New(language, r.time).Next(strings.Split(text, "\n")) {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, part := range parts {
			if class := htmlClasses[part.Kind]; class != "" {
				b.WriteString(`<span class="` + class + `">` + html.EscapeString(part.Text) + "</span>")
			} else {
				b.WriteString(html.EscapeString(part.Text))
			}
		}
	}
	if ended {
		b.WriteByte('\n')
	}
	return b.String()
}

// nestsDeeply reports whether a line opens more quotations, lists and brackets than any reader needs: the
// time to parse them grows with their square.
func nestsDeeply(text string) bool {
	const most = 200
	for line := range strings.Lines(text) {
		if strings.Count(line, ">")+strings.Count(line, "[")+strings.Count(line, "- ")+strings.Count(line, "*")+strings.Count(line, "_")+strings.Count(line, "`") > most && len(line) > 0 {
			return true
		}
	}
	return false
}

// safeNodes renders code, and the nodes that could load something, run something or go somewhere.
type safeNodes struct{ page *HTML }

func (s safeNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, s.rawHTML)
	r.Register(ast.KindHTMLBlock, s.block)
	r.Register(ast.KindImage, s.image)
	r.Register(ast.KindLink, s.link)
	r.Register(ast.KindAutoLink, s.autoLink)
	r.Register(ast.KindFencedCodeBlock, s.fenced)
}

func (s safeNodes) fenced(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	var text strings.Builder
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		text.Write(line.Value(source))
	}
	_, _ = w.WriteString("<pre><code>" + s.page.code(highlight.Of(string(block.Language(source))), text.String()) + "</code></pre>\n")
	return ast.WalkContinue, nil
}

func (safeNodes) rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		segments := n.(*ast.RawHTML).Segments
		for i := range segments.Len() {
			segment := segments.At(i)
			_, _ = w.WriteString(html.EscapeString(string(segment.Value(source)))) // the writer keeps its error
		}
	}
	return ast.WalkSkipChildren, nil
}

func (safeNodes) block(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.HTMLBlock)
	_, _ = w.WriteString("<pre>")
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		_, _ = w.WriteString(html.EscapeString(string(line.Value(source))))
	}
	if block.HasClosure() {
		_, _ = w.WriteString(html.EscapeString(string(block.ClosureLine.Value(source))))
	}
	_, _ = w.WriteString("</pre>\n")
	return ast.WalkContinue, nil
}

func (s safeNodes) image(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		openLink(w, n.(*ast.Image).Destination)
		_, _ = w.WriteString("image: ")
	} else {
		closeLink(w, n.(*ast.Image).Destination)
	}
	return ast.WalkContinue, nil
}

func (s safeNodes) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		openLink(w, n.(*ast.Link).Destination)
	} else {
		closeLink(w, n.(*ast.Link).Destination)
	}
	return ast.WalkContinue, nil
}

func (s safeNodes) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := n.(*ast.AutoLink)
	to := link.URL(source)
	if link.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(to), []byte("mailto:")) {
		to = append([]byte("mailto:"), to...)
	}
	openLink(w, to)
	_, _ = w.WriteString(html.EscapeString(string(link.Label(source))))
	closeLink(w, to)
	return ast.WalkContinue, nil
}

// goesOut reports whether a link goes to the web or to a mailbox.
func goesOut(to []byte) bool {
	lower := strings.ToLower(string(to))
	return strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "mailto:")
}

func openLink(w util.BufWriter, to []byte) {
	if goesOut(to) {
		_, _ = w.WriteString(`<a rel="noopener noreferrer nofollow" href="` + html.EscapeString(string(util.URLEscape(to, true))) + `">`)
	}
}

// closeLink closes a link. If none was opened, it shows the target of the text.
func closeLink(w util.BufWriter, to []byte) {
	if goesOut(to) {
		_, _ = w.WriteString("</a>")
		return
	}
	_, _ = w.WriteString(" (" + html.EscapeString(string(to)) + ")")
}
