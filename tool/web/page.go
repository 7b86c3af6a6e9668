package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/net/html"
)

// markdown makes Markdown of what a person sees of a page.
func markdown(page string, at *url.URL) (string, error) {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", fmt.Errorf("its HTML cannot be read: %w", err)
	}
	title := titleOf(doc)
	dropUnseen(doc)
	text, err := htmltomarkdown.ConvertNode(doc, converter.WithDomain(at.Scheme+"://"+at.Host))
	if err != nil {
		return "", fmt.Errorf("its HTML cannot be converted: %w", err)
	}
	if title != "" {
		return "Title: " + title + "\n\n" + string(text), nil
	}
	return string(text), nil
}

func titleOf(n *html.Node) string {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == "title" && d.FirstChild != nil {
			return strings.Join(strings.Fields(d.FirstChild.Data), " ")
		}
	}
	return ""
}

// dropUnseen takes away what a person does not see.
func dropUnseen(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if unseen(c) {
			n.RemoveChild(c)
		} else {
			dropUnseen(c)
		}
		c = next
	}
}

// neverSeen are elements whose content is not shown, or is of another page.
var neverSeen = []string{"script", "style", "noscript", "template", "head", "iframe", "object", "embed", "applet", "svg", "math", "canvas", "dialog", "datalist"}

func unseen(n *html.Node) bool {
	switch n.Type {
	case html.CommentNode, html.DoctypeNode:
		return true
	case html.ElementNode:
	default:
		return false
	}
	if slices.Contains(neverSeen, n.Data) && !(n.Data == "dialog" && has(n, "open")) {
		return true
	}
	for _, a := range n.Attr {
		switch strings.ToLower(a.Key) {
		case "hidden":
			return true
		case "aria-hidden":
			if strings.EqualFold(strings.TrimSpace(a.Val), "true") {
				return true
			}
		case "type":
			if n.Data == "input" && strings.EqualFold(strings.TrimSpace(a.Val), "hidden") {
				return true
			}
		case "style":
			if hides(a.Val) {
				return true
			}
		}
	}
	return false
}

func has(n *html.Node, key string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
}

// hides reports whether a style takes an element off the page.
func hides(style string) bool {
	for rule := range strings.SplitSeq(strings.ToLower(style), ";") {
		property, value, _ := strings.Cut(rule, ":")
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		switch strings.TrimSpace(property) {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "opacity", "font-size", "max-height", "max-width", "height", "width":
			if strings.Trim(value, "0.%pxemrt") == "" && strings.Contains(value, "0") && strings.Trim(value, "123456789") == value {
				return true
			}
		}
	}
	return false
}
