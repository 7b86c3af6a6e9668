package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"jp/conversation"
	"jp/internal/publicnet"
)

// Bounds of one page. jp reads a page up to the first bound that it reaches.
const (
	mostWork   = 16 << 20 // bytes that are written for it, and steps of searches. Half of them end the reading
	mostText   = 5 << 20  // bytes of its HTML, and of its Markdown
	mostTitle  = 1000     // bytes of its title
	mostOpen   = 512      // elements that are open at once
	mostTables = 4        // tables in each other
	mostIndent = 64       // bytes before each line, for lists and quotes
	mostSpan   = 1000     // columns or rows of one cell, as browsers have it
)

// A page is read token by token, without a tree, since a short page can make a parser build a huge one.
type page struct {
	at     *url.URL // the base of its links
	title  string
	moved  string // its refresh target
	script bool   // it has scripts
	cut    bool   // a bound was reached

	noscript bool // <noscript> is read

	open   []*element
	names  map[string]int // how many elements of a name are open
	deeper int            // elements that are open beyond [mostOpen]
	hidden int            // open elements hidden from people
	titled bool           // the title is being read
	flat   int            // open elements that stay on one line

	out    *sink
	tables []*table
	code   *verbatim // the open <code> or <pre>
	figure *figure   // the open <svg> or <math>; p.hidden counts it
	work   int
}

// An element is an open element.
type element struct {
	name    string
	part    string // its name, or that of the part of a table whose role it has
	hidden  bool
	marked  bool   // a mark precedes its text
	after   string // and this one behind it
	flat    bool
	indent  int       // bytes that it added to the beginning of lines
	first   string    // how the next line would begin without it
	number  int       // of the next item of a list
	code    *verbatim // its text
	table   bool
	cell    bool
	grouped bool  // a part of a formula whose text begins at indent
	outer   *sink // the sink around a cell
}

// verbatim is the text of <code> or <pre>.
type verbatim struct {
	text     []byte
	block    bool
	language string
}

// convert reads the visible text of a page, in time that grows with its bytes. If scripts draw the whole
// page, convert reads its text for browsers without scripts.
func convert(ctx context.Context, text string, at *url.URL) (*page, error) {
	p, err := readPage(ctx, text, at, false)
	if err == nil && p.blank() {
		if p, err = readPage(ctx, text, at, true); err == nil {
			p.out.text = append([]byte(p.nothing()), bytes.TrimSpace(p.out.text)...)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("its HTML cannot be read: %w", err)
	}
	return p, nil
}

// nothing explains why a page has no text.
func (p *page) nothing() string {
	switch {
	case p.moved != "":
		return ""
	case !p.script:
		return "[The page has no text.]\n\n"
	}
	return "[The page has no text: it is drawn by JavaScript, which " + Name + " does not run.]\n\n"
}

// mostWaiting is how long a text may be that pages show until their scripts have drawn the rest.
const mostWaiting = 64

// blank reports whether a page lacks text of its own, or has only a script's "Loading…".
func (p *page) blank() bool {
	text := bytes.TrimSpace(p.out.text)
	return len(text) == 0 || p.script && len(text) <= mostWaiting && waits(string(text))
}

func waits(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "loading") || strings.Contains(text, "javascript") || strings.HasPrefix(text, "please wait")
}

// String is the page's Markdown.
func (p *page) String() string {
	var b strings.Builder
	if p.title != "" {
		fmt.Fprintf(&b, "Title: %s\n\n", p.title)
	}
	if p.moved != "" {
		fmt.Fprintf(&b, "The page%s%s\nIt was not followed. Call %s with it, if it is what you want.\n\n", redirects, p.moved, Name)
	}
	text := bytes.ReplaceAll(bytes.TrimSpace(p.out.text), []byte{0}, []byte("\uFFFD"))
	if len(text) > mostText {
		text, p.cut = bytes.ToValidUTF8(text[:mostText], nil), true
	}
	b.Write(text)
	if p.cut {
		b.WriteString("\n\n[The rest of the page is left out: it is too long.]")
	}
	return b.String()
}

func readPage(ctx context.Context, text string, at *url.URL, noscript bool) (*page, error) {
	p := &page{at: at, names: map[string]int{}, out: &sink{}, noscript: noscript}
	if len(text) > mostText {
		text, p.cut = strings.ToValidUTF8(text[:mostText], ""), true
	}
	z := html.NewTokenizer(strings.NewReader(text))
	for p.work < mostWork/2 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return nil, err
			}
			p.closeTo(0)
			return p, nil
		case html.TextToken:
			p.text(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			t := readTag(z)
			foreign := p.names["svg"]+p.names["math"] > 0 || t.name == "svg" || t.name == "math"
			if foreign && kind == html.SelfClosingTagToken {
				z.NextIsNotRawText()
				continue
			}
			p.start(t)
		case html.EndTagToken:
			name, _ := z.TagName()
			p.end(string(name))
		}
	}
	p.cut = true
	p.closeTo(0)
	return p, nil
}

type tag struct {
	name  string
	attrs map[string]string // of those that matter
}

// matters reports whether jp reads an attribute.
func matters(name string) bool {
	switch name {
	case "alttext", "aria-label", "data", "display", "encoding", "height", "title", "width", "hidden", "aria-hidden", "style", "open", "href", "src", "alt", "class", "role", "colspan", "rowspan", "start", "value", "http-equiv", "content":
		return true
	}
	return false
}

func readTag(z *html.Tokenizer) tag {
	name, more := z.TagName()
	t := tag{name: string(name)}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if !matters(string(key)) {
			continue
		}
		if t.attrs == nil {
			t.attrs = map[string]string{}
		}
		if _, twice := t.attrs[string(key)]; !twice {
			t.attrs[string(key)] = string(value)
		}
	}
	return t
}

func (p *page) text(b []byte) {
	switch {
	case p.titled:
		if p.title == "" {
			p.title = conversation.Shorten(strings.Join(strings.Fields(string(b)), " "), mostTitle)
		}
	case p.figure != nil && p.hidden == 1:
		p.figure.word(p.open[len(p.open)-1], string(b))
	case p.hidden > 0:
	case p.code != nil:
		p.code.text = append(p.code.text, b...)
		p.work += len(b)
	default:
		p.words(b)
	}
}

// address is the target of a link, "" unless it is another address of the web.
func (p *page) address(link string) string {
	if link = strings.TrimSpace(link); link == "" || link[0] == '#' || len(link) > publicnet.MostURL {
		return ""
	}
	to, err := p.at.Parse(link)
	if err != nil {
		return ""
	}
	switch to.Scheme {
	case "http", "https", "mailto", "tel", "ftp":
		return strings.ReplaceAll(strings.ReplaceAll(to.String(), "(", "%28"), ")", "%29")
	}
	return ""
}

// refresh takes the target of a page that sends its reader elsewhere.
func (p *page) refresh(content string) {
	_, target, ok := strings.Cut(content, ";")
	if !ok {
		_, target, _ = strings.Cut(content, ",")
	}
	target = strings.TrimSpace(target)
	if len(target) >= 3 && strings.EqualFold(target[:3], "url") {
		if _, behind, ok := strings.Cut(target, "="); ok {
			target = strings.TrimSpace(behind)
		}
	}
	if p.moved == "" {
		p.moved = p.address(strings.Trim(target, `'"`))
	}
}
