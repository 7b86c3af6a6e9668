package doctor

import (
	"context"
	"time"

	"jp/agent/repo"
	"jp/config"
	"jp/gitstore/odb"
)

// Options of a check.
type Options struct {
	Net     bool // ask providers whether they are reachable
	Fix     bool // remove leftovers
	Verbose bool // run every check to its end
	// terminal is the user's with a style, and editor their editor for a shell, and the variable that
	// names it.
	Terminal func(style config.Style) Terminal
	Editor   func() (command, from string)
	// mistakes are the settings that make turns fail, and those without effect.
	Mistakes func(*repo.Repo) (wrong, idle []*config.Error)
}

// A Report has the findings, and the removed files.
type Report struct {
	Findings []Finding
	Removed  []RemovedJSON
}

// RemovedJSON is a file that --fix removed.
type RemovedJSON struct {
	Kind string  `json:"kind"`
	Path string  `json:"path"`
	Age  float64 `json:"age_s"` // seconds
}

// A checkup is one run of all checks. Parts that cannot be opened are nil.
type checkup struct {
	Options
	env      *repo.Host
	dir      string
	repo     *repo.Repo // lacks a store outside of a repository
	db       *odb.Store
	found    Repository
	storeErr error
	pathsErr error
	removed  []RemovedJSON
	kept     map[string]error // why files stay that --fix was to remove, by their paths
}

// patience limits the time of a check without its own limit. With -v and with --fix the limit is a minute.
func (c *checkup) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.patienceFor(ctx, time.Second)
}

// patienceFor is patience for longer checks.
func (c *checkup) patienceFor(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if c.Verbose || c.Fix {
		limit = time.Minute
	}
	return context.WithTimeout(ctx, limit)
}
