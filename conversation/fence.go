package conversation

import "strings"

// WithoutFence is the text inside of the one Markdown fence that is around everything: three or more "`" or
// "~", with an optional word behind them. The closing fence may be longer, and is indented by three spaces at
// most. It is false unless there is exactly one such fence.
func WithoutFence(text string) (string, bool) {
	text = strings.TrimSpace(text)
	open, rest, found := strings.Cut(text, "\n")
	if !found || open[0] != '`' && open[0] != '~' {
		return "", false
	}
	mark := open[:1]
	info := strings.TrimLeft(open, mark)
	fence := open[:len(open)-len(info)]
	if len(fence) < 3 || strings.ContainsAny(strings.TrimSpace(info), mark+" \t") {
		return "", false
	}
	end := strings.LastIndexByte(rest, '\n') + 1
	inner, last := rest[:end], rest[end:]
	closing := strings.TrimLeft(last, " ")
	if len(last)-len(closing) > 3 || len(closing) < len(fence) || strings.Trim(closing, mark) != "" {
		return "", false
	}
	for line := range strings.Lines(inner) {
		if strings.HasPrefix(strings.TrimSpace(line), fence) {
			return "", false
		}
	}
	return inner, true
}
