package config

import "strings"

// Key describes one setting for people.
type Key struct {
	Key      string // dotted; <name> stands for any name
	Type     string // the valid values, in words
	Default  string // as TOML; empty: unset
	Layers   string // who may set it
	Security bool   // chooses programs, servers or the person to ask; a workspace's file has to be trusted
	Doc      string
}

// Keys lists every setting in the order of [Config].
func Keys() []Key {
	var keys []Key
	schema().walk(nil, func(path []string, n *node) {
		keys = append(keys, Key{
			Key:      strings.Join(path, "."),
			Type:     n.wants(),
			Default:  n.defaultText(),
			Layers:   n.layers(),
			Security: n.security || n.tag.Get("trust") == "always",
			Doc:      n.tag.Get("doc"),
		})
	})
	return keys
}

func (n *node) defaultText() string {
	if n.private {
		return "" // those of the keys that a profile stands for hold
	}
	text := n.tag.Get("default")
	if _, isString := n.parseText(text).(string); isString && text != "" {
		return quote(text)
	}
	return text
}

func (n *node) layers() string {
	if n.private {
		return "user, environment, --cfg"
	}
	workspace := "workspace"
	if n.security || n.tag.Get("trust") == "always" {
		workspace = "trusted workspace"
	}
	switch n.tag.Get("tighten") {
	case "":
		if trust := n.tag.Get("trust"); trust != "" && trust != "always" {
			workspace += " (looser only if trusted)"
		}
	case "new":
		workspace += " (for a new tool)"
	case "user", "never":
		workspace += " (for its own tools)"
	default:
		workspace += " (only tighter)"
	}
	layers := []string{"user", workspace, "environment", "conversation", "--cfg"}
	if n.security {
		layers = append(layers[:3], layers[4])
	}
	return strings.Join(layers, ", ")
}

// Known tells whether text is a dotted key, or a table of keys.
func Known(text string) bool {
	path, ok := parseKey(text)
	if !ok {
		return false
	}
	_, err := lookup(Origin{}, path)
	return err == nil
}
