package web

import (
	"slices"
	"strconv"
	"strings"
)

func isVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}

// isBlock reports whether an element has lines of its own.
func isBlock(name string) bool {
	switch name {
	case "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt",
		"fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html",
		"legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup", "option", "p", "plaintext", "pre", "search", "section",
		"summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "xmp":
		return true
	}
	return false
}

// isApart reports whether a block has a blank line around it.
func isApart(name string) bool {
	switch name {
	case "article", "aside", "blockquote", "caption", "details", "dl", "fieldset", "figure", "footer", "form", "h1", "h2", "h3", "h4",
		"h5", "h6", "header", "listing", "main", "nav", "p", "plaintext", "pre", "section", "table", "xmp":
		return true
	}
	return false
}

// isUnseen reports whether the content of an element stays hidden, or is of another page.
func isUnseen(name string) bool {
	switch name {
	case "annotation-xml", "applet", "audio", "canvas", "datalist", "defs", "dialog", "iframe", "math", "noembed", "noframes", "noscript",
		"object", "script", "style", "svg", "symbol", "template", "textarea", "video":
		return true
	}
	return false
}

// marks are the marks around the text of an element.
func marks(name string) (before, after string) {
	switch name {
	case "b", "strong":
		return "**", "**"
	case "em", "i":
		return "*", "*"
	case "s", "strike", "del":
		return "~~", "~~"
	case "q":
		return `"`, `"`
	case "sup":
		return "^", ""
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return strings.Repeat("#", int(name[1]-'0')) + " ", ""
	}
	return "", ""
}

// impliedEnd lists the open elements that a start tag ends, unless they are outside of one of the others.
func impliedEnd(name string) (ends, within []string) {
	switch name {
	case "li":
		return []string{"li"}, []string{"ul", "ol", "menu", "dir", "td", "th", "table"}
	case "dt", "dd":
		return []string{"dt", "dd"}, []string{"dl", "td", "th", "table"}
	case "option", "optgroup":
		return []string{"option"}, []string{"select", "datalist"}
	case "tr":
		return []string{"tr", "caption"}, []string{"table"}
	case "td", "th":
		return []string{"td", "th", "caption"}, []string{"tr", "table"}
	case "thead", "tbody", "tfoot":
		return []string{"caption", "thead", "tbody", "tfoot", "tr"}, []string{"table"}
	case "a", "table":
		return []string{"a"}, []string{"td", "th", "caption", "table", "object", "template"}
	}
	if isBlock(name) {
		return []string{"p"}, []string{"a", "td", "th", "caption", "table", "button", "object", "template"}
	}
	return nil, nil
}

func (p *page) start(t tag) {
	p.endImplied(impliedEnd(t.name))
	switch {
	case t.name == "meta" && strings.EqualFold(strings.TrimSpace(t.attrs["http-equiv"]), "refresh"):
		p.refresh(t.attrs["content"])
	case t.name == "base":
		if to, err := p.at.Parse(t.attrs["href"]); err == nil && to.Host != "" {
			p.at = to
		}
	case t.name == "script":
		p.script = true
	}
	switch {
	case isVoid(t.name):
		if p.hidden == 0 && !p.unseen(t) {
			p.void(t)
		}
		return
	case len(p.open) >= mostOpen:
		p.deeper++
		if p.hidden == 0 && isBlock(t.name) {
			p.block(t.name)
		}
		return
	}
	inFigure := p.figure != nil && p.hidden == 1
	e := &element{name: t.name, after: t.attrs["encoding"], hidden: p.unseen(t) || t.name == "title" && !inFigure}
	p.titled = t.name == "title" && p.hidden == 0
	switch {
	case inFigure:
		p.figure.part(e, p.open[len(p.open)-1])
	case p.figured(t):
		p.startFigure(t)
	case (t.name == "iframe" || t.name == "object") && p.hidden == 0:
		p.frame(t)
	}
	p.open = append(p.open, e)
	p.names[t.name]++
	if e.hidden {
		p.hidden++
	}
	if p.hidden == 0 {
		p.show(e, t)
	}
}

// endImplied closes the innermost open element that a start tag ends, and those in it.
func (p *page) endImplied(ends, within []string) {
	if !slices.ContainsFunc(ends, func(name string) bool { return p.names[name] > 0 }) {
		return
	}
	for i := len(p.open) - 1; i >= 0 && !slices.Contains(within, p.open[i].name); i-- {
		p.work++
		if slices.Contains(ends, p.open[i].name) {
			p.closeTo(i)
			return
		}
	}
}

// end closes the innermost open element of a name, and those in it. In hidden content, the end of an inline
// element leaves a block in it open, so that the content stays hidden.
func (p *page) end(name string) {
	switch {
	case isVoid(name):
		if name == "br" && p.hidden == 0 {
			p.breakLine()
		}
		return
	case p.deeper > 0:
		p.deeper--
		return
	case p.names[name] == 0:
		return
	}
	inline := !isBlock(name) && !isUnseen(name)
	for i := len(p.open) - 1; i >= 0; i-- {
		p.work++
		switch open := p.open[i]; {
		case open.name == name:
			p.closeTo(i)
			return
		case inline && p.hidden > 0 && isBlock(open.name):
			return
		case open.cell && open.part == open.name && name != "table" && name != "tr" && name != "thead" && name != "tbody" && name != "tfoot":
			return
		}
	}
}

