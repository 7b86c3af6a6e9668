package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"

	"jp/conversation"
)

// Options are the settings of a page.
type Options struct {
	// Markdown renders the model's text, and Code the lines of a file by its name, without a change of
	// their text. Their results must be safe in a page.
	Markdown func(text string) string
	Code     func(file, text string) string
	// Page is the address of another conversation's page, "" if it has none.
	Page func(id conversation.ID) string
	// Forks are the conversations that say they were forked from this one.
	Forks []Fork
}

// A Fork is a conversation that was forked from another one.
type Fork struct {
	ID    conversation.ID
	Title string
	Seq   int // the newest event that they share
}

// ImagePayload reports whether a page needs a payload.
func ImagePayload(p conversation.Payload) bool { return isImage(p) }

//go:embed page.css
var styles string

// policy is the only things that a page may load: its style, and images that stand in the page
// itself.
var policy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(styles))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
})

// A fact is one known property of the conversation.
type fact struct{ Name, Value string }

// facts are the conversation's properties, safe to show.
func (s *Source) facts() []fact {
	sum := s.summary
	facts := []fact{
		{"Conversation", shown(s.View.Name())},
		{"Time", stampRange(sum.Created, sum.LastEventAt)},
		{"Size", conversation.Count(sum.Turns, "turn") + ", " + conversation.Count(s.size, "event")},
	}
	if agent := sum.Labels[conversation.LabelImportedFrom]; agent != "" {
		facts = append(facts, fact{"Imported from", shown(agent)})
	}
	if sum.Model != "" {
		facts = append(facts, fact{"Model", shown(sum.Model)})
	}
	if words := usageWords(sum.Usage); words != nil {
		facts = append(facts, fact{"Usage", words[0]})
	}
	if s.View.Tail != nil && !s.View.Tail.Empty() {
		facts = append(facts, fact{"State", "The last turn is incomplete."})
	}
	if s.View.Broken != nil {
		facts = append(facts, fact{"Damaged", "The events end before one that cannot be read."})
	}
	if s.Absent > 0 {
		facts = append(facts, fact{"Missing", conversation.Count(s.Absent, "attachment") + " not found here"})
	}
	return append(facts, fact{"Secrets", or(s.Secrets(), "none found")})
}

func stampRange(from, to time.Time) string {
	const layout = "2006-01-02 15:04"
	a, b := from.UTC().Format(layout), to.UTC().Format(layout)
	if a == b {
		return a + " UTC"
	}
	return a + " to " + b + " UTC"
}

// Page is the conversation as a page of HTML: one file, which runs no script and loads nothing.
func (s *Source) Page(ctx context.Context, o Options) (*Document, error) {
	if o.Page == nil {
		o.Page = func(conversation.ID) string { return "" }
	}
	var of *Document
	var forks map[int][]link
	p := &page{options: o}
	d, err := s.turns(ctx, func(d *Document, t turn) error {
		if of != d { // it begins
			of, p.turns, forks = d, nil, map[int][]link{}
			for _, f := range o.Forks {
				title := shown(s.beside.Text(f.Title))
				forks[f.Seq] = append(forks[f.Seq], link{fmt.Sprintf("fork: %s (%s)", or(title, string(f.ID)), f.ID.Short()), f.ID, -1})
			}
		}
		for i := range t.Entries {
			n := &t.Entries[i]
			n.Links = append(n.Links, forks[n.Seq]...)
		}
		section := bytes.NewBufferString("\n")
		if err := html.Render(section, p.section(t)); err != nil {
			return err
		}
		t.Entries = nil
		p.turns = append(p.turns, t)
		return d.add(section.Bytes())
	})
	if err != nil {
		return nil, err
	}
	const sections = "<main>"
	var whole bytes.Buffer
	err = document(&whole, shown(s.Title()), "", p.header(shown(s.Title()), s.facts()), &html.Node{Type: html.RawNode, Data: sections + "</main>"})
	d.head, d.foot, _ = bytes.Cut(whole.Bytes(), []byte(sections))
	d.head = append(d.head[:len(d.head):len(d.head)], sections...)
	return d, err
}

// A page is made of nodes, which [html.Render] writes with all text escaped.
type page struct {
	turns   []turn // without their entries
	options Options
}

