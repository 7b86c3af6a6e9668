package mcp

import (
	"crypto/sha256"
	"encoding/hex"

	"jp/internal/lazy"
)

// Prefix begins the name of every tool of a server. jp's own tools have other names.
const Prefix = "mcp__"

// longest is how many bytes the name of a tool may have.
const longest = 64

var (
	plainServer = lazy.Regexp(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)
	plainTool   = lazy.Regexp(`^[A-Za-z0-9_-]+$`)
	looksHashed = lazy.Regexp(`(-[0-9a-f]{12}|_[0-9a-f]{8})$`) // by us, or by who writes names for providers
	notPlain    = lazy.Regexp(`[^A-Za-z0-9_-]`)
)

// ToolName is the name by which jp knows a server's tool: mcp__SERVER__TOOL. If that would be too long, has
// other characters, or could be read as the tool of another server, it is cut, cleaned and made unique by a
// hash. All tools have different names, which also differ from those of jp's own tools.
func ToolName(server, tool string) string {
	name := Prefix + server + "__" + tool
	if plainServer().MatchString(server) && plainTool().MatchString(tool) && len(name) <= longest && !looksHashed().MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	suffix := "-" + hex.EncodeToString(sum[:6])
	stem := notPlain().ReplaceAllString(name, "_")
	return stem[:min(len(stem), longest-len(suffix))] + suffix
}
