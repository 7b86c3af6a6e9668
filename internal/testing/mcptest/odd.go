package mcptest

import (
	"fmt"
	"strings"
)

// Servers whose tools are well formed, and whose definitions model servers refuse.
func init() {
	hostile["odd"] = func(w *wire) {
		w.tools = func() string {
			return "[" + strings.Join([]string{
				`{"name":"either","description":"One of two","inputSchema":{"type":"object","properties":{"route":{"type":"string"},"file":{"type":"string"}},"anyOf":[{"required":["route"]},{"required":["file"]}]}}`,
				`{"name":"filter","description":"Filter","inputSchema":{"type":"object","properties":{"filter[id]":{"type":"string"},"tags":{"type":"array"}},"required":["filter[id]"]}}`,
				`{"name":"lost","description":"Lost","inputSchema":{"type":"object","allOf":[{"type":"string"}]}}`,
			}, ",") + "]"
		}
		w.call = func(m message) bool { w.text(m, string(m.Params)); return true }
		w.serve()
	}
	hostile["many"] = func(w *wire) {
		w.tools = func() string {
			tools := make([]string, 150)
			for i := range tools {
				tools[i] = fmt.Sprintf(`{"name":"t%d","description":"A tool","inputSchema":{"type":"object"}}`, i)
			}
			return "[" + strings.Join(tools, ",") + "]"
		}
		w.serve()
	}
}
