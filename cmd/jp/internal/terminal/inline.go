package terminal

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
)

// inline is the text within a block, with the looks it has on top of one.
func (d *document) inline(parent ast.Node, on look) []span {
	w := &inlineWriter{document: d}
	w.children(parent, on)
	return w.spans
}

// An inlineWriter writes text, links and emphasis as spans. Without colours, the marks of Markdown
// replace the looks.
type inlineWriter struct {
	*document
	spans []span
}

func (w *inlineWriter) write(text string, on look) {
	w.spans = append(w.spans, span{strings.ReplaceAll(text, "\n", " "), on})
}

func (w *inlineWriter) children(parent ast.Node, on look) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.node(n, on)
	}
}

func (w *inlineWriter) node(node ast.Node, on look) {
	switch n := node.(type) {
	case *ast.Text:
		w.text(n, on)
	case *ast.CodeSpan:
		w.code(n, on)
	case *ast.Emphasis:
		w.emphasis(n, on)
	case *extended.Strikethrough:
		w.marked(n, "~~", on)
	case *ast.Link:
		w.link(n, string(n.Destination), on)
	case *ast.Image:
		w.link(n, string(n.Destination), on)
	case *ast.AutoLink:
		w.write(string(n.Label(w.source)), on|address)
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			w.write(string(segment.Value(w.source)), on|verbatim)
		}
	}
}

func (w *inlineWriter) text(n *ast.Text, on look) {
	text := string(n.Value(w.source))
	if !n.IsRaw() {
		text = resolve(text)
	}
	w.write(text, on)
	switch {
	case n.HardLineBreak():
		w.spans = append(w.spans, lineBreak)
	case n.SoftLineBreak():
		w.write(" ", on)
	}
}

func (w *inlineWriter) code(n *ast.CodeSpan, on look) {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if part, ok := child.(*ast.Text); ok {
			b.Write(part.Value(w.source))
		}
	}
	mark := ""
	if !w.palette.On() {
		mark = "`"
	}
	w.write(mark+b.String()+mark, on|code|verbatim)
}

func (w *inlineWriter) emphasis(n *ast.Emphasis, on look) {
	switch {
	case !w.palette.On():
		w.marked(n, strings.Repeat("*", n.Level), on)
	case n.Level == 1:
		w.children(n, on|italic)
	default:
		w.children(n, on|bold)
	}
}

func (w *inlineWriter) marked(n ast.Node, mark string, on look) {
	w.write(mark, on)
	w.children(n, on)
	w.write(mark, on)
}

// link is the text of a link or image, and its destination, unless that is the text.
func (w *inlineWriter) link(n ast.Node, destination string, on look) {
	before := len(w.spans)
	w.children(n, on)
	target := resolve(destination)
	switch text := shown(w.spans[before:]); {
	case target == "":
	case text == target || text == strings.TrimPrefix(target, "mailto:"):
		w.spans = w.spans[:before]
		w.write(text, on|address)
	case strings.TrimSpace(text) == "":
		w.write(target, on|address)
	default:
		w.write(" (", on)
		w.write(target, on|address)
		w.write(")", on)
	}
}

// shown is the text of spans, without their looks.
func shown(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}
