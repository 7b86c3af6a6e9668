package export

import (
	"bufio"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// generator is in the head of every page.
const generator = `<meta name="generator" content="jp"/>`

// repositoryMeta names the repository of a site in the head of its list.
const repositoryMeta = "name=jp-repository"

// document writes a whole page. repository is the name of the repository whose site it belongs to, "" for
// none.
func document(w io.Writer, title, repository string, body ...*html.Node) error {
	head := add(element("head", ""),
		meta("charset=utf-8", ""),
		meta("http-equiv=Content-Security-Policy", policy()),
		meta("name=viewport", "width=device-width, initial-scale=1"),
		meta("name=referrer", "no-referrer"),
		meta("name=color-scheme", "light dark"),
		meta("name=generator", "jp"),
		element("title", "", textNode(title)),
		element("style", "", textNode(styles)))
	if repository != "" {
		head.InsertBefore(meta(repositoryMeta, repository), head.FirstChild.NextSibling)
	}
	root := &html.Node{Type: html.DocumentNode}
	root.AppendChild(&html.Node{Type: html.DoctypeNode, Data: "html"})
	root.AppendChild(add(element("html", "lang=en"), head, add(element("body", ""), body...)))
	out := bufio.NewWriterSize(w, 64<<10)
	if err := html.Render(out, root); err != nil {
		return err
	}
	return out.Flush()
}

// meta is one of the facts in the head of a page.
func meta(attribute, content string) *html.Node {
	n := element("meta", attribute)
	if content != "" {
		set(n, "content", content)
	}
	return n
}

// element is an element with at most one attribute, as NAME=VALUE, and its content.
func element(name, attribute string, children ...*html.Node) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: name}
	if key, value, ok := strings.Cut(attribute, "="); ok {
		set(n, key, value)
	}
	for _, c := range children {
		n.AppendChild(c)
	}
	return n
}

// set gives an element another attribute.
func set(n *html.Node, key, value string) {
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
}

// add puts children into an element, each on a line of its own.
func add(n *html.Node, children ...*html.Node) *html.Node {
	for _, c := range children {
		n.AppendChild(textNode("\n"))
		n.AppendChild(c)
	}
	return n
}

func textNode(s string) *html.Node { return &html.Node{Type: html.TextNode, Data: s} }
