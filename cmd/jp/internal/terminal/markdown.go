package terminal

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"unicode"

	"charm.land/glamour/v2"
	"charm.land/glamour/v2/ansi"
	"charm.land/glamour/v2/styles"
)

// Markdown prints Markdown on a terminal while it is still being written: each
// block once, as soon as the next one begins. How the text was split into writes
// makes no difference to what is printed.
type Markdown struct {
	out      io.Writer
	width    int
	palette  Palette
	clean    *Cleaner
	blocks   blocks
	renderer *glamour.TermRenderer
	printed  bool
}

// NewMarkdown returns a printer of Markdown for a terminal of a width in
// columns. The text written to it need not be clean.
func NewMarkdown(out io.Writer, width int, palette Palette) *Markdown {
	m := &Markdown{out: out, width: width, palette: palette}
	m.clean = NewCleaner(&m.blocks)
	return m
}

// Write takes the next part of the text and prints the blocks that it finishes.
func (m *Markdown) Write(p []byte) (int, error) {
	if _, err := m.clean.Write(p); err != nil {
		return 0, err
	}
	return len(p), m.print()
}

// Close prints what is left, finished or not. It does not close the writer
// below.
func (m *Markdown) Close() error {
	if err := m.clean.Close(); err != nil {
		return err
	}
	m.blocks.end()
	return m.print()
}

func (m *Markdown) print() error {
	for _, block := range m.blocks.take() {
		text, err := m.render(block)
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		if m.printed {
			text = "\n" + text
		}
		m.printed = true
		if _, err := io.WriteString(m.out, text); err != nil {
			return err
		}
	}
	return nil
}

// deepest is how deeply quotes and lists may be nested to be formatted. The time
// that the renderer takes grows steeply with the depth, and the text is anyone's.
const deepest = 30

// render formats a block. What comes back is cleaned again: an entity such as
// &#27; is a control character only after it was decoded.
func (m *Markdown) render(block string) (string, error) {
	if nesting(block) > deepest {
		return block, nil
	}
	if m.renderer == nil {
		renderer, err := glamour.NewTermRenderer(
			glamour.WithStyles(style(m.palette)), glamour.WithWordWrap(m.width),
			glamour.WithChromaFormatter("terminal16"), glamour.WithInlineTableLinks(true),
		)
		if err != nil {
			return "", fmt.Errorf("prepare to print Markdown: %w", err)
		}
		m.renderer = renderer
	}
	formatted, err := m.renderer.Render(controlEntity.ReplaceAllStringFunc(block, decodeEntity))
	if err != nil {
		return "", fmt.Errorf("print Markdown: %w", err)
	}
	var b strings.Builder
	c := &Cleaner{w: &b, keep: kept{style: m.palette.On()}}
	if _, err := io.WriteString(c, formatted); err != nil {
		return "", err
	}
	return trimLines(b.String()), nil
}

// controlEntity finds numeric entities, also those whose & is an entity itself.
var controlEntity = regexp.MustCompile(`&(?:amp;|#38;|#[xX]0*26;)*#(?:[xX][0-9a-fA-F]+|[0-9]+);?`)

// decodeEntity replaces an entity that stands for a character without a look.
func decodeEntity(entity string) string {
	decoded := entity
	for range strings.Count(entity, "&") + strings.Count(entity, ";") {
		decoded = html.UnescapeString(decoded)
	}
	if strings.IndexFunc(decoded, unicode.IsControl) >= 0 {
		return "\ufffd"
	}
	return entity
}

// blank matches the padding at the end of a line, with the styles in it.
var blank = regexp.MustCompile(`(?:[ ]|\x1b\[[0-9;:]*m)+$`)

// trimLines takes the padding and the blank lines around a formatted block away.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		tail := blank.FindString(line)
		if styled := strings.Contains(tail, "\x1b"); styled {
			lines[i] = strings.TrimSuffix(line, tail) + "\x1b[0m"
		} else {
			lines[i] = strings.TrimSuffix(line, tail)
		}
		if lines[i] == "\x1b[0m" {
			lines[i] = ""
		}
	}
	trimmed := strings.Trim(strings.Join(lines, "\n"), "\n")
	if trimmed == "" {
		return ""
	}
	return trimmed + "\n"
}

// style is plain text with the marks of Markdown, and on top of it the sixteen
// colours that every theme makes readable on its own background.
func style(palette Palette) ansi.StyleConfig {
	s := styles.ASCIIStyleConfig
	none := uint(0)
	s.Document.Margin, s.Document.BlockPrefix, s.Document.BlockSuffix = &none, "", ""
	s.List.LevelIndent = 2
	if !palette.On() {
		return s
	}
	yes, cyan, blue := true, "6", "4"
	s.Heading.Bold, s.Strong.Bold, s.Emph.Italic = &yes, &yes, &yes
	s.Strong.BlockPrefix, s.Strong.BlockSuffix = "", ""
	s.Emph.BlockPrefix, s.Emph.BlockSuffix = "", ""
	s.Code.Color, s.Link.Color, s.Link.Underline = &cyan, &blue, &yes
	s.CodeBlock.Color = &cyan
	return s
}