func (p *page) header(name string, facts []fact) *html.Node {
	top := element("header", "class=top")
	if back := p.options.Page(""); back != "" {
		top.AppendChild(element("p", "", element("a", "href="+back, textNode("All conversations"))))
	}
	list := element("dl", "")
	for _, f := range facts {
		list.AppendChild(element("div", "", element("dt", "", textNode(f.Name)), element("dd", "", textNode(f.Value))))
	}
	add(top, element("h1", "", textNode(name)), list)
	if len(p.turns) <= 2 {
		return top
	}
	turns := element("ol", "")
	for _, t := range p.turns {
		if t.Number == 0 {
			continue
		}
		number := strconv.Itoa(t.Number)
		item := element("li", "value="+number, element("a", "href=#t"+number, textNode(or(t.Title, "Turn "+number))))
		if t.Discarded {
			item.AppendChild(textNode(" (discarded)"))
		}
		add(turns, item)
	}
	return add(top, element("nav", "aria-label=Turns", element("details", "", element("summary", "", textNode("Turns")), turns)))
}

func (p *page) section(t turn) *html.Node {
	class, title := "turn", "Before the first turn"
	if t.Number > 0 {
		title = "Turn " + strconv.Itoa(t.Number)
	}
	if t.Discarded {
		class, title = "turn discarded", title+" (discarded)"
	}
	day := element("small", "", textNode(t.Entries[0].At.UTC().Format("2006-01-02 UTC")))
	section := add(element("section", "class="+class), element("h2", "", textNode(title+" "), day))
	set(section, "id", "t"+strconv.Itoa(t.Number))
	// The events of a tool call go into its box.
	var all []box
	at := map[int]int{} // the box of a call
	for _, e := range t.Entries {
		i, known := at[e.Of]
		if e.Of == 0 || !known {
			at[e.Seq] = len(all)
			all = append(all, box{entry: e})
			continue
		}
		b := &all[i]
		b.parts = append(b.parts, e)
		if e.Allowed != "" {
			b.Allowed, b.Wire = e.Allowed, e.Wire
		}
		if e.Kind == "tool" { // its result
			b.Who, b.Line, b.Failed = e.Who, strings.TrimPrefix(strings.TrimPrefix(e.Line, e.Who), " "), e.Failed
		}
	}
	for _, b := range all {
		add(section, p.article(b.entry, b.parts))
	}
	return section
}

// A box is an entry, and those of the same tool call.
type box struct {
	entry
	parts []entry
}

// article is an event, or a tool call with all that belongs to it.
func (p *page) article(e entry, parts []entry) *html.Node {
	kind, anchor := e.Kind, "e"+strconv.Itoa(e.Seq)
	if e.Failed {
		kind += " failed"
	}
	article := element("article", "class="+kind)
	set(article, "id", anchor)
	head := element("p", "class=head", element("b", "", textNode(e.Who)))
	if e.Line != "" {
		head.AppendChild(textNode(" "))
		head.AppendChild(element("span", "class=line", textNode(e.Line)))
	}
	clock := element("time", "datetime="+e.At.UTC().Format(time.RFC3339), textNode(e.At.UTC().Format(time.TimeOnly)))
	set(clock, "title", e.At.UTC().Format(time.RFC3339))
	at := element("span", "class=at")
	if e.Allowed != "" {
		by := element("span", "class=by", textNode(e.Allowed))
		set(by, "title", e.Wire)
		at.AppendChild(by)
		at.AppendChild(textNode(" "))
	}
	for _, n := range []*html.Node{clock, textNode(" "), element("a", "href=#"+anchor, textNode("@"+strconv.Itoa(e.Seq)))} {
		at.AppendChild(n)
	}
	head.AppendChild(textNode(" "))
	head.AppendChild(at)
	add(article, head)
	used := e.Notes // stands below the result
	if len(parts) > 0 {
		e.Notes = nil
	}
	add(article, p.content(e)...)
	for _, part := range parts {
		inner := element("div", "id=e"+strconv.Itoa(part.Seq))
		if part.Said {
			part.Text, part.Notes = "", nil
		}
		add(inner, p.content(part)...)
		add(article, inner)
	}
	if len(parts) > 0 {
		add(article, notes(used)...)
	}
	return article
}

