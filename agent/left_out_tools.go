package agent

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"jp/agent/models"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/provider"
	"jp/provider/catalog"
	"jp/tool"
)

// An UntoldTool is a tool whose definition the provider would refuse.
type UntoldTool struct {
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

// untold are the tools that a provider does not get.
func untold(model *catalog.Provider, tools *tool.Registry) []UntoldTool {
	var told []provider.Tool
	names := map[string]string{}
	for _, def := range tools.Definitions() {
		wire := provider.WireName(def.Name)
		names[wire] = def.Name
		told = append(told, provider.Tool{Name: wire, Description: def.Description, Parameters: def.Parameters})
	}
	var all []UntoldTool
	for _, left := range model.LeftOut(told) {
		all = append(all, UntoldTool{names[left.Name], left.Why})
	}
	return all
}

const untoldShown = 3

// untoldNotice names the tools that a model lacks, if any.
func untoldNotice(model string, all []UntoldTool) []string {
	if len(all) == 0 {
		return nil
	}
	vendor, _, _ := models.CutModel(model)
	var named []string
	for _, t := range all[:min(len(all), untoldShown)] {
		named = append(named, fmt.Sprintf("%s (%s)", safetext.Show(t.Tool), safetext.Show(t.Why)))
	}
	if more := len(all) - untoldShown; more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return []string{fmt.Sprintf("%s would refuse these tools, so they are left out: %s. %s lists them.", safetext.Show(vendor), strings.Join(named, ", "), action.TrustShowFor(model))}
}

// UntoldHere are the tools that the configured model would refuse, as far as they are
// known without starting anything, and the name of its provider.
func UntoldHere(r *repo.Repo, e *repo.Host) (vendor string, all []UntoldTool) {
	model := r.Config.ResolveModel(r.Config.Model)
	if model == "" {
		model = models.ProvidersOf(r).KeyedModel(e)
	}
	vendor, _, named := models.CutModel(model)
	if !named || r.Wrong != nil || r.At.TopLevel == "" {
		return "", nil
	}
	v, err := r.Found(vendor)
	if err != nil {
		return "", nil // the model learns it when it asks
	}
	servers := &toolset.Servers{}
	for _, name := range slices.Sorted(maps.Keys(r.Config.MCP)) {
		servers.All = append(servers.All, toolset.NewServer(r, e, name))
	}
	registry, _, err := judgedTools(r, e, servers, nil, nil)
	if err != nil {
		return "", nil
	}
	offered, err := registry.Only(enabledTools(registry, r.Config.Tools, Request{}, false)...)
	if err != nil {
		return "", nil
	}
	return vendor, untold(v.Open("", catalog.Options{}), offered)
}

// ListUntold writes the tools that a provider does not get.
func ListUntold(w io.Writer, vendor string, all []UntoldTool) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "%s would refuse these tools, so queries leave them out:\n", safetext.Show(vendor))
	for _, t := range all {
		fmt.Fprintf(w, "  %s: %s\n", safetext.Show(t.Tool), safetext.Show(t.Why))
	}
}
