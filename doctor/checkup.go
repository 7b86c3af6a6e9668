package doctor

import (
	"context"
	"time"

	"jp/agent/repo"
	"jp/config"
	"jp/gitstore/odb"
)

// Options say what is looked at, and with what.
type Options struct {
	Net     bool // providers are asked whether they can be reached
	Fix     bool // what a kill left behind is removed
	Verbose bool // everything is looked at to its end
	// terminal is the user's with a style, and editor their editor for a shell, and the variable that
	// names it.
	Terminal func(style config.Style) Terminal
	Editor   func() (command, from string)
	// mistakes are the settings that turns cannot work with, and those without effect.
	Mistakes func(*repo.Repo) (wrong, idle []*config.Error)
}

// A Report is what was found, and what was removed.
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

// A checkup is one look at everything. What could not be opened is nil.
type checkup struct {
	Options
	env      *repo.Host
	dir      string
	repo     *repo.Repo // without a store where there is no repository
	db       *odb.Store
	found    Repository
	storeErr error
	pathsErr error
	removed  []RemovedJSON
	kept     map[string]error // why files stay that --fix was to remove, by their paths
}

// patience limits a check that has no limit of its own. With -v and with --fix there is
// no limit.
func (c *checkup) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.patienceFor(ctx, time.Second)
}

// patienceFor is patience for what takes longer.
func (c *checkup) patienceFor(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if c.Verbose || c.Fix {
		limit = time.Minute
	}
	return context.WithTimeout(ctx, limit)
}