// content is the part of an event below its first line.
func (p *page) content(e entry) (all []*html.Node) {
	switch {
	case e.Text == "":
	case e.Markdown:
		all = append(all, element("div", "class=said", &html.Node{Type: html.RawNode, Data: p.options.Markdown(e.Text)}))
	case e.Data:
		all = append(all, element("pre", "", element("code", "", p.code("a.json", indented(e.Text)))))
	default:
		all = append(all, element("div", "class=said words", textNode(e.Text)))
	}
	for _, f := range e.Folds {
		text := textNode(f.Text)
		if f.Label == labelArguments {
			text = p.code("a.json", indented(f.Text))
		}
		details := element("details", "", element("summary", "", textNode(f.Label)), element("pre", "", text))
		if e.Failed && f.Label != labelArguments { // the error
			set(details, "open", "")
		}
		all = append(all, details)
	}
	if e.Patch != "" {
		patch := element("details", "class=patch", element("summary", "", textNode("Changed files")), element("pre", "", p.patch(e.Patch)))
		set(patch, "open", "")
		all = append(all, patch)
	}
	for _, i := range e.Images { // isImage knows the types
		picture := element("img", "alt="+i.Name)
		set(picture, "src", "data:"+i.MediaType+";base64,"+base64.StdEncoding.EncodeToString(i.Data))
		all = append(all, element("figure", "", picture, element("figcaption", "", textNode(i.Name))))
	}
	for _, l := range e.Links {
		words := textNode(l.Words)
		target := p.options.Page(l.ID)
		if target != "" && l.Seq >= 0 {
			target += fmt.Sprintf("#e%d", l.Seq)
		}
		if target != "" {
			words = element("a", "href="+target, words)
		}
		all = append(all, element("p", "class=note", words))
	}
	return append(all, notes(e.Notes)...)
}

func notes(lines []string) (all []*html.Node) {
	for _, line := range lines {
		all = append(all, element("p", "class=note", textNode(line)))
	}
	return all
}

// code is lines of a file, coloured if the page has colours for code.
func (p *page) code(file, text string) *html.Node {
	if p.options.Code == nil {
		return textNode(text)
	}
	return &html.Node{Type: html.RawNode, Data: p.options.Code(file, text)}
}

// patch is a difference, in pieces of one kind. The lines have the colours of their file.
func (p *page) patch(text string) *html.Node {
	lines, file := element("code", ""), ""
	for _, d := range pieces(text) {
		span := element("span", "class="+d.Class)
		lines.AppendChild(span)
		if d.Class == "file" {
			for line := range strings.Lines(d.Text) {
				if name, found := strings.CutPrefix(strings.TrimRight(line, "\n"), "+++ b/"); found {
					file = name
				}
			}
		}
		if d.Class != "add" && d.Class != "del" && d.Class != "same" || p.options.Code == nil {
			span.AppendChild(textNode(d.Text))
			continue
		}
		var marks, rest strings.Builder
		for line := range strings.Lines(d.Text) {
			if line == "\n" {
				line = " \n"
			}
			marks.WriteByte(line[0])
			rest.WriteString(line[1:])
		}
		for i, line := range strings.SplitAfter(p.options.Code(file, rest.String()), "\n") {
			if line == "" {
				continue
			}
			if i < marks.Len() {
				span.AppendChild(textNode(marks.String()[i : i+1]))
			}
			span.AppendChild(&html.Node{Type: html.RawNode, Data: line})
		}
	}
	return lines
}

// indented is JSON with a line for each value.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// A piece is lines of a diff of one kind.
type piece struct{ Class, Text string }

// pieces parts a diff into pieces of one kind.
func pieces(patch string) (all []piece) {
	hunks := false
	for line := range strings.Lines(patch) {
		class := "same"
		switch {
		case !hunks && strings.HasPrefix(line, "index "):
			continue
		case strings.HasPrefix(line, "diff "):
			hunks, class = false, "file"
		case !hunks && !strings.HasPrefix(line, "@@"):
			class = "file"
		case strings.HasPrefix(line, "@@"):
			hunks, class = true, "hunk"
		case line[0] == '+':
			class = "add"
		case line[0] == '-':
			class = "del"
		}
		if n := len(all); n > 0 && all[n-1].Class == class {
			all[n-1].Text += line
			continue
		}
		all = append(all, piece{class, line})
	}
	return all
}
