package terminal

import (
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"jp/cmd/jp/internal/terminal/highlight"
)

// A Palette colours text, or leaves it as it is. The zero value has no colours. Colour repeats the
// words: it never carries a meaning alone.
type Palette struct {
	colour bool
	theme  Theme
	exact  bool // the terminal has 24-bit colours
}

// A Theme is the kind of a terminal's background.
type Theme int

// Themes. Without one, changed lines have no ground.
const (
	NoTheme Theme = iota
	Dark
	Light
)

// With is the palette for a background. A terminal of 16 colours has no grounds.
func (p Palette) With(theme Theme, environ []string) Palette {
	depth := variable(environ, "COLORTERM")
	p.exact = depth == "truecolor" || depth == "24bit"
	if p.exact || strings.Contains(variable(environ, "TERM"), "256color") {
		p.theme = theme
	}
	return p
}

// A shade is a colour: exact, and of the 256 that most terminals have.
type shade struct{ exact, of256 string }

// grounds are those of a removed and an added line, and of the words in them that changed.
var grounds = map[Theme]map[byte][2]shade{
	Dark: {
		'-': {{"58;22;26", "52"}, {"122;36;46", "88"}},
		'+': {{"16;46;28", "22"}, {"28;96;54", "28"}},
	},
	Light: {
		'-': {{"255;226;228", "224"}, {"255;190;196", "217"}},
		'+': {{"222;246;228", "194"}, {"176;232;192", "157"}},
	},
}

var codeColours = map[Theme]map[highlight.Kind]shade{
	Dark: {
		highlight.Keyword: {"198;146;234", "176"}, highlight.String: {"163;209;132", "150"}, highlight.Number: {"235;176;106", "215"},
		highlight.Comment: {"140;150;162", "246"}, highlight.Name: {"122;190;250", "117"},
	},
	Light: {
		highlight.Keyword: {"122;36;150", "91"}, highlight.String: {"18;96;48", "22"}, highlight.Number: {"146;74;0", "94"},
		highlight.Comment: {"96;104;112", "242"}, highlight.Name: {"18;76;160", "25"},
	},
}

// grounded reports whether changed lines have grounds. Their text then has the colours of its syntax.
func (p Palette) grounded() bool { return p.colour && p.theme != NoTheme }

// Code colours code on a ground.
func (p Palette) Code(kind highlight.Kind, text string) string {
	c, has := codeColours[p.theme][kind]
	if !p.grounded() || !has || strings.Trim(text, " ") == "" {
		return text
	}
	return p.paint("38;"+p.of(c), text, "39")
}

// Changed colours a part of a line of a difference that has the mark, a stronger one if its words changed.
func (p Palette) Changed(mark byte, text string, strong bool) string {
	kinds, has := grounds[p.theme][mark]
	switch {
	case p.grounded() && !has:
		return text
	case p.grounded() && strong:
		return p.paint("48;"+p.of(kinds[1]), text, "49")
	case p.grounded():
		return p.paint("48;"+p.of(kinds[0]), text, "49")
	case mark == '+':
		return p.Green(text)
	case mark == '-':
		return p.Red(text)
	}
	return text
}

// of is a colour as the terminal can show it.
func (p Palette) of(g shade) string {
	if p.exact {
		return "2;" + g.exact
	}
	return "5;" + g.of256
}

// NewPalette returns the palette for a stream: $NO_COLOR takes colours away,
// $CLICOLOR_FORCE forces them, and otherwise a terminal that is not dumb has
// them.
func NewPalette(stream *os.File, environ []string) Palette {
	switch force := variable(environ, "CLICOLOR_FORCE"); {
	case variable(environ, "NO_COLOR") != "":
		return Palette{}
	case force != "" && force != "0":
		return Palette{colour: true}
	case variable(environ, "TERM") == "dumb":
		return Palette{}
	}
	return Palette{colour: IsTerminal(stream)}
}

// Coloured is a palette that has colours.
func Coloured() Palette { return Palette{colour: true} }

// On reports whether the palette has colours.
func (p Palette) On() bool { return p.colour }

// Bold makes text bold.
func (p Palette) Bold(text string) string { return p.paint("1", text, "22") }

// Dim makes text faint.
func (p Palette) Dim(text string) string { return p.paint("2", text, "22") }

// Found marks the matches of a search.
func (p Palette) Found(text string) string { return p.paint("1;31", text, "22;39") }

// Red colours failures and removed text.
func (p Palette) Red(text string) string { return p.paint("31", text, "39") }

// Green colours successes and added text.
func (p Palette) Green(text string) string { return p.paint("32", text, "39") }

// Yellow colours waiting states and warnings.
func (p Palette) Yellow(text string) string { return p.paint("33", text, "39") }

// Cyan colours names and places.
func (p Palette) Cyan(text string) string { return p.paint("36", text, "39") }

// Magenta colours the keywords of code.
func (p Palette) Magenta(text string) string { return p.paint("35", text, "39") }

// Change colours a line of a difference, or a warning beside it.
func (p Palette) Change(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return p.Green(line)
	case strings.HasPrefix(line, "-"):
		return p.Red(line)
	case strings.HasPrefix(line, "@@"):
		return p.Cyan(line)
	case strings.HasPrefix(line, "!"):
		return p.Yellow(line)
	}
	return line
}

func (p Palette) paint(on, text, off string) string {
	if !p.colour || text == "" {
		return text
	}
	return "\x1b[" + on + "m" + text + "\x1b[" + off + "m"
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream *os.File) bool {
	return stream != nil && isatty.IsTerminal(stream.Fd())
}

// variable is the value of an environment variable: the last one of several, as in the system, or "".
func variable(environ []string, name string) string {
	value, _ := lookup(environ, name)
	return value
}

func lookup(environ []string, name string) (value string, ok bool) {
	for _, pair := range environ {
		if v, found := strings.CutPrefix(pair, name+"="); found {
			value, ok = v, true
		}
	}
	return value, ok
}