// closeTo closes open elements until left of them remain.
func (p *page) closeTo(left int) {
	p.deeper, p.titled = 0, false
	for len(p.open) > left {
		e := p.open[len(p.open)-1]
		p.open = p.open[:len(p.open)-1]
		p.names[e.name]--
		switch {
		case e.hidden:
			if p.hidden--; p.hidden == 0 && p.figure != nil {
				p.endFigure()
			}
		case p.figure != nil && p.hidden == 1:
			p.figure.endPart(e)
		case p.hidden == 0:
			p.hide(e)
		}
	}
}

// show begins the Markdown of an element.
func (p *page) show(e *element, t tag) {
	if e.part = p.part(t); isBlock(e.part) {
		p.block(e.part)
	}
	if p.code != nil {
		if p.code.language == "" {
			p.code.language = language(t.attrs["class"])
		}
		return
	}
	switch e.part {
	case "table":
		p.startTable(e, t)
	case "tr":
		if at := p.table(); at != nil {
			at.rows = append(at.rows, nil)
			p.work += workOfCell
		}
	case "td", "th":
		p.startCell(e, t)
	}
	if before, after := marks(t.name); before != "" && (before[0] != '#' || p.flat == 0 && e.part == t.name) {
		e.marked, e.after = true, after
		p.out.marks = append(p.out.marks, before)
	}
	name := t.name
	if inline := name == "a" || name == "code"; e.part != name && !inline {
		name = e.part // an item of a list that is a row has no bullet
	}
	switch name {
	case "a":
		if to := p.address(t.attrs["href"]); to != "" {
			e.marked, e.after, e.flat = true, "]("+to+")", true
			p.out.marks = append(p.out.marks, "[")
		}
	case "h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary":
		e.flat = true
	case "ol":
		e.number = number(t.attrs["start"], 1, 1<<20)
	case "li":
		p.indent(e, p.bullet(t))
	case "dd":
		p.indent(e, ": ")
	case "blockquote":
		p.indent(e, "> ")
	case "code", "kbd", "samp", "tt", "pre", "listing", "xmp", "plaintext":
		e.code = &verbatim{block: isBlock(t.name), language: language(t.attrs["class"])}
		p.code = e.code
	}
	if e.flat {
		p.flat++
	}
}

// hide ends the Markdown of an element.
func (p *page) hide(e *element) {
	if e.code != nil && e.code == p.code {
		p.endCode()
	}
	if e.flat {
		p.flat--
	}
	if e.marked {
		p.closeMark(e.after)
	}
	p.outdent(e)
	switch {
	case e.cell:
		p.out = e.outer
	case e.table:
		p.endTable()
	}
	if isBlock(e.part) {
		p.block(e.part)
	}
}

// bullet begins an item of the innermost list.
func (p *page) bullet(t tag) string {
	for i := len(p.open) - 1; i >= 0; i-- {
		p.work++
		switch list := p.open[i]; list.name {
		case "ul", "menu", "dir":
			return "- "
		case "ol":
			n := number(t.attrs["value"], list.number, 1<<20)
			list.number = n + 1
			return strconv.Itoa(n) + ". "
		}
	}
	return "- "
}

// void shows an element without content.
func (p *page) void(t tag) {
	switch t.name {
	case "br":
		p.breakLine()
	case "frame", "embed":
		p.frame(t)
	case "hr":
		if p.flat == 0 && p.code == nil {
			p.gap(gapBlank)
			p.write("---")
			p.gap(gapBlank)
		}
	case "img":
		alt := strings.Join(strings.Fields(t.attrs["alt"]), " ")
		if to := p.address(t.attrs["src"]); p.code == nil && (to != "" || alt != "") {
			p.write("![" + alt + "](" + to + ")")
		}
	}
}

// unseen reports whether an element is hidden from people.
func (p *page) unseen(t tag) bool {
	if t.name == "noscript" && p.noscript {
		return false
	}
	if _, opened := t.attrs["open"]; isUnseen(t.name) && !(t.name == "dialog" && opened) {
		return true
	}
	return off(t)
}

// off reports whether the attributes of an element take it off the page.
func off(t tag) bool {
	_, hidden := t.attrs["hidden"]
	return hidden || strings.EqualFold(strings.TrimSpace(t.attrs["aria-hidden"]), "true") || hides(t.attrs["style"])
}

// display is the display property of a style, "" if there is none.
func display(style string) string {
	found := ""
	for rule := range strings.SplitSeq(strings.ToLower(style), ";") {
		if property, value, _ := strings.Cut(rule, ":"); strings.TrimSpace(property) == "display" {
			found = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		}
	}
	return found
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

// language is the language that the class of a block of code names.
func language(class string) string {
	for _, name := range strings.Fields(class) {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-"} {
			if found, ok := strings.CutPrefix(name, prefix); ok && len(found) <= 20 && !strings.Contains(found, "`") {
				return found
			}
		}
	}
	return ""
}

// number is an attribute within bounds, or the default.
func number(text string, otherwise, most int) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 {
		return otherwise
	}
	return min(n, most)
}
