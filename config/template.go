package config

import (
	_ "embed"
	"slices"
)

//go:embed template.toml
var template []byte

// Template is a workspace file to start from: every setting, commented out,
// with a line of explanation. Unchanged, it has no effect.
func Template() []byte { return slices.Clone(template) }
