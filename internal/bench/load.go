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
	loadJSONL     = "encoding/json"
)

// loadOf measures reading a whole conversation by a store that remembers
// nothing.
func loadOf(n int) func(context.Context, *bench, place) ([]row, error) {
	return func(ctx context.Context, b *bench, _ place) ([]row, error) {
		h, err := b.history(ctx, n, 1)
		if err != nil {
			return nil, err
		}
		took, err := rounds(ctx, b.rng, b.slowOps, []side{
			h.loadSide(loadLoose, h.loose), h.loadSide(loadPacked, h.packed),
			h.logSide(loadLogLoose, h.loose), h.logSide(loadLogPacked, h.packed), h.decodeSide(),
		})
		if err != nil {
			return nil, err
		}
		return loadRows(n, took), nil
	}
}

func loadRows(n int, took map[string]samples) []row {
	targets := map[string]float64{}
	if n == 10_000 {
		targets = map[string]float64{loadLogLoose: 0.6, loadLogPacked: 0.95}
	}
	var rows []row
	for _, pair := range [][2]string{{loadLoose, loadLogLoose}, {loadPacked, loadLogPacked}, {loadLoose, loadJSONL}, {loadPacked, loadJSONL}} {
		rows = append(rows, row{
			Name: fmt.Sprintf("load %s events, %s", grouped(n), pair[0][len("jp, "):]), RivalName: pair[1], Unit: seconds,
			JP: took[pair[0]].median().Seconds(), Rival: took[pair[1]].median().Seconds(), Target: targets[pair[1]],
		})
	}
	return rows
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
