package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
)

// A machine describes all that ratios depend on besides the file system.
type machine struct {
	Git   string `json:"git"`
	Go    string `json:"go"`
	Cores int    `json:"cores"`
	Load  string `json:"load,omitempty"` // of the last minute, before measuring
	Quick bool   `json:"quick"`
}

func thisMachine(ctx context.Context, quick bool) (machine, error) {
	out, err := git(ctx, ".", "version")
	if err != nil {
		return machine{}, err
	}
	return machine{
		Git: strings.TrimPrefix(out, "git version "), Go: runtime.Version(), Cores: runtime.NumCPU(),
		Load: loadAverage(system), Quick: quick,
	}, nil
}

// String is one line.
func (m machine) String() string {
	line := fmt.Sprintf("git %s, %s, %d cores", m.Git, m.Go, m.Cores)
	if m.Load != "" {
		line += ", load " + m.Load
	}
	if m.Quick {
		line += "; a quick run: few samples"
	}
	return line
}
