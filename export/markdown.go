package export

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"jp/internal/lazy"
)

// Markdown is the conversation as Markdown. No text of the conversation can begin HTML in it, or end its
// quotation or its code.
func (s *Source) Markdown(ctx context.Context) (*Document, error) {
	d, err := s.turns(ctx, func(d *Document, t turn) error {
		var out bytes.Buffer
		title := fmt.Sprintf("Turn %d", t.Number)
		if t.Number == 0 {
			title = "Before the first turn"
		}
		if t.Discarded {
			title += " (discarded)"
		}
		fmt.Fprintf(&out, "\n## %s\n", title)
		for _, n := range t.Entries {
			n.markdown(&out)
		}
		return d.add(out.Bytes())
	})
	if err != nil {
		return nil, err
	}
	d.head = fmt.Appendf(nil, "# %s\n\n", plain(shown(s.Title())))
	for _, line := range s.facts() {
		d.head = fmt.Appendf(d.head, "- %s: %s\n", line.Name, plain(line.Value))
	}
	return d, nil
}

func (n entry) markdown(out *bytes.Buffer) {
	fmt.Fprintf(out, "\n<a id=\"e%d\"></a>\n**%s** · @%d · %s", n.Seq, plain(n.Who), n.Seq, n.At.UTC().Format(time.RFC3339))
	if n.Line != "" {
		fmt.Fprintf(out, " · %s", plain(n.Line))
	}
	out.WriteString("\n")
	switch {
	case n.Text == "":
	case n.Data:
		fmt.Fprintf(out, "\n%s", fenced("json", n.Text))
	case n.Markdown:
		fmt.Fprintf(out, "\n%s\n", withoutHTML(n.Text))
	default:
		out.WriteString("\n")
		for line := range strings.SplitSeq(n.Text, "\n") {
			fmt.Fprintf(out, "> %s  \n", plain(line))
		}
	}
	for _, f := range n.Folds {
		fmt.Fprintf(out, "\n<details><summary>%s</summary>\n\n%s\n</details>\n", plain(f.Label), fenced("", f.Text))
	}
	if n.Patch != "" {
		fmt.Fprintf(out, "\n%s", fenced("diff", n.Patch))
	}
	for _, i := range n.Images {
		fmt.Fprintf(out, "\n*Attached: %s*\n", plain(i.Name))
	}
	for _, l := range n.Links {
		fmt.Fprintf(out, "\n*%s*\n", plain(l.Words))
	}
	for _, note := range n.Notes {
		fmt.Fprintf(out, "\n*%s*\n", plain(note))
	}
}

// fenced is a code block that its text cannot end.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}

var special = lazy.Regexp("[\\\\`*_{}\\[\\]<>#+!|~&$-]")

// plain is a line as text in Markdown.
func plain(line string) string {
	return special().ReplaceAllString(oneLine(line), `\$0`)
}

var fenceLine = lazy.Regexp("^(`{3,})[^`]*$|^(~{3,})")

// withoutHTML is Markdown whose HTML is text. Only code that certainly is code keeps its
// signs: a block between fences at the margin.
func withoutHTML(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\r\n")
		switch {
		case fence != "":
			indent := len(bare) - len(strings.TrimLeft(bare, " "))
			if end := strings.TrimRight(bare[indent:], " \t"); indent < 4 && strings.HasPrefix(end, fence) && strings.Trim(end, fence[:1]) == "" {
				fence = ""
			}
		default:
			if m := fenceLine().FindStringSubmatch(bare); m != nil {
				fence = m[1] + m[2]
				break
			}
			line = strings.ReplaceAll(line, "<", `&lt;`)
		}
		b.WriteString(line)
	}
	if fence != "" {
		b.WriteString("\n" + fence)
	}
	return b.String()
}
