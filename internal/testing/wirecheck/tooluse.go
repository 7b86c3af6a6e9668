package wirecheck

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// toolUse checks the tools of a Messages body, and that calls and results
// belong together (A2, A3, A4, A7).
func (k *checker) toolUse(turns []message) {
	var calls []call
	var results []result
	var uses []*node
	for i, m := range turns {
		group := outside
		if i > 0 && turns[i-1].role == "assistant" {
			group = i - 1
		}
		for _, b := range m.blocks {
			switch {
			case b.str("type") == "tool_use" && m.role == "assistant":
				calls = append(calls, call{id: b.str("id"), at: b, group: i})
				uses = append(uses, b.get("name"))
				k.id(idRules{chars: "A4"}, b.get("id"))
				k.arguments("A4", b.str("id"), b.get("input"), b.get("input"))
			case b.str("type") == "tool_result" && m.role == "user":
				results = append(results, result{id: b.str("tool_use_id"), at: b, group: group})
			}
		}
		k.resultsFirst(m)
		if group != outside && openServerTool(turns[i-1]) {
			k.onlyResults(m)
		}
	}
	k.pairs(pairRules{call: "A2", result: "A4", unique: "A4"}, calls, results)
	k.names(nameRules{unique: "A7", none: "A7"}, k.declaredNames(), uses)
}

// declaredNames are the names of the tools; a server's own set of tools has none.
func (k *checker) declaredNames() []*node {
	var names []*node
	for _, tool := range k.body.get("tools").items {
		if tool.kind == object && tool.str("type") != "mcp_toolset" {
			names = append(names, tool.get("name"))
		}
	}
	return names
}

// resultsFirst checks that results come first in their message (A2).
func (k *checker) resultsFirst(m message) {
	other := false
	for _, b := range m.blocks {
		if b.str("type") != "tool_result" {
			other = true
		} else if other && m.role == "user" {
			k.add("A2", b, "stands behind a block that is no result")
		}
	}
}

// openServerTool reports whether the answer holds a server's tool use whose
// result is still to come.
func openServerTool(m message) bool {
	open := map[string]bool{}
	for _, b := range m.blocks {
		switch b.str("type") {
		case "server_tool_use", "mcp_tool_use":
			open[b.str("id")] = true
		default:
			delete(open, b.str("tool_use_id"))
		}
	}
	return len(open) > 0
}

func (k *checker) onlyResults(m message) {
	for _, b := range m.blocks {
		if b.str("type") != "tool_result" {
			k.add("A3", b, "only results may follow an open server tool use")
		}
	}
}

// toolResult checks the content of a result (A5). An empty one says so in words (P6).
func (k *checker) toolResult(b *node) {
	k.want(b.get("tool_use_id"), text)
	if flag := b.get("is_error"); !flag.is(absent, boolean) {
		k.add("A5", flag, "is %v, not a boolean", flag.kind)
	}
	content := b.get("content")
	if content.kind == absent {
		k.add("P6", content, "an empty result does not say so")
		return
	}
	if !content.is(text, list) {
		k.add("A5", content, "must be a string or a list")
		return
	}
	k.somethingIn(content)
	for _, part := range k.objects(content) {
		switch t := part.str("type"); t {
		case "text":
			k.textBlock("A5", part)
		case "image":
			k.picture(part)
		case "document":
			k.want(part.get("source"), object)
		default:
			k.add("A5", part, "a result cannot hold a block of type %q", t)
		}
	}
}

// picture checks that an image is of a kind that the API takes, and that its content has the declared kind
// (A5).
func (k *checker) picture(b *node) {
	source := b.get("source")
	if !k.want(source, object) {
		return
	}
	switch source.str("type") {
	case "url":
		k.want(source.get("url"), text)
	case "file":
		k.want(source.get("file_id"), text)
	case "base64":
		media := source.str("media_type")
		data, err := base64.StdEncoding.DecodeString(source.str("data"))
		switch {
		case !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, media):
			k.add("A5", source, "media type %q is not taken", media)
		case err != nil:
			k.add("A5", source, "data is not base64")
		case imageType(data) != media:
			k.add("A5", source, "data is not %s", media)
		}
	default:
		k.add(Format, source, "type %q is unknown", source.str("type"))
	}
}

// imageType tells the four kinds of image by how they begin.
func imageType(data []byte) string {
	begins := func(at int, s string) bool { return len(data) >= at && bytes.HasPrefix(data[at:], []byte(s)) }
	switch {
	case begins(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case begins(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case begins(0, "GIF87a"), begins(0, "GIF89a"):
		return "image/gif"
	case begins(0, "RIFF") && begins(8, "WEBP"):
		return "image/webp"
	}
	return ""
}
