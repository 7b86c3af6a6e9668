package turnloop

import (
	"context"
	"errors"
	"slices"
	"strings"

	"jp/conversation"
	"jp/internal/lazy"
	"jp/provider"
)

// aboutImages are the words of a refusal that is about an image.
var aboutImages = lazy.Regexp(`(?i)\bimages?\b|\bimage_url\b|\bvision\b|\bmulti-?modal\b`)

// RefusesImages reports whether a provider refused a request for an image in it.
func RefusesImages(err error) bool {
	var refused *provider.Error
	return errors.As(err, &refused) && refused.Class == provider.ClassInvalid && aboutImages().MatchString(refused.Message)
}

// withoutImages withholds the images that a provider refused, and reports whether to ask the model again.
// They are those without an answer of the model so far. If there are none of these, another model may have
// answered: then they are all.
func (l *Loop) withoutImages(ctx context.Context, err error) (bool, error) {
	if !RefusesImages(err) {
		return false, nil
	}
	all := sentImages(l.stream.Events())
	answered := -1
	for _, e := range l.stream.Events() {
		if b, ok := e.Body.(*conversation.ChatResponse); ok && b.Finish != "" {
			answered = e.Seq
		}
		if b, ok := e.Body.(*conversation.ToolCallRequest); ok && b.Finish != "" {
			answered = e.Seq
		}
	}
	refused := slices.DeleteFunc(slices.Clone(all), func(w *conversation.Withholding) bool { return w.For < answered })
	if len(refused) == 0 {
		refused = all
	}
	if len(refused) == 0 {
		return false, nil
	}
	var failure *provider.Error
	errors.As(err, &failure)
	t := l.stream.CurrentTurn()
	var names []string
	for _, w := range refused {
		w.Reason = conversation.Shorten(strings.ToValidUTF8(failure.Message, "\uFFFD"), maxCause)
		names = append(names, w.Attachments...)
		t.AddRecord(w)
	}
	if err := l.build(ctx, t); err != nil {
		return false, err
	}
	l.opts.Observer.Noticed(err.Error() + "; asking again without " + strings.Join(names, ", "))
	return true, nil
}

// sentImages are the images that a conversation sends, by their events.
func sentImages(events []*conversation.Event) []*conversation.Withholding {
	withheld := map[int][]string{}
	for _, e := range events {
		if b, ok := e.Body.(*conversation.Withholding); ok {
			withheld[b.For] = append(withheld[b.For], b.Attachments...)
		}
	}
	var all []*conversation.Withholding
	for _, e := range events {
		var attached []conversation.Attachment
		switch b := e.Body.(type) {
		case *conversation.ChatRequest:
			attached = b.Attachments
		case *conversation.ToolCallResponse:
			attached = b.Attachments
		}
		w := &conversation.Withholding{For: e.Seq}
		for _, a := range attached {
			if strings.HasPrefix(a.MediaType, "image/") && !slices.Contains(withheld[e.Seq], a.Name) {
				w.Attachments = append(w.Attachments, a.Name)
			}
		}
		if len(w.Attachments) > 0 {
			all = append(all, w)
		}
	}
	return all
}
