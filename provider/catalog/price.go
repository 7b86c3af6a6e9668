package catalog

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strings"

	"jp/conversation"
	"jp/provider"
)

// A Price is the price of a million tokens, in US dollars. The zero value is unknown.
type Price struct {
	known                                bool
	input, output, cacheRead, cacheWrite big.Rat
	tiers                                []longer // from the shortest
}

// longer is the price of requests with more tokens of input.
type longer struct {
	above int
	price Price
}

// ParsePrice reads a price from decimal numbers: input, output, cache read and cache write. The last two
// default to the input.
func ParsePrice(amounts []string) (Price, error) {
	if len(amounts) < 2 || len(amounts) > 4 {
		return Price{}, fmt.Errorf("%w: it has %s, not two to four", ErrPrice, numbers(len(amounts)))
	}
	p := Price{known: true}
	into := []*big.Rat{&p.input, &p.output, &p.cacheRead, &p.cacheWrite}
	for i, amount := range amounts {
		if !isDecimal(amount) {
			return Price{}, fmt.Errorf("%w: %q", ErrPrice, amount)
		}
		into[i].SetString(amount)
	}
	for i := len(amounts); i < len(into); i++ {
		into[i].Set(&p.input)
	}
	return p, nil
}

func numbers(n int) string {
	if n == 1 {
		return "1 number"
	}
	return fmt.Sprintf("%d numbers", n)
}

// isDecimal reports whether a text is a plain decimal number of bearable length.
func isDecimal(s string) bool {
	whole, fraction, point := strings.Cut(s, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return len(s) <= 20 && digits(whole) && (!point || digits(fraction))
}

// hourFactor is the extra cost of writing to a cache for an hour: 2 instead of 1.25 of the input's price.
var hourFactor = big.NewRat(8, 5)

// Of is the cost of a use, in US dollars as a decimal number, "" if the price is unknown.
func (p Price) Of(u conversation.Usage) string {
	if !p.known {
		return ""
	}
	for _, t := range slices.Backward(p.tiers) {
		if u.Input > t.above {
			return t.price.Of(u)
		}
	}
	sum := new(big.Rat)
	add := func(tokens int, price *big.Rat) {
		sum.Add(sum, new(big.Rat).Mul(big.NewRat(int64(max(0, tokens)), 1_000_000), price))
	}
	add(u.Input-u.CacheRead-u.CacheWrite, &p.input)
	add(u.CacheRead, &p.cacheRead)
	hour := min(u.CacheWriteHour, u.CacheWrite)
	add(u.CacheWrite-hour, &p.cacheWrite)
	add(hour, new(big.Rat).Mul(&p.cacheWrite, hourFactor))
	add(u.Output, &p.output)
	return trimmed(sum.FloatString(8))
}

// trimmed is a decimal number without zeros at its end.
func trimmed(decimal string) string {
	return strings.TrimSuffix(strings.TrimRight(decimal, "0"), ".")
}

// Known reports whether there is a price. It may be 0.
func (p Price) Known() bool { return p.known }

// WithPrice is a model that adds the cost to the end of each answer, unless the provider states it.
func WithPrice(p provider.Provider, price Price) provider.Provider { return priced{p, price} }

type priced struct {
	provider.Provider
	price Price
}

// Stream implements [provider.Provider].
func (p priced) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for chunk, err := range p.Provider.Stream(ctx, request) {
			if chunk.Usage != nil {
				usage, told := plausible(*chunk.Usage)
				if usage.CostUSD == "" && told {
					usage.CostUSD = p.price.Of(usage)
				}
				usage.CacheWriteHour = 0
				chunk.Usage = &usage
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// Bounds of the figures of one answer. A figure outside is an error of the server.
const (
	mostTokens = 1 << 27
	mostUSD    = 100_000
)

// plausible is a usage without impossible figures, as if the server had not reported them. told is false if
// it reported neither input nor output.
func plausible(u conversation.Usage) (_ conversation.Usage, told bool) {
	wrong := func(tokens int) bool { return tokens < 0 || tokens > mostTokens }
	told = !wrong(u.Input) && !wrong(u.Output) && (u.Input > 0 || u.Output > 0)
	for _, figure := range []*int{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.CacheWriteHour} {
		if wrong(*figure) {
			*figure = 0
		}
	}
	if cost, ok := new(big.Rat).SetString(u.CostUSD); !ok || cost.Sign() < 0 || cost.Cmp(big.NewRat(mostUSD, 1)) > 0 {
		u.CostUSD = ""
	}
	return u, told
}
