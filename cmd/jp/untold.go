package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/provider"
	"jp/provider/catalog"
	"jp/tool"
)

// An untoldTool is a tool whose definition the provider would refuse.
type untoldTool struct {
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

// untold are the tools that a provider is not told of.
func untold(model *catalog.Provider, tools *tool.Registry) []untoldTool {
	var told []provider.Tool
	names := map[string]string{}
	for _, def := range tools.Definitions() {
		wire := provider.WireName(def.Name)
		names[wire] = def.Name
		told = append(told, provider.Tool{Name: wire, Description: def.Description, Parameters: def.Parameters})
	}
	var all []untoldTool
	for _, left := range model.LeftOut(told) {
		all = append(all, untoldTool{names[left.Name], left.Why})
	}
	return all
}

// untoldShown is how many of them a notice names.
const untoldShown = 3

// untoldNotice says which tools a model does not have, none where it has all.
func untoldNotice(model string, all []untoldTool) []string {
	if len(all) == 0 {
		return nil
	}
	vendor, _, _ := cutModel(model)
	var named []string
	for _, t := range all[:min(len(all), untoldShown)] {
		named = append(named, fmt.Sprintf("%s (%s)", safetext.Show(t.Tool), safetext.Show(t.Why)))
	}
	if more := len(all) - untoldShown; more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return []string{fmt.Sprintf("%s would refuse these tools, so they are left out: %s. jp trust --show lists them.", safetext.Show(vendor), strings.Join(named, ", "))}
}

// untoldHere are the tools that the configured model would refuse, as far as they are
// known without starting anything, and the name of its provider.
func (r *repo) untoldHere(e *host) (vendor string, all []untoldTool) {
	model := r.config.ResolveModel(r.config.Model)
	if model == "" {
		model = r.providers().keyedModel(e)
	}
	vendor, _, named := cutModel(model)
	if !named || r.wrong != nil || r.TopLevel == "" {
		return "", nil
	}
	v, err := r.found(vendor)
	if err != nil {
		return "", nil // whoever asks it is told
	}
	q := &query{env: e, repo: r, servers: &servers{}, stream: conversation.NewStream(e.now)}
	for _, name := range slices.Sorted(maps.Keys(r.config.MCP)) {
		q.servers.all = append(q.servers.all, r.server(e, name))
	}
	registry, _, err := q.judgedTools()
	if err != nil {
		return "", nil
	}
	offered, err := registry.Only(q.toolNames(registry)...)
	if err != nil {
		return "", nil
	}
	return vendor, untold(v.Open("", catalog.Options{}), offered)
}

// listUntold writes the tools that a provider is not told of.
func listUntold(w io.Writer, vendor string, all []untoldTool) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "%s would refuse these tools, so queries leave them out:\n", safetext.Show(vendor))
	for _, t := range all {
		fmt.Fprintf(w, "  %s: %s\n", safetext.Show(t.Tool), safetext.Show(t.Why))
	}
}
