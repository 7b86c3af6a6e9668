package main

import (
	"context"
	"fmt"
)

// long2KB is the scale of texts at which lines come to more than 2 KB.
const long2KB = 2

// targetEvents is how long a conversation is whose packed size has a target.
const targetEvents = 5_000

// sizesOf compares the room of a conversation of n events with the same as
// JSONL, for events of the usual length and for longer ones.
func sizesOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		usual, err := b.history(ctx, n, 1)
		if err != nil {
			return nil, err
		}
		longer, err := b.history(ctx, n/2, long2KB)
		if err != nil {
			return nil, err
		}
		return append(usual.sizeRows(0.7), longer.sizeRows(0.5)...), nil
	}
}

// sizeRows are bytes per event. The packed ones are packs with their indexes,
// as git gc leaves them. Only long conversations have a target.
func (h *history) sizeRows(packedTarget float64) []row {
	per := func(bytes int64) []float64 { return []float64{float64(bytes) / float64(h.events)} }
	lines := per(h.lineBytes)
	name := func(form string) string {
		return fmt.Sprintf("%s, %s events of %.1f KB", form, grouped(h.events), lines[0]/1000)
	}
	packed := sized(name("packed"), "JSONL", per(h.packBytes), lines)
	if h.events >= targetEvents {
		packed = packed.within(packedTarget)
	}
	return []row{packed, sized(name("loose"), "JSONL", per(h.looseBytes), lines)}
}

// sized compares medians of bytes, measured round by round.
func sized(name, rival string, jp, other []float64) row {
	return row{Name: name, RivalName: rival, Unit: octets, JP: middle(jp), Rival: middle(other), rounds: pairs{jp: jp, rival: other}}
}
