package conversation

import "strings"

// WithoutFence is the text inside of the one Markdown fence that is around everything,
// "```" with an optional word behind it. It is false where there is no such fence, or
// more than one.
func WithoutFence(text string) (string, bool) {
	text = strings.TrimSpace(text)
	open, rest, found := strings.Cut(text, "\n")
	ticks := len(open) - len(strings.TrimLeft(open, "`"))
	fence := strings.Repeat("`", ticks)
	if !found || ticks < 3 || strings.ContainsAny(strings.TrimSpace(open[ticks:]), "` \t") {
		return "", false
	}
	inner, closed := strings.CutSuffix(rest, fence)
	if !closed || inner != "" && !strings.HasSuffix(inner, "\n") {
		return "", false
	}
	for line := range strings.Lines(inner) {
		if strings.HasPrefix(strings.TrimSpace(line), fence) {
			return "", false
		}
	}
	return inner, true
}
