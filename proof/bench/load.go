package main

import (
	"context"
	"fmt"

	"jp/gitcmd"
	"jp/gitstore/odb"
)

// Sides of the load rows.
const (
	loadLoose     = "jp, loose"
	loadPacked    = "jp, packed"
	loadLogLoose  = "git log, loose"
	loadLogPacked = "git log, packed"
	loadLog       = "git log %B"
	loadJSONL     = "JSONL decode"
)

// loadOf measures reading a whole conversation by a fresh store.
func loadOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		h, err := b.history(ctx, n, 1)
		if err != nil {
			return nil, err
		}
		all, err := rounds(ctx, b.rng, b.slowOps, []side{
			h.loadSide(loadLoose, h.loose), h.loadSide(loadPacked, h.packed),
			h.logSide(loadLogLoose, h.loose), h.logSide(loadLogPacked, h.packed), h.decodeSide(),
		})
		if err != nil {
			return nil, err
		}
		return loadRows(n, all), nil
	}
}

func loadRows(n int, all timings) []row {
	name := func(form string) string { return fmt.Sprintf("load %s events, %s", grouped(n), form) }
	loose := all.row(name("loose"), loadLoose, loadLogLoose).grows(workLoadLoose, n)
	packed := all.row(name("packed"), loadPacked, loadLogPacked).grows(workLoadPacked, n)
	loose.RivalName, packed.RivalName = loadLog, loadLog
	if n == 10_000 {
		loose, packed = loose.within(0.6), packed.within(0.95)
	}
	return []row{loose, packed, all.row(name("loose"), loadLoose, loadJSONL), all.row(name("packed"), loadPacked, loadJSONL)}
}

func (h *history) loadSide(name string, repo gitcmd.Repository) side {
	return side{name: name, block: 1, run: func(ctx context.Context) error {
		store, err := openStore(repo, odb.Full)
		if err != nil {
			return err
		}
		defer store.Close()
		events, err := store.Load(ctx, h.head)
		if err == nil && len(events) != h.events {
			err = fmt.Errorf("%d events instead of %d", len(events), h.events)
		}
		return err
	}}
}

func (h *history) logSide(name string, repo gitcmd.Repository) side {
	return side{name: name, block: 1, run: func(ctx context.Context) error {
		return gitTo(ctx, repo.TopLevel, nil, nil, "log", "--first-parent", "--format=%B", string(h.head))
	}}
}

func (h *history) decodeSide() side {
	return side{name: loadJSONL, block: 1, run: func(context.Context) error {
		events, err := readLines(h.lines)
		if err == nil && len(events) != h.events {
			err = fmt.Errorf("%d lines instead of %d", len(events), h.events)
		}
		return err
	}}
}
