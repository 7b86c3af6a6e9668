package export

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"jp/conversation"
)

// Options say what a page is made with.
type Options struct {
	// Markdown renders the model's text. What it returns must be safe in a page.
	Markdown func(text string) template.HTML
	// Page is the address of another conversation's page, "" where it has none.
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

//go:embed page.html
var pageText string

//go:embed page.css
var styles string

var pages = template.Must(template.New("page").Funcs(template.FuncMap{
	"clock":  func(at time.Time) string { return at.UTC().Format("15:04:05") },
	"day":    func(entries []entry) string { return entries[0].At.UTC().Format("2006-01-02 UTC") },
	"rfc":    func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
	"source": func(i image) template.URL { return imageURL(i) },
}).Parse(pageText))

// style is the page's style, and policy the only things that it may load: this style, and
// images that stand in the page itself.
var (
	style  = template.CSS(styles) //nolint:gosec // it is jp's own
	policy = func() string {
		sum := sha256.Sum256([]byte(styles))
		return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
	}()
)

func imageURL(i image) template.URL {
	return template.URL("data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)) //nolint:gosec // isImage knows the types
}

// A fact is a line of what is known of the conversation.
type fact struct{ Name, Value string }

// facts are what is known of the conversation, safe to show.
func (s *Source) facts() []fact {
	sum := s.summary
	facts := []fact{
		{"Conversation", shown(s.View.Name())},
		{"Time", stampRange(sum.Created, sum.LastEventAt)},
		{"Size", conversation.Count(sum.Turns, "turn") + ", " + conversation.Count(len(s.Events), "event")},
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

// Page writes the conversation as a page of HTML: one file, which runs no script and loads
// nothing.
func (s *Source) Page(ctx context.Context, w io.Writer, o Options) error {
	turns, err := s.turns(ctx)
	if err != nil {
		return err
	}
	if o.Page == nil {
		o.Page = func(conversation.ID) string { return "" }
	}
	forks := map[int][]link{}
	for _, f := range o.Forks {
		title := shown(s.outgoing.Text(f.Title))
		forks[f.Seq] = append(forks[f.Seq], link{fmt.Sprintf("fork: %s (%s)", or(title, string(f.ID)), f.ID.Short()), f.ID, -1})
	}
	for i := range turns {
		for j := range turns[i].Entries {
			n := &turns[i].Entries[j]
			n.Links = append(n.Links, forks[n.Seq]...)
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	err = pages.Execute(out, pageData{
		Source: s, Name: shown(s.Title()), Facts: s.facts(), Turns: turns, Style: style, Policy: policy, Back: o.Page(""),
		options: o,
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// pageData is what the template sees.
type pageData struct {
	*Source
	Name    string
	Facts   []fact
	Turns   []turn
	Style   template.CSS
	Policy  string
	Back    string // the list of the site, "" for a page of its own
	options Options
}

// Render is the model's text as HTML.
func (d pageData) Render(text string) template.HTML { return d.options.Markdown(text) }

// Href is where a link goes, "" where there is no page.
func (d pageData) Href(l link) string {
	page := d.options.Page(l.ID)
	if page != "" && l.Seq >= 0 {
		page += fmt.Sprintf("#e%d", l.Seq)
	}
	return page
}

// A piece is lines of a diff of one kind.
type piece struct{ Class, Text string }

// Diff parts a diff into pieces of one kind.
func (d pageData) Diff(patch string) (pieces []piece) {
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
		if n := len(pieces); n > 0 && pieces[n-1].Class == class {
			pieces[n-1].Text += line
			continue
		}
		pieces = append(pieces, piece{class, line})
	}
	return pieces
}
