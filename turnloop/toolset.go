package turnloop

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
)

// lookup finds the definition of a tool by its name, else nil.
func lookup(tools *tool.Registry, name string) *tool.Definition {
	t, ok := tools.Lookup(name)
	if !ok {
		return nil
	}
	return t.Definition()
}

// noTool is the message to the model about an unknown tool: the nearest name, and all
// names.
func noTool(tools *tool.Registry, name string) string {
	const most = 64
	text := textNoSuchTool + string(word(name)) + "."
	names := toolNames(tools)
	if len(names) == 0 {
		return text + " No tool is available."
	}
	if nearest := tools.Nearest(name); nearest != "" {
		text += " The nearest name is " + nearest + "."
	}
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text + textAllTools + strings.Join(names, ", ") + more + "."
}

func toolNames(tools *tool.Registry) []string {
	var names []string
	for _, def := range tools.Definitions() {
		names = append(names, def.Name)
	}
	return names
}

// toolsText is the tools' definitions as they are recorded, and the hash of that.
func toolsText(tools *tool.Registry) (text []byte, sum string, err error) {
	if text, err = json.Marshal(toolsAsSent(tools)); err != nil {
		return nil, "", err
	}
	if text, err = conversation.Canonical(text); err != nil {
		return nil, "", err
	}
	hash := sha256.Sum256(text)
	return text, hex.EncodeToString(hash[:]), nil
}

// toolsAsSent are the tools' definitions as the model gets them.
func toolsAsSent(registry *tool.Registry) []provider.Tool {
	tools := []provider.Tool{}
	for _, def := range registry.Definitions() {
		tools = append(tools, provider.Tool{
			Name: provider.WireName(def.Name), Description: def.Description, Parameters: def.Parameters,
		})
	}
	return tools
}
