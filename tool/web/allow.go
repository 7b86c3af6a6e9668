package web

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"jp/conversation"
	"jp/internal/publicnet"
)

// rule is the user's rule that lets a call run without a question, "" if a person is asked. The host alone is
// too little, since an address that the model composed can carry data that it has read. So the exact address
// has to appear in the user's words, in instructions or as a link of a page that was read, unless the user
// lets models compose addresses for the host. An http address always needs a question.
func (f fetcher) rule(arguments json.RawMessage, events []*conversation.Event) string {
	var args request
	if json.Unmarshal(arguments, &args) != nil {
		return ""
	}
	u, err := publicnet.Parse(args.URL)
	if err != nil || u.Scheme != "https" {
		return ""
	}
	if host := covers(f.opts.Composed, u); host != "" {
		return "web.allow_composed: " + host
	}
	host := covers(f.opts.Allow, u)
	if host == "" || !stands(events, u.String()) {
		return ""
	}
	return "web.allow: " + host
}

// warn warns the person who is asked that the model composed an address.
func warn(arguments json.RawMessage, events []*conversation.Event) string {
	var args request
	if json.Unmarshal(arguments, &args) != nil {
		return ""
	}
	if u, err := publicnet.Parse(args.URL); err != nil || stands(events, u.String()) {
		return ""
	}
	return "the model composed this address: it may carry what the model has read"
}

// covers is the host of a list that an address belongs to, itself or by a name below it. A port
// belongs to a host only if the list says so.
func covers(hosts []string, u *url.URL) string {
	name := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" && port != "443" {
		name += ":" + port
	}
	for _, host := range hosts {
		if h := strings.ToLower(host); h != "" && (name == h || strings.HasSuffix(name, "."+h)) {
			return host
		}
	}
	return ""
}

// stands reports whether the user, instructions or a page named an address. Text before the adoption of
// someone else's conversation does not count. The task of a delegate does not count either, since a model
// wrote it.
func stands(events []*conversation.Event, address string) bool {
	own := conversation.AfterAdoption(events)
	delegated := slices.ContainsFunc(own, func(e *conversation.Event) bool {
		b, ok := e.Body.(*conversation.Metadata)
		return ok && b.Parent != ""
	})
	for _, e := range own {
		switch b := e.Body.(type) {
		case *conversation.ChatRequest:
			if !delegated && names(b.Content, address, "") {
				return true
			}
		case *conversation.Instructions:
			text, _ := e.Text()
			if names(text, address, "") {
				return true
			}
		case *conversation.ToolCallResponse:
			if b.Name == Name && !b.IsError && (names(b.Content, address, "](") || names(b.Content, address, "<") || names(b.Content, address, redirects)) {
				return true
			}
		}
	}
	return false
}

// names reports whether a text has an address, as a whole and behind a mark.
func names(text, address, mark string) bool {
	const ends = " \t\r\n<>\"'`()[]{}|\\^"
	scheme, _, _ := strings.Cut(address, "://")
	scheme += "://"
	for rest := text; ; {
		i := strings.Index(rest, mark+scheme)
		if i < 0 {
			return false
		}
		found := rest[i+len(mark):]
		rest = found[len(scheme):]
		if end := strings.IndexAny(found, ends); end >= 0 {
			found = found[:end]
		}
		for _, one := range []string{found, strings.TrimRight(found, ".,;:!?")} {
			if u, err := publicnet.Parse(one); err == nil && u.String() == address {
				return true
			}
		}
	}
}
