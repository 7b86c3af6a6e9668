package main

import (
	"context"
	"fmt"
)

// long is the scale at which lines come to more than 2 KB.
const long = 2

// measureSize compares the room of a conversation with the same as JSONL, for
// events of the usual length and for longer ones.
func measureSize(ctx context.Context, b *bench, _ place) ([]row, error) {
	usual, err := b.history(ctx, 10_000, 1)
	if err != nil {
		return nil, err
	}
	longer, err := b.history(ctx, 3_000, long)
	if err != nil {
		return nil, err
	}
	return append(usual.sizeRows(0.7), longer.sizeRows(0.5)...), nil
}

// sizeRows are bytes per event. The packed ones are packs with their indexes,
// as git gc leaves them.
func (h *history) sizeRows(packedTarget float64) []row {
	per := func(bytes int64) float64 { return float64(bytes) / float64(h.events) }
	mean := per(h.lineBytes)
	name := func(form string) string { return fmt.Sprintf("%s size per event, lines of %.1f KB", form, mean/1000) }
	return []row{
		{Name: name("packed"), RivalName: "JSONL", Unit: octets, JP: per(h.packBytes), Rival: mean, Target: packedTarget},
		{Name: name("loose"), RivalName: "JSONL", Unit: octets, JP: per(h.looseBytes), Rival: mean},
	}
}
