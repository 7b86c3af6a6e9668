package web

import (
	"bytes"
	"slices"
	"strings"
)

// A figure is a drawing (<svg>) or a formula (<math>), of which the text is kept.
type figure struct {
	name  string
	title string // of a drawing
	tex   string // of a formula
	block bool
	text  []byte
}

// figured reports whether an element is a figure that is shown.
func (p *page) figured(t tag) bool {
	return (t.name == "svg" || t.name == "math") && p.hidden == 0 && p.code == nil && !off(t) && !pixel(t)
}

// pixel reports whether the attributes of an element give it at most one pixel.
func pixel(t tag) bool {
	tiny := func(size string) bool {
		return slices.Contains([]string{"0", "1", "0px", "1px"}, strings.TrimSpace(size))
	}
	return tiny(t.attrs["width"]) || tiny(t.attrs["height"])
}

// startFigure begins a figure with its outermost element.
func (p *page) startFigure(t tag) {
	p.figure = &figure{name: t.name, title: t.attrs["aria-label"], tex: t.attrs["alttext"], block: t.attrs["display"] == "block"}
}

// infixes separate the parts of an element of a formula.
var infixes = map[string][]string{
	"mfrac": {"/"}, "msup": {"^"}, "msub": {"_"}, "mover": {"^"}, "munder": {"_"}, "msubsup": {"_", "^"}, "munderover": {"_", "^"},
	"mroot": {" root "}, "mtable": {"; ", "; "}, "mtr": {", ", ", "},
}

// part begins an element of a figure within another one.
func (f *figure) part(e, outer *element) {
	if f.name == "math" {
		outer.number++ // of its parts
		between := infixes[outer.name]
		if n := outer.number - 2; n >= 0 && len(between) > 0 && !strings.HasPrefix(e.name, "annotation") {
			f.text = append(f.text, between[min(n, len(between)-1)]...)
		}
		if e.name == "msqrt" {
			f.text = append(f.text, "√"...)
		}
		if e.grouped = len(between) > 0 && e.name != "mtr" && e.name != "mtd" || e.name == "msqrt"; e.grouped {
			e.indent, f.text = len(f.text), append(f.text, '(')
		}
	} else if e.name == "text" {
		f.text = append(f.text, ' ')
	}
}

// endPart ends an element of a figure, and removes the brackets of a part of one short word.
func (f *figure) endPart(e *element) {
	if !e.grouped {
		return
	}
	inner := f.text[e.indent+1:]
	if len(inner) > mostWord || bytes.ContainsAny(inner, " /^_") {
		f.text = append(f.text, ')')
		return
	}
	f.text = append(f.text[:e.indent], inner...)
}

// mostWord is how many bytes such a word has.
const mostWord = 32

// word takes text of the innermost element.
func (f *figure) word(e *element, text string) {
	switch bare := strings.TrimSpace(text); e.name {
	case "title":
		f.title = bare
	case "text", "tspan", "textpath", "mi", "mn", "mtext", "ms":
		f.text = append(f.text, text...)
	case "mo":
		bare = strings.Trim(bare, "\u2061\u2062\u2063") // invisible operators
		if bare != "" && !strings.ContainsAny(bare, "()[]{}|,;!′.") {
			if bare += " "; !bytes.HasSuffix(f.text, []byte("(")) {
				bare = " " + bare
			}
		}
		f.text = append(f.text, bare...)
	case "annotation":
		if strings.Contains(e.after, "tex") {
			f.tex = bare
		}
	}
}

func (p *page) endFigure() {
	f := p.figure
	p.figure = nil
	text := strings.Join(strings.Fields(string(f.text)), " ")
	if f.name == "svg" {
		title := strings.Join(strings.Fields(f.title), " ")
		if title != "" && text != "" && title != text {
			title += ": "
		} else if title == text {
			text = ""
		}
		if title += text; title != "" {
			p.write("![" + title + "]()")
		}
		return
	}
	mark := "$"
	if f.block {
		mark = "$$"
		p.gap(gapBlank)
	}
	if tex := strings.Join(strings.Fields(f.tex), " "); tex != "" {
		text = mark + tex + mark
	}
	if text != "" {
		p.write(text)
	}
	if f.block {
		p.gap(gapBlank)
	}
}

// frame names the page in a frame.
func (p *page) frame(t tag) {
	to := p.address(t.attrs["src"])
	if to == "" {
		to = p.address(t.attrs["data"])
	}
	if to == "" || p.code != nil || off(t) || pixel(t) {
		return
	}
	name := strings.Join(strings.Fields(t.attrs["title"]), " ")
	if name == "" {
		name = t.name
	}
	p.gap(gapLine)
	p.write("[" + name + "](" + to + ")")
	p.gap(gapLine)
}
